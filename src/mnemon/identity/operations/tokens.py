"""What people may do with access tokens: see, make, revoke."""

from datetime import timedelta
from uuid import UUID

from pydantic import Field

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity import tokens
from mnemon.identity.operations.users import NOT_BY_AGENTS, Parts, Someone, user_named
from mnemon.identity.roles import Action, CredentialScope, may
from mnemon.identity.tokens import AccessToken, NewAccessToken
from mnemon.operations import Caller, Input, Output, operation


class TokensAsked(Input):
    """Whose tokens."""

    everyone: bool = Field(False, description="Those of all users, for administrators.")


class NewToken(Input):
    """A token to make."""

    name: str = Field(min_length=1, max_length=100, description="What the token is for.")
    scope: CredentialScope = Field(CredentialScope.READ, description="How far it reaches.")
    days: int | None = Field(None, ge=1, le=3650, description="How long it lasts; without this, until revoked.")
    user: Someone | None = Field(None, description="Whose token it is, by e-mail address; unset: one's own.")


class TokenAsked(Input):
    """One token."""

    token_id: UUID = Field(description="`token_id` of a token on the list.")


class TokenList(Output):
    """Tokens in the order in which they were made."""

    tokens: list[AccessToken]


@operation("tokens.list", Action.VIEW_OWN_ACCOUNT, read_only=True, example={"everyone": True}, absent=NOT_BY_AGENTS)
async def list_tokens(mnemon: Parts, caller: Caller, asked: TokensAsked) -> TokenList:
    """List one's own tokens, or as an administrator everyone's."""
    if asked.everyone:
        caller.authorise(Action.MANAGE_USERS)
    of_user = None if asked.everyone or caller.principal is None else caller.principal.user_id
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        found = await tokens.list_tokens(tx, of_user)
    return TokenList(tokens=found)


@operation(
    "tokens.add", Action.MANAGE_OWN_ACCOUNT, errors=(NotFound,), absent=NOT_BY_AGENTS,
    example={"name": "notes agent", "scope": "read", "days": 90},
)  # fmt: skip
async def add_token(mnemon: Parts, caller: Caller, asked: NewToken) -> NewAccessToken:
    """Make a token; its secret is in this answer and nowhere else."""
    lasts = timedelta(days=asked.days) if asked.days else None
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        owner = await _owner(transaction.connection, caller, asked.user)
        return await tokens.add_token(transaction, caller.actor, owner, asked.name, asked.scope, lasts)


@operation(
    "tokens.revoke", Action.MANAGE_OWN_ACCOUNT, errors=(NotFound,), destructive=True, idempotent=True,
    absent=NOT_BY_AGENTS, example={"token_id": "018f4d1e-0000-7000-8000-000000000001"},
)  # fmt: skip
async def revoke_token(mnemon: Parts, caller: Caller, asked: TokenAsked) -> AccessToken:
    """Make a token worthless, at once."""
    who = caller.principal
    all_of_them = who is None or may(who.role, who.scope, Action.MANAGE_USERS)
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        return await tokens.revoke_token(
            transaction, caller.actor, asked.token_id, None if all_of_them or who is None else who.user_id
        )


async def _owner(tx: Connection, caller: Caller, named: str | None) -> UUID:
    if named is None and caller.principal is not None:
        return caller.principal.user_id
    if named is None:
        raise InvalidRequest("Say whose token it is.")
    caller.authorise(Action.MANAGE_USERS)
    return (await user_named(tx, named)).user_id
