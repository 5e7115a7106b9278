"""`mnemon token`: access tokens for agents and scripts."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic import Field

from mnemon.cli.binding.bind import Values, call, command
from mnemon.cli.context import run_async, server_calls
from mnemon.cli.output import say, show, table
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.bootstrap import FIRST_ADMIN
from mnemon.identity.operations import tokens
from mnemon.identity.tokens import AccessToken, NewAccessToken
from mnemon.operations import Differs
from mnemon.settings import load_settings

app = typer.Typer(help="Access tokens for agents and scripts.", no_args_is_help=True)
SHORTEST = 4
BY_ITS_NAME = {
    "token_id": Differs(
        "A person knows the name.", takes=Annotated[str, Field(description="Its name, or the beginning of its id.")]
    )
}
EVERYONES = {"everyone": Differs("Whoever runs the command owns the machine and sees them all.")}


def print_tokens(found: tokens.TokenList) -> None:
    rows = [
        (one.token_id, one.name, one.scope, one.last_used_at, one.expires_at, one.revoked_at) for one in found.tokens
    ]
    headings = ["Id", "Name", "Scope", "Last used", "Expires", "Revoked"]
    table(headings, rows, "No tokens. Make one with: mnemon token add NAME")


def token_meant(values: Values, tenant: str) -> Values:
    """By its name too, or by the beginning of its id, where one token alone that still opens something has it."""
    named = str(values["token_id"])
    try:
        UUID(named)
    except ValueError:
        pass
    else:
        return values
    known: tokens.TokenList = run_async(call(tokens.list_tokens, tenant, _all_that_are_seen(tenant)))
    having = [one for one in known.tokens if one.revoked_at is None and _is_called(one, named.casefold())]
    if not having:
        raise NotFound(f"No token is called {named!r}: `mnemon token list` shows them.", name=named)
    if len(having) > 1:
        told = ", ".join(f"{one.name} ({one.token_id})" for one in having)
        raise InvalidRequest(f"{named!r} may mean {len(having)} tokens: {told}. Give the id of one.", name=named)
    return values | {"token_id": str(having[0].token_id)}


def _is_called(one: AccessToken, name: str) -> bool:
    return one.name.casefold() == name or (len(name) >= SHORTEST and str(one.token_id).startswith(name))


def _all_that_are_seen(tenant: str) -> tokens.TokensAsked:
    return tokens.TokensAsked(everyone=load_settings().server is None)


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
    prepare=token_meant, differences=BY_ITS_NAME,
    example="mnemon token revoke 018f4d1e-0000-7000-8000-000000000001",
)  # fmt: skip
