"""`mnemon tenant`: add and list tenants, move one to another database."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from mnemon.app import Mnemon
from mnemon.cli.context import on_its_own, opened, run_async
from mnemon.cli.output import Json, say, show, table
from mnemon.db.external import external_server
from mnemon.db.tenant_copy import MoveRefused
from mnemon.documents.intake.sweep import share_files
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.given_up_moves import CopyDiscarded, discard_copy
from mnemon.identity.tenant_moves import TenantMove, move_tenant, moves
from mnemon.identity.tenants import Tenant, add_tenant, all_tenants, tenant_by_slug
from mnemon.log.events import OPERATOR
from mnemon.log.privacy.archive_store import archive_folder

app = typer.Typer(help="Tenants: separate worlds in one database.", no_args_is_help=True)


@app.command("list")
@on_its_own("No credential reaches across tenants.")
def list_(as_json: Json = False) -> None:
    """List all tenants."""

    async def work() -> list[Tenant]:
        async with opened() as mnemon:
            return await all_tenants(mnemon.database)

    tenants = run_async(work())
    rows = [(one.slug, one.name, one.tenant_id, one.created_at) for one in tenants]
    show(tenants, as_json, lambda: table(["Short name", "Name", "Id", "Since"], rows, "No tenants."))


@app.command()
@on_its_own("No credential reaches across tenants.")
def add(
    slug: Annotated[str, typer.Argument(help="Short name: a-z, 0-9 and -.")],
    name: Annotated[str | None, typer.Option(help="Name that people see.")] = None,
    as_json: Json = False,
) -> None:
    """Add a tenant.

    Example: mnemon tenant add acme --name "Acme Ltd"
    """

    async def work() -> Tenant:
        async with opened() as mnemon, mnemon.database.owner() as owner, owner.transaction():
            tenant, _ = await add_tenant(mnemon.log, owner, OPERATOR, slug, name or slug)
            return tenant

    tenant = run_async(work())
    show(
        tenant,
        as_json,
        lambda: say(f"Added the tenant {tenant.slug}. Next: mnemon user add EMAIL --tenant {tenant.slug}"),
    )


@app.command()
@on_its_own("It reaches into two databases as their owner.")
def move(
    slug: Annotated[str, typer.Argument(help="The tenant, by its short name.")],
    url: Annotated[str, typer.Option(help="Where requests of the tenant are answered from then on.", metavar="URL")],
    to: Annotated[
        str | None,
        typer.Option(
            help="The other database, as its owner: postgresql://…, without a password. Left out, it is the value of "
            "MNEMON_MOVE_TO, else asked for on a terminal, else the first line of the input.",
            metavar="URL",
        ),
    ] = None,
    same_files: Annotated[
        bool, typer.Option("--same-files", help="Both have files and archived events on one disk, without a bucket.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Move a tenant to the database of another installation while it is used.

    Its rows are copied, what changes meanwhile is caught up, the tenant is closed for the last part (requests are told
    to try again), every table is compared by its hashes, and the tenant is open there. Here, whoever comes is told the
    new address, and nothing of it is kept. Both installations share wrapping keys, the signing key, JWT secret and
    the bucket of files. If it breaks off, run it again.

    Example: mnemon tenant move acme --to postgresql://mnemon@db-2/mnemon --url https://two.example.org
    """
    other = external_server(_database_named(to), None)

    async def work() -> TenantMove:
        async with opened() as mnemon:
            tell = (lambda words: None) if as_json else say
            if not same_files:
                await _check_files(mnemon, slug)

            async def share(tenant: Tenant) -> None:
                if not same_files:
                    await share_files(mnemon.database, mnemon.files, tenant.tenant_id)

            return await move_tenant(mnemon.database, slug, other, url.rstrip("/"), tell, share)

    moved = run_async(work())
    told = f"Moved {slug}: {moved.rows:,} rows of {moved.tables} tables. Its requests are answered at {moved.url}."
    show(moved, as_json, lambda: say(told))


async def _check_files(mnemon: Mnemon, slug: str) -> None:
    """Rows alone go to the other database: the files must be where both find them."""
    with suppress(NotFound):
        tenant = str((await tenant_by_slug(mnemon.database, slug)).tenant_id)
        for setting, folder in _folders_of_this_machine(mnemon):
            if any((folder / tenant).glob("*/*")):
                raise MoveRefused(
                    f"Files of {slug} are in {folder}, where the other installation does not find them: give both the "
                    f"same {setting}, or say --same-files if that folder is on a disk of both.",
                    slug=slug,
                )


def _folders_of_this_machine(mnemon: Mnemon) -> Iterator[tuple[str, Path]]:
    """Where files lie that no bucket has, and the setting that brings them to one."""
    if mnemon.settings.blob_store is None:
        yield from (("MNEMON_BLOB_STORE", folder) for folder in (mnemon.files.blobs, mnemon.files.uploads))
    if mnemon.settings.archive_store is None:
        yield "MNEMON_ARCHIVE_STORE", archive_folder(mnemon.settings)


def _database_named(to: str | None) -> str:
    """Never with a password from an argument: it would stand in the shell's history and in the process list."""
    if to is not None:
        if _has_password(to):
            raise InvalidRequest(
                "Everybody on this machine can read a password in an argument: leave --to out, and give the address "
                "when it is asked for, as the first line of the input, or in MNEMON_MOVE_TO."
            )
        return to
    if told := os.environ.get("MNEMON_MOVE_TO"):
        return told
    if sys.stdin.isatty():
        return str(typer.prompt("The other database, as its owner", hide_input=True, err=True))
    if line := sys.stdin.readline().strip():
        return line
    raise InvalidRequest("No address of the other database came: give --to, MNEMON_MOVE_TO or a first line of input.")


def _has_password(address: str) -> bool:
    try:
        return "password" in conninfo_to_dict(address)
    except ProgrammingError:
        return False


@app.command()
@on_its_own("No credential reaches across tenants.")
def discard(
    slug: Annotated[str, typer.Argument(help="The tenant, by its short name.")],
    as_json: Json = False,
) -> None:
    """Remove from this database what was copied of a tenant that never came: its move was given up.

    Example: mnemon tenant discard acme
    """

    async def work() -> CopyDiscarded:
        async with opened() as mnemon:
            return await discard_copy(mnemon.database, slug)

    discarded = run_async(work())
    show(discarded, as_json, lambda: say(f"Nothing of {slug} is left in this database."))


@app.command()
@on_its_own("No credential reaches across tenants.")
def directory(as_json: Json = False) -> None:
    """List tenants that have left this database, or are on their way.

    Example: mnemon tenant directory
    """

    async def work() -> list[dict[str, Any]]:
        async with opened() as mnemon:
            return await moves(mnemon.database)

    found = run_async(work())
    rows = [(one["slug"], one["state"], one["url"], one["changed_at"]) for one in found]
    show(found, as_json, lambda: table(["Short name", "State", "Address", "Since"], rows, "No tenant has moved."))
