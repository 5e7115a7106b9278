"""`mnemon token`: access tokens for agents and scripts."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

import typer

from mnemon.cli.context import OPERATOR, in_tenant, run_async
from mnemon.cli.output import Json, TenantOption, console, show, table
from mnemon.identity.bootstrap import FIRST_ADMIN
from mnemon.identity.roles import Scope
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.identity.tokens import AccessToken, NewAccessToken, add_token, list_tokens, revoke_token
from mnemon.identity.users import user_by_email

app = typer.Typer(help="Access tokens for agents and scripts.", no_args_is_help=True)

Owner = Annotated[str, typer.Option("--user", help="Whose token it is.", metavar="EMAIL")]


@app.command("list")
def list_(tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """List the tenant's tokens; their secrets are nowhere kept."""

    async def work() -> list[AccessToken]:
        async with in_tenant(tenant) as (_, transaction):
            return await list_tokens(transaction.connection)

    tokens = run_async(work())
    rows = [(one.token_id, one.name, one.scope, one.last_used_at, one.expires_at, one.revoked_at) for one in tokens]
    headings = ["Id", "Name", "Scope", "Last used", "Expires", "Revoked"]
    show(tokens, as_json, lambda: table(headings, rows, "No tokens. Make one with: mnemon token add NAME"))


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    scope: Annotated[Scope, typer.Option(help="How far it reaches.")] = Scope.READ,
    days: Annotated[int | None, typer.Option(help="How long it lasts; without this, until revoked.", min=1)] = None,
    user: Owner = FIRST_ADMIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Make a token and print its secret, once.

    Example: mnemon token add "notes agent" --scope write --days 90
    """

    async def work() -> NewAccessToken:
        async with in_tenant(tenant) as (_, transaction):
            owner = await user_by_email(transaction.connection, user)
            return await add_token(
                transaction, OPERATOR, owner.user_id, name, scope, timedelta(days=days) if days else None
            )

    made = run_async(work())

    def human() -> None:
        console.print(made.secret, markup=False)
        console.print("Keep it now: it is not shown again.", style="dim")

    show(made, as_json, human)


@app.command()
def revoke(
    token_id: Annotated[UUID, typer.Argument(help="From `mnemon token list`.")],
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Make a token worthless, at once."""

    async def work() -> AccessToken:
        async with in_tenant(tenant) as (_, transaction):
            return await revoke_token(transaction, OPERATOR, token_id)

    token = run_async(work())
    show(token, as_json, lambda: console.print(f"Revoked {token.name}.", markup=False))
