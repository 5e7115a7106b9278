"""`mnemon log checkpoint|rotate-key|receipt|export`: what proves the log to others."""

import sys
from pathlib import Path
from typing import IO, Annotated

import orjson
import typer

from mnemon.cli.bind import binds
from mnemon.cli.context import OPERATOR, opened, run_async, tenant_of
from mnemon.cli.log.verify import OnePartition, partitions_of
from mnemon.cli.output import Json, TenantOption, say, show, table
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.events import MAIN
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.receipt import Receipt
from mnemon.log_operations import integrity as operations
from mnemon.operations import Caller


@binds(operations.checkpoint, operations.checkpoints)
def checkpoint(
    legal_entity: OnePartition = None,
    listed: Annotated[bool, typer.Option("--list", help="Show those that were signed; sign none.")] = False,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Sign how far the log has come, in a file outside the database.

    Example: mnemon log checkpoint
    """

    async def work() -> list[Checkpoint]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            names = await partitions_of(mnemon, tenant_id, legal_entity)
            if listed:
                kept = mnemon.integrity.checkpoints
                return [one for name in names for one in kept.list(tenant_id, name)]
            return [await mnemon.integrity.checkpoint(tenant_id, name) for name in names]

    found = run_async(work())
    rows = [
        (one.says["legal_entity"], one.sequence, one.says["signed_at"], one.says["root"][:16], one.public_key[:16])
        for one in found
    ]
    headings = ["Legal entity", "Sequence", "Signed", "Root", "Key"]
    show(
        [one.as_json() for one in found],
        as_json,
        lambda: table(headings, rows, "No checkpoints. Sign one with: mnemon log checkpoint"),
    )


def rotate_key(as_json: Json = False) -> None:
    """Change the key that signs checkpoints. The old one announces the new one, signs no more, and is deleted.

    What it signed goes on to hold. Tell the new key to those who check your log.

    Example: mnemon log rotate-key
    """

    async def work() -> str:
        async with opened() as mnemon:
            return await mnemon.integrity.rotate_key()

    key = run_async(work())
    show({"public_key": key}, as_json, lambda: say(f"Checkpoints are now signed with {key}"))


@binds(operations.receipt)
def receipt(
    event_id: Annotated[str, typer.Argument(help="The event's id.", metavar="ID")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="New file; else the standard output.")] = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Write the proof that one event is in the log, for `verify/mnemon_verify.py` or anyone's own check.

    Example: mnemon log receipt 01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B --output D-17.receipt.json
    """

    async def work() -> Receipt:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.integrity.receipt(tenant_id, event_id)

    made = run_async(work())
    if output is None:
        show(made.as_json(), True, lambda: None)
        return
    with _new_file(output) as stream:
        stream.write(orjson.dumps(made.as_json(), option=orjson.OPT_INDENT_2) + b"\n")
    covered = made.checkpoint.sequence
    show(
        {"file": str(output), "checkpoint": str(covered)},
        as_json,
        lambda: say(f"Wrote {output}; the checkpoint at {covered} covers it."),
    )


@binds(operations.export)
def export(
    file: Annotated[Path | None, typer.Argument(help="New file; else the standard output.")] = None,
    legal_entity: Annotated[str, typer.Option("--legal-entity", help="The partition.", metavar="NAME")] = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
) -> None:
    """Write a partition as lines of JSON that can be checked without Mnemon; personal fields stay encrypted.

    Example: mnemon log export main.jsonl
    """

    async def work(stream: IO[bytes]) -> None:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            asked = operations.PartitionAsked(legal_entity=legal_entity)
            async for line in (await operations.export(mnemon, Caller(tenant_id, OPERATOR), asked)).lines:
                stream.write(line)

    if file is None:
        run_async(work(sys.stdout.buffer))
        sys.stdout.buffer.flush()
        return
    with _new_file(file) as stream:
        run_async(work(stream))
    say(f"Wrote {file}.")


def _new_file(file: Path) -> IO[bytes]:
    """What is there already is never written over: it may be the older proof."""
    try:
        return file.open("xb")
    except FileExistsError:
        raise InvalidRequest(f"{file} exists already: choose another name.", file=str(file)) from None
    except OSError as failure:
        raise InvalidRequest(f"{file} cannot be written: {failure.strerror}.", file=str(file)) from None


def bind(app: typer.Typer) -> None:
    app.command("checkpoint")(checkpoint)
    app.command("rotate-key")(rotate_key)
    app.command("receipt")(receipt)
    app.command("export")(export)
