"""`mnemon token`: access tokens for agents and scripts."""

from functools import partial
from typing import Any

import typer

from mnemon.cli.binding.bind import Values, call, command
from mnemon.cli.context import run_async, server_calls
from mnemon.cli.output import say, show, table
from mnemon.identity.bootstrap import FIRST_ADMIN
from mnemon.identity.operations import tokens
from mnemon.identity.tokens import NewAccessToken
from mnemon.operations import Differs

app = typer.Typer(help="Access tokens for agents and scripts.", no_args_is_help=True)
EVERYONES = {"everyone": Differs("Whoever runs the command owns the machine and sees them all.")}


def print_tokens(found: tokens.TokenList) -> None:
    rows = [
        (one.token_id, one.name, one.scope, one.last_used_at, one.expires_at, one.revoked_at) for one in found.tokens
    ]
    headings = ["Id", "Name", "Scope", "Last used", "Expires", "Revoked"]
    table(headings, rows, "No tokens. Make one with: mnemon token add NAME")


def print_made(made: NewAccessToken) -> None:
    say(made.secret)
    say("Keep it now: it is not shown again.", "dim")


def make_token(tenant: str, asked: tokens.NewToken, wants_json: bool, left: Values) -> None:
    made = run_async(_made(tenant, asked))
    show(_apart(made.model_dump(mode="json")), wants_json, partial(print_made, made))


async def _made(tenant: str, asked: tokens.NewToken) -> NewAccessToken:
    """A server knows who asks and makes a token for them alone; at home there is no account of one's own."""
    async with server_calls(tenant) as server:
        if server is not None:
            made: NewAccessToken = await server.call(tokens.add_token, asked)
            return made
    own = asked if asked.user else asked.model_copy(update={"user": FIRST_ADMIN})
    there: NewAccessToken = await call(tokens.add_token, tenant, own)
    return there


def _apart(made: dict[str, Any]) -> dict[str, Any]:
    secret = made.pop("secret")
    return {"token": made, "secret": secret}


command(
    app, "list", tokens.list_tokens, print_tokens, differences=EVERYONES, written=lambda found: found["tokens"],
    example="mnemon token list",
)  # fmt: skip
command(
    app, "add", tokens.add_token, print_made, arguments=["name"], perform=make_token,
    in_pieces=False, example='mnemon token add "notes agent" --scope write --days 90',
)  # fmt: skip
command(
    app, "revoke", tokens.revoke_token, lambda token: say(f"Revoked {token.name}."), arguments=["token_id"],
    example="mnemon token revoke 018f4d1e-0000-7000-8000-000000000001",
)  # fmt: skip
