"""`mnemon log archive|restore|archives`: old payloads move to the archive store and back."""

from datetime import UTC, date, datetime, time
from typing import Annotated

import typer

from mnemon.cli.bind import command
from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.events import MAIN
from mnemon.log.privacy.archive import Archived
from mnemon.log_operations import archives
from mnemon.operations import as_json as written

LegalEntity = Annotated[str, typer.Option("--legal-entity", help="The partition.", metavar="NAME")]


def archive(
    before: Annotated[str, typer.Option(help="Payloads recorded before this day (UTC) move.", metavar="YYYY-MM-DD")],
    legal_entity: LegalEntity = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Move old payloads, compressed, out of the database; envelopes stay, and reading goes on as before.

    Example: mnemon log archive --before 2025-01-01
    """
    moment = _start_of(before)

    async def work() -> list[Archived]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.privacy.archive.archive(tenant_id, moment, actor=OPERATOR, legal_entity=legal_entity)

    _tell(run_async(work()), as_json, "moved to the archive", "Nothing to archive.")


def restore(
    first: Annotated[int, typer.Option("--first-sequence", "--from", help="First sequence that is wanted.", min=1)] = 1,
    last: Annotated[
        int | None, typer.Option("--last-sequence", "--to", help="Last sequence that is wanted.", min=1)
    ] = None,
    legal_entity: LegalEntity = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Move archived payloads back into the database; whole objects, and they leave the archive.

    Example: mnemon log restore --from 1 --to 5000
    """

    async def work() -> list[Archived]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.privacy.archive.restore(
                tenant_id, actor=OPERATOR, legal_entity=legal_entity, first=first, last=last
            )

    _tell(run_async(work()), as_json, "moved back", "Nothing of that is in the archive.")


def _print_archives(found: archives.ArchiveList) -> None:
    rows = [
        (one.first_sequence, one.last_sequence, one.object_bytes, one.payload_bytes, one.object_key)
        for one in found.root
    ]
    table(["From", "To", "Bytes", "Unpacked", "Object"], rows, "The archive is empty.")


def _tell(moved: list[Archived], as_json: bool, done: str, nothing: str) -> None:
    payloads = sum(one.last_sequence - one.first_sequence + 1 for one in moved)
    said = f"{counted(payloads, 'payload')} {done}, in {counted(len(moved), 'object')}." if moved else nothing
    show([written(archives.archived(one)) for one in moved], as_json, lambda: say(said))


def _start_of(day: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(day), time(), UTC)
    except ValueError:
        raise InvalidRequest(f"{day!r} is not a day: write it like 2025-01-31.", before=day) from None


def bind(app: typer.Typer) -> None:
    app.command("archive")(archive)
    app.command("restore")(restore)
    command(app, "archives", archives.listed, _print_archives, example="mnemon log archives --legal-entity main")
