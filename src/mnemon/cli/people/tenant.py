"""`mnemon tenant`: add and list tenants."""

from typing import Annotated

import typer

from mnemon.cli.context import OPERATOR, on_its_own, opened, run_async
from mnemon.cli.output import Json, say, show, table
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
