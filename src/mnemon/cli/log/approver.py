"""The second person at a command: named by the operator, and proven by a credential of their own."""

import os
import sys
from uuid import UUID

import typer

from mnemon.app import Mnemon
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.identity.passwords import verify_password
from mnemon.identity.roles import Action, CredentialScope, Principal, may
from mnemon.identity.secrets import TOKEN_PREFIX
from mnemon.identity.tokens import principal_of_token
from mnemon.identity.users import User, user_by_email
from mnemon.operations import Caller

VARIABLE = "MNEMON_APPROVER_TOKEN"
PASSWORD_HASH = "SELECT password_hash FROM mnemon.users WHERE user_id = %s"  # noqa: S105


async def administrator(mnemon: Mnemon, tenant_id: UUID, email: str) -> Caller:
    """The person whom the operator names; the record holds their id, not their address."""
    return Caller.of(_principal(tenant_id, await _user(mnemon, tenant_id, email)))


async def proven_administrator(mnemon: Mnemon, tenant_id: UUID, email: str) -> Caller:
    """The same, with an access token or the password of theirs: naming a second person is not being one."""
    user = await _user(mnemon, tenant_id, email)
    caller = Caller.of(_principal(tenant_id, user))
    credential = read_credential(email)
    if credential.startswith(TOKEN_PREFIX):
        shown = await principal_of_token(mnemon.database, credential)
        proven = (shown.tenant_id, shown.user_id, shown.scope) == (tenant_id, user.user_id, CredentialScope.WRITE)
    else:
        async with mnemon.database.transaction(tenant_id) as tx:
            row = await (await tx.execute(PASSWORD_HASH, (user.user_id,))).fetchone()
        stored = row["password_hash"] if row else None
        proven = stored is not None and await verify_password(credential, stored)
    if not proven:
        raise NotAllowed(
            f"This is not the password of {email}, nor an access token of theirs that may write: they approve it "
            "themselves."
        )
    return caller


def read_credential(email: str) -> str:
    """From the environment, a terminal or the standard input: an argument would stand in the process list."""
    given = os.environ.get(VARIABLE, "")
    if not given and sys.stdin.isatty():
        given = str(typer.prompt(f"Password or access token of {email}", hide_input=True))
    if not given:
        given = sys.stdin.readline().rstrip("\r\n")
    if not given:
        raise InvalidRequest(
            f"{email} approves with a credential of their own: give their access token in {VARIABLE}, or it or their "
            "password as the first line of the standard input."
        )
    return given


async def _user(mnemon: Mnemon, tenant_id: UUID, email: str) -> User:
    async with mnemon.database.transaction(tenant_id) as connection:
        user = await user_by_email(connection, email)
    if user.disabled_at is not None or not may(user.role, CredentialScope.WRITE, Action.MANAGE_PRIVACY):
        raise NotAllowed(f"{email} is not an active administrator, who alone may {Action.MANAGE_PRIVACY}.")
    return user


def _principal(tenant_id: UUID, user: User) -> Principal:
    return Principal(tenant_id, user.user_id, user.role)
