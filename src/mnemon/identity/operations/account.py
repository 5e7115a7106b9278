"""What everyone may do with their own account: log in, see who they are, set their password."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from pydantic import Field, SecretStr

from mnemon.db.database import Database
from mnemon.errors import NotAuthenticated
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.login import login_with_link, login_with_password
from mnemon.identity.operations.users import Password
from mnemon.identity.passwords import verify_password
from mnemon.identity.roles import Action, CredentialScope, Principal, Role
from mnemon.identity.sessions import Session, Sessions
from mnemon.identity.tenants import own_tenant
from mnemon.identity.throttle import Guard
from mnemon.identity.users import change_user, user_by_id
from mnemon.log.store import EventLog
from mnemon.operations import Caller, Door, Input, Output, operation
from mnemon.settings import Settings

ELSEWHERE: dict[Door, str] = {
    "mcp": "An agent has a token of its own.",
    "command": "Whoever runs the command owns the machine.",
}
STORED_HASH = "SELECT password_hash FROM mnemon.users WHERE user_id = %s"


class Parts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def log(self) -> EventLog: ...

    @property
    def sessions(self) -> Sessions: ...

    @property
    def settings(self) -> Settings: ...


class PasswordLogin(Input):
    """Who wants in, and what proves it."""

    email: str = Field(max_length=254, description="E-mail address.")
    password: SecretStr = Field(description="The password.")
    tenant: str = Field(DEFAULT_SLUG, max_length=64, description="The tenant's short name.")


class LinkLogin(Input):
    """A link that lets someone in once."""

    link: SecretStr = Field(description="The part of the login link after `#`.")


class OwnAccountAsked(Input):
    """The caller's own."""


class NewPassword(Input):
    """One's own password, old and new."""

    old_password: SecretStr | None = Field(None, description="Not needed while the account has none.")
    new_password: Password = Field(description="The password from now on.")


class LoggedIn(Output):
    """A session that has begun."""

    access_token: str
    token_type: str
    expires_at: datetime
    user_id: UUID
    tenant_id: UUID
    role: Role


class LoggedOut(Output):
    """A session that has ended."""

    user_id: UUID


class Me(Output):
    """Whom a credential stands for."""

    user_id: UUID
    email: str
    name: str
    role: Role
    scope: CredentialScope
    tenant_id: UUID
    tenant: str


class PasswordSet(Output):
    """A password that was set."""

    user_id: UUID


@operation(
    "account.login", Action.VIEW_OWN_ACCOUNT, open_to_all=True, errors=(NotAuthenticated,), absent=ELSEWHERE,
    example={"email": "ana@example.org", "password": "correct horse battery", "tenant": "main"},
)  # fmt: skip
async def log_in(mnemon: Parts, caller: Caller, asked: PasswordLogin) -> LoggedIn:
    """Begin a session with a password."""
    session = await login_with_password(
        mnemon.database, mnemon.sessions, tenant_slug=asked.tenant, email=asked.email,
        password=asked.password.get_secret_value(), address=caller.address or "unknown",
        allowed=mnemon.settings.login_failures,
    )  # fmt: skip
    return _begun(session)


@operation(
    "account.link", Action.VIEW_OWN_ACCOUNT, open_to_all=True, errors=(NotAuthenticated,),
    example={"link": "3q2-7w"}, absent=ELSEWHERE,
)  # fmt: skip
async def log_in_by_link(mnemon: Parts, caller: Caller, asked: LinkLogin) -> LoggedIn:
    """Begin a session with a one-time link."""
    return _begun(await login_with_link(mnemon.database, mnemon.sessions, secret=asked.link.get_secret_value()))


@operation(
    "account.logout", Action.MANAGE_OWN_ACCOUNT, idempotent=True, example={}, absent=ELSEWHERE,
)  # fmt: skip
async def log_out(mnemon: Parts, caller: Caller, asked: OwnAccountAsked) -> LoggedOut:
    """End this session; an access token is revoked instead.

    Its token is worthless from then on, whoever has a copy.
    """
    principal = _known(caller)
    await mnemon.sessions.end(principal, mnemon.log)
    return LoggedOut(user_id=principal.user_id)


@operation("account.get", Action.VIEW_OWN_ACCOUNT, read_only=True, example={}, absent=ELSEWHERE)
async def me(mnemon: Parts, caller: Caller, asked: OwnAccountAsked) -> Me:
    """Who this credential stands for."""
    principal = _known(caller)
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        user = await user_by_id(tx, principal.user_id)
        tenant = await own_tenant(tx, principal.tenant_id)
    return Me(
        user_id=user.user_id, email=user.email, name=user.name, role=user.role, scope=principal.scope,
        tenant_id=tenant.tenant_id, tenant=tenant.slug,
    )  # fmt: skip


@operation(
    "account.password", Action.MANAGE_OWN_ACCOUNT, errors=(NotAuthenticated,),
    example={"old_password": "correct horse battery", "new_password": "staple correct horse"},
    absent=ELSEWHERE,
)  # fmt: skip
async def set_password(mnemon: Parts, caller: Caller, asked: NewPassword) -> PasswordSet:
    """Set one's own password; other sessions end."""
    principal = _known(caller)
    old = asked.old_password.get_secret_value() if asked.old_password else ""
    guard = Guard(f"password:{principal.user_id}", mnemon.settings.login_failures)
    await guard.count_attempt(mnemon.database)
    async with mnemon.log.transaction(principal.tenant_id) as transaction:
        found = await (await transaction.connection.execute(STORED_HASH, (principal.user_id,))).fetchone()
        stored = found["password_hash"] if found else None
        if stored is not None and not await verify_password(old, stored):
            raise NotAuthenticated("The old password is wrong.")
        new = asked.new_password.get_secret_value()
        await change_user(transaction, principal.actor, principal.user_id, password=new)
    await guard.forgive(mnemon.database)
    return PasswordSet(user_id=principal.user_id)


def _known(caller: Caller) -> Principal:
    """Only people have an account; the operator has none."""
    if caller.principal is None:
        raise NotAuthenticated("Log in first: this is about one's own account.")
    return caller.principal


def _begun(session: Session) -> LoggedIn:
    principal = session.principal
    return LoggedIn(
        access_token=session.token, token_type="bearer", expires_at=session.expires_at,  # noqa: S106
        user_id=principal.user_id, tenant_id=principal.tenant_id, role=principal.role,
    )  # fmt: skip
