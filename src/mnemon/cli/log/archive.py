"""`mnemon log archive|restore|archives`: old payloads move to the archive store and back."""

from typing import Any

import typer

from mnemon.cli.binding.bind import acting, command
from mnemon.cli.context import run_async
from mnemon.cli.output import counted, say, show, table
from mnemon.log.privacy.archive import Archived
from mnemon.log_operations import archives
from mnemon.operations import as_json as written

SHORT = {"first_sequence": "--from", "last_sequence": "--to"}


def _archive(tenant: str, asked: archives.ArchivingWanted, wants_json: bool, left: dict[str, Any]) -> None:
    async def work() -> list[Archived]:
        async with acting(tenant) as (mnemon, caller):
            return await mnemon.privacy.archive.archive(
                caller.tenant_id, asked.moment, actor=caller.actor, legal_entity=asked.legal_entity
            )

    _tell(run_async(work()), asked.legal_entity, wants_json, "moved to the archive", "Nothing to archive.")


def _restore(tenant: str, asked: archives.RestoringWanted, wants_json: bool, left: dict[str, Any]) -> None:
    async def work() -> list[Archived]:
        async with acting(tenant) as (mnemon, caller):
            return await mnemon.privacy.archive.restore(
                caller.tenant_id, actor=caller.actor, legal_entity=asked.legal_entity, first=asked.first,
                last=asked.last,
            )  # fmt: skip

    _tell(run_async(work()), asked.legal_entity, wants_json, "moved back", "Nothing of that is in the archive.")


def _print_archives(found: archives.ArchiveList) -> None:
    rows = [
        (one.legal_entity, one.first_sequence, one.last_sequence, one.object_bytes, one.payload_bytes, one.object_key)
        for one in found.root
    ]
    table(["Legal entity", "From", "To", "Bytes", "Unpacked", "Object"], rows, "The archive is empty.")


def _tell(moved: list[Archived], legal_entity: str, as_json: bool, done: str, nothing: str) -> None:
    payloads = sum(one.last_sequence - one.first_sequence + 1 for one in moved)
    said = f"{counted(payloads, 'payload')} {done}, in {counted(len(moved), 'object')}." if moved else nothing
    show([written(archives.archived(one, legal_entity)) for one in moved], as_json, lambda: say(said))


def bind(app: typer.Typer) -> None:
    command(
        app, "archive", archives.archive, lambda moved: None, perform=_archive, in_pieces=False,
        says="Move old payloads, compressed, out of the database; envelopes stay, and reading goes on as before.",
        example="mnemon log archive --before 2025-01-01",
    )  # fmt: skip
    command(
        app, "restore", archives.restore, lambda moved: None, perform=_restore, in_pieces=False, short=SHORT,
        says="Move archived payloads back into the database; whole objects, and they leave the archive.",
        example="mnemon log restore --from 1 --to 5000",
    )  # fmt: skip
    command(app, "archives", archives.listed, _print_archives, example="mnemon log archives")
