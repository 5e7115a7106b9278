"""`mnemon lens list|rebuild|verify`: what is derived from the log, and whether it is what the log gives."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from mnemon.cli.context import run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.project.lens_states import LensStanding
from mnemon.log.project.rebuild import LensVerified

app = typer.Typer(
    help="Lenses: tables derived from the log, made anew from it, compared with it.", no_args_is_help=True
)

LensName = Annotated[str, typer.Argument(help="The lens; see `mnemon lens list`.", metavar="NAME")]


@app.command("list")
def list_lenses(tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Show the lenses, and how each stands.

    Example: mnemon lens list
    """

    async def work() -> Sequence[LensStanding]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.projector.list(tenant_id)

    found = [one.as_json() for one in run_async(work())]
    rows = [
        (one["name"], one["lifecycle"], one["status"], one["version"], one["behind"], one["rebuilt_at"])
        for one in found
    ]
    headings = ["Lens", "Written", "Status", "Version", "Behind", "Rebuilt"]
    show({"lenses": found, "total": len(found)}, as_json, lambda: table(headings, rows, "No lenses."))


@app.command()
def rebuild(
    name: LensName,
    from_snapshot: Annotated[bool, typer.Option(help="Start from its last snapshot, if it keeps any.")] = True,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Make a lens's rows anew from the log, while the old ones serve.

    Example: mnemon lens rebuild documents
    """

    async def work() -> dict[str, Any]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return (await mnemon.projector.rebuild(tenant_id, name, from_snapshot=from_snapshot)).as_json()

    done = run_async(work())
    show(
        done,
        as_json,
        lambda: say(f"{name} was rebuilt from {counted(done['events'], 'event')} in {done['seconds']:.1f} s."),
    )


@app.command()
def verify(name: LensName, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Replay the log beside a lens's rows and compare. Nothing changes; the exit code is 1 if they differ.

    Example: mnemon lens verify documents
    """

    async def work() -> LensVerified:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.projector.verify(tenant_id, name)

    found = run_async(work())
    verdict = (
        f"{name} is what the log gives: {found.stored_hash.hex()[:16]}, {counted(found.events, 'event')} replayed."
        if found.matches
        else f"{name} is not what the log gives. Make it anew with: mnemon lens rebuild {name}"
    )
    show(found.as_json(), as_json, lambda: say(verdict, None if found.matches else "bold red"))
    if not found.matches:
        raise typer.Exit(1)
