"""`mnemon tenant`: add and list tenants, move one to another database."""

from typing import Annotated, Any

import typer

from mnemon.cli.context import OPERATOR, on_its_own, opened, run_async
from mnemon.cli.output import Json, say, show, table
from mnemon.db.external import external_server
from mnemon.identity.tenant_moves import TenantMove, move_tenant, moves
from mnemon.identity.tenants import Tenant, add_tenant, all_tenants

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
    to: Annotated[
        str,
        typer.Option(
            help="The other database, as its owner: postgresql://…. It is better kept out of the command's history.",
            envvar="MNEMON_MOVE_TO",
            metavar="URL",
        ),
    ],
    url: Annotated[str, typer.Option(help="Where requests of the tenant are answered from then on.", metavar="URL")],
    as_json: Json = False,
) -> None:
    """Move a tenant to the database of another installation while it is used.

    Its rows are copied, what changes meanwhile is caught up, the tenant is closed for the last part (requests are told
    to try again), every table is compared by its hashes, and the tenant is open there. Here, whoever comes is told the
    new address, and nothing of it is kept. Both installations share wrapping keys, the signing key, JWT secret and
    the bucket of files. If it breaks off, run it again.

    Example: mnemon tenant move acme --to postgresql://mnemon@db-2/mnemon --url https://two.example.org
    """

    async def work() -> TenantMove:
        async with opened() as mnemon:
            tell = (lambda words: None) if as_json else say
            return await move_tenant(mnemon.database, slug, external_server(to, None), url.rstrip("/"), tell)

    moved = run_async(work())
    told = f"Moved {slug}: {moved.rows:,} rows of {moved.tables} tables. Its requests are answered at {moved.url}."
    show(moved, as_json, lambda: say(told))


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
