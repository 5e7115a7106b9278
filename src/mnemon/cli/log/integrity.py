"""`mnemon log checkpoint|rotate-key|adopt-key|adopt-restore|receipt|export`: what proves the log to others."""

import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import IO, Annotated, Any
from uuid import UUID

import orjson
import typer

from mnemon.app import Mnemon
from mnemon.cli.binding.bind import Alternative, acting, call, command
from mnemon.cli.context import on_its_own, opened, run_async, tenant_of
from mnemon.cli.log.verify import ALL_PARTITIONS, partitions_of
from mnemon.cli.output import Json, TenantOption, new_file, say, show, table
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.log.proof.adopted_restore import SignedBeyond
from mnemon.log_operations import integrity as operations
from mnemon.operations import Differs, as_json

ALL_OF_ALL = ALL_PARTITIONS | {"limit": Differs("A terminal has `tail` for it.")}


async def _partitions(mnemon: Mnemon, tenant_id: UUID, values: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    for name in await partitions_of(mnemon, tenant_id, values["legal_entity"]):
        yield {"legal_entity": name}


def _print_checkpoints(found: Sequence[operations.CheckpointOut]) -> None:
    said = [(orjson.loads(one.statement), one.public_key) for one in found]
    rows = [(one["legal_entity"], one["sequence"], one["signed_at"], one["root"][:16], key[:16]) for one, key in said]
    headings = ["Legal entity", "Sequence", "Signed", "Root", "Key"]
    table(headings, rows, "No checkpoints. Sign one with: mnemon log checkpoint")


def _print_kept(found: Sequence[operations.CheckpointList]) -> None:
    _print_checkpoints([one for kept in found for one in kept.checkpoints])


@on_its_own("The key that signs lies in a file of this machine.")
def rotate_key(wants_json: Json = False) -> None:
    """Change the key that signs checkpoints. The old one announces the new one, signs no more, and is deleted.

    What it signed goes on to hold. Tell the new key to those who check your log.

    Example: mnemon log rotate-key
    """

    async def work() -> str:
        async with opened() as mnemon:
            return await mnemon.integrity.rotate_key()

    key = run_async(work())
    show({"public_key": key}, wants_json, lambda: say(f"Checkpoints are now signed with {key}"))


@on_its_own("The key that signs lies in a file of this machine.")
def adopt_key(tenant: TenantOption = DEFAULT_SLUG, wants_json: Json = False) -> None:
    """Let this home's key sign a tenant's checkpoints although no earlier key announced it.

    For a home whose keys were lost, or that a backup was restored into. It is recorded, and `mnemon log verify` says
    so until MNEMON_LOG_SIGNING_KEY names the new key.

    Example: mnemon log adopt-key --tenant acme
    """

    async def work() -> tuple[str, bool]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return mnemon.integrity.public_key, await mnemon.integrity.adopt_key(tenant_id)

    key, adopted = run_async(work())
    said = f"From now on {key} signs." if adopted else f"{key} signs already."
    show({"public_key": key, "adopted": adopted}, wants_json, lambda: say(said))


@on_its_own("Whether the log was brought back on purpose is known to whoever owns the machine.")
def adopt_restore(tenant: TenantOption = DEFAULT_SLUG, wants_json: Json = False) -> None:
    """Go on with a log that was brought back to an earlier moment: from a backup, or after a failover that lost some.

    Checkpoints of what is not there any more are set aside, not deleted; that is an event of the log, and what is there
    is signed. Without it `mnemon verify` says that the log was cut, and nothing is signed.

    Example: mnemon log adopt-restore --tenant acme
    """

    async def work() -> list[SignedBeyond]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.integrity.adopt_restore(tenant_id)

    found = run_async(work())
    rows = [(one.legal_entity, one.ends_at, one.furthest.sequence, len(one.lost)) for one in found]
    told = [
        {"legal_entity": one[0], "ends_at": str(one[1]), "attested": str(one[2]), "set_aside": one[3]} for one in rows
    ]
    headings = ["Legal entity", "Log ends at", "Was signed up to", "Set aside"]
    show(told, wants_json, lambda: table(headings, rows, "The log has all that was signed of it: nothing to adopt."))


def _receipt(tenant: str, asked: operations.ReceiptAsked, wants_json: bool, left: dict[str, Any]) -> None:
    made = run_async(call(operations.receipt, tenant, asked))
    output = left["output"]
    if output is None:
        show(as_json(made), True, lambda: None)
        return
    with new_file(output) as stream:
        stream.write(orjson.dumps(as_json(made), option=orjson.OPT_INDENT_2) + b"\n")
    covered = orjson.loads(made.checkpoint.statement)["sequence"]
    said = f"Wrote {output}; the checkpoint at {covered} covers it."
    show({"file": str(output), "checkpoint": str(covered)}, wants_json, lambda: say(said))


def _export(tenant: str, asked: operations.PartitionAsked, wants_json: bool, left: dict[str, Any]) -> None:
    async def work(stream: IO[bytes]) -> None:
        async with acting(tenant) as (mnemon, caller):
            async for line in (await operations.export(mnemon, caller, asked)).lines:
                stream.write(line)

    if left["file"] is None:
        run_async(work(sys.stdout.buffer))
        sys.stdout.buffer.flush()
        return
    with new_file(left["file"]) as stream:
        run_async(work(stream))
    say(f"Wrote {left['file']}.")


def bind(app: typer.Typer) -> None:
    command(
        app, "checkpoint", operations.checkpoint, _print_checkpoints, differences=ALL_PARTITIONS, each=_partitions,
        beside={"listed": Annotated[bool, typer.Option("--list", help="Show those that were signed; sign none.")]},
        alternatives=[
            Alternative(
                operation=operations.checkpoints, when=lambda given: given["listed"], differences=ALL_OF_ALL,
                each=_partitions, human=_print_kept,
                written=lambda found: [one for kept in found for one in kept["checkpoints"]],
            )
        ],
        example="mnemon log checkpoint --list",
    )  # fmt: skip
    app.command("rotate-key")(rotate_key)
    app.command("adopt-key")(adopt_key)
    app.command("adopt-restore")(adopt_restore)
    command(
        app, "receipt", operations.receipt, lambda made: None, arguments=["event_id"], perform=_receipt,
        in_pieces=False,
        beside={
            "output": Annotated[Path | None, typer.Option("--output", "-o", help="New file; else the standard output.")]
        },
        example="mnemon log receipt 01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B --output D-17.receipt.json",
    )  # fmt: skip
    command(
        app, "export", operations.export, lambda made: None, perform=_export,
        beside={"file": Annotated[Path | None, typer.Argument(help="New file; else the standard output.")]},
        example="mnemon log export main.jsonl",
    )  # fmt: skip
