"""Logging in, and one's own account."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from mnemon.api.access import MnemonPart, address_of, allow
from mnemon.errors import NotAuthenticated
from mnemon.identity.login import login_with_link, login_with_password
from mnemon.identity.passwords import verify_password
from mnemon.identity.roles import Action, CredentialScope, Principal, Role
from mnemon.identity.sessions import Session
from mnemon.identity.tenants import DEFAULT_SLUG, own_tenant
from mnemon.identity.throttle import Guard
from mnemon.identity.users import change_user, user_by_id

router = APIRouter(tags=["account"])


class PasswordLogin(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"email": "ana@example.org", "password": "correct horse battery", "tenant": "main"}]
        }
    )
    email: str = Field(max_length=254)
    password: SecretStr
    tenant: str = Field(DEFAULT_SLUG, max_length=64, description="The tenant's short name.")


class LinkLogin(BaseModel):
    link: SecretStr = Field(description="The part of the login link after `#`.")


class LoggedIn(BaseModel):
    access_token: str
    token_type: str = "bearer"  # noqa: S105
    expires_at: datetime
    user_id: UUID
    tenant_id: UUID
    role: Role


class Me(BaseModel):
    user_id: UUID
    email: str
    name: str
    role: Role
    scope: CredentialScope
    tenant_id: UUID
    tenant: str


class NewPassword(BaseModel):
    old_password: SecretStr | None = Field(None, description="Not needed while the account has none.")
    new_password: SecretStr


@router.post("/auth/login", summary="Begin a session with a password")
async def log_in(login: PasswordLogin, request: Request, mnemon: MnemonPart) -> LoggedIn:
    session = await login_with_password(
        mnemon.database,
        mnemon.sessions,
        tenant_slug=login.tenant,
        email=login.email,
        password=login.password.get_secret_value(),
        address=address_of(request),
        allowed=mnemon.settings.login_failures,
    )
    return logged_in(session)


@router.post("/auth/link", summary="Begin a session with a one-time link")
async def log_in_by_link(login: LinkLogin, mnemon: MnemonPart) -> LoggedIn:
    return logged_in(await login_with_link(mnemon.database, mnemon.sessions, secret=login.link.get_secret_value()))


@router.get("/me", summary="Who this credential stands for")
async def me(mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.VIEW_OWN_ACCOUNT)]) -> Me:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        user = await user_by_id(tx, principal.user_id)
        tenant = await own_tenant(tx, principal.tenant_id)
    return Me(
        user_id=user.user_id,
        email=user.email,
        name=user.name,
        role=user.role,
        scope=principal.scope,
        tenant_id=tenant.tenant_id,
        tenant=tenant.slug,
    )


@router.post("/me/password", summary="Set one's own password; other sessions end", status_code=204)
async def set_password(
    new: NewPassword, mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.MANAGE_OWN_ACCOUNT)]
) -> None:
    old = new.old_password.get_secret_value() if new.old_password else ""
    guard = Guard(f"password:{principal.user_id}", mnemon.settings.login_failures)
    await guard.count_attempt(mnemon.database)
    async with mnemon.log.transaction(principal.tenant_id) as transaction:
        found = await (
            await transaction.connection.execute(
                "SELECT password_hash FROM mnemon.users WHERE user_id = %s", (principal.user_id,)
            )
        ).fetchone()
        stored = found["password_hash"] if found else None
        if stored is not None and not await verify_password(old, stored):
            raise NotAuthenticated("The old password is wrong.")
        await change_user(transaction, principal.actor, principal.user_id, password=new.new_password.get_secret_value())
    await guard.forgive(mnemon.database)


def logged_in(session: Session) -> LoggedIn:
    return LoggedIn(
        access_token=session.token,
        expires_at=session.expires_at,
        user_id=session.principal.user_id,
        tenant_id=session.principal.tenant_id,
        role=session.principal.role,
    )
