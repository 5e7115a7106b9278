"""`mnemon token`: access tokens for agents and scripts."""

from typing import Any

import typer

from mnemon.cli.binding.bind import command
from mnemon.cli.output import say, table
from mnemon.identity.bootstrap import FIRST_ADMIN
from mnemon.identity.operations import tokens
from mnemon.identity.tokens import NewAccessToken
from mnemon.operations import Differs

app = typer.Typer(help="Access tokens for agents and scripts.", no_args_is_help=True)
EVERYONES = {"everyone": Differs("Whoever runs the command owns the machine and sees them all.")}
FIRST = {"user": Differs("Whoever runs the command has no account: the first administrator's.", default=FIRST_ADMIN)}


def print_tokens(found: tokens.TokenList) -> None:
    rows = [
        (one.token_id, one.name, one.scope, one.last_used_at, one.expires_at, one.revoked_at) for one in found.tokens
    ]
    headings = ["Id", "Name", "Scope", "Last used", "Expires", "Revoked"]
    table(headings, rows, "No tokens. Make one with: mnemon token add NAME")


def print_made(made: NewAccessToken) -> None:
    say(made.secret)
    say("Keep it now: it is not shown again.", "dim")


def _apart(made: dict[str, Any]) -> dict[str, Any]:
    secret = made.pop("secret")
    return {"token": made, "secret": secret}


command(
    app, "list", tokens.list_tokens, print_tokens, differences=EVERYONES, written=lambda found: found["tokens"],
    example="mnemon token list",
)  # fmt: skip
command(
    app, "add", tokens.add_token, print_made, arguments=["name"], differences=FIRST, written=_apart,
    example='mnemon token add "notes agent" --scope write --days 90',
)  # fmt: skip
command(
    app, "revoke", tokens.revoke_token, lambda token: say(f"Revoked {token.name}."), arguments=["token_id"],
    example="mnemon token revoke 018f4d1e-0000-7000-8000-000000000001",
)  # fmt: skip
