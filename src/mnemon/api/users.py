"""Users of the caller's tenant, for administrators."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from mnemon.api.access import MnemonPart, allow
from mnemon.api.paging import Cursor, Limit, Page, from_cursor, to_cursor
from mnemon.identity.changes import kind_of, recent_changes
from mnemon.identity.login import add_login_link
from mnemon.identity.roles import Action, Principal, Role
from mnemon.identity.users import User, add_user, change_user, page_of_users, user_by_id

router = APIRouter(tags=["users"])
Admin = Annotated[Principal, allow(Action.MANAGE_USERS)]


class UserOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    user_id: UUID
    email: str
    name: str
    role: Role
    created_at: datetime
    disabled_at: datetime | None
    has_password: bool


class NewUser(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"email": "ben@example.org", "role": "user", "name": "Ben"}]}
    )
    email: str = Field(max_length=254)
    role: Role = Role.USER
    name: str | None = Field(None, max_length=200)
    password: SecretStr | None = Field(None, description="Without one, the user logs in by a one-time link.")


class UserChange(BaseModel):
    name: str | None = Field(None, max_length=200)
    role: Role | None = None
    disabled: bool | None = None
    password: SecretStr | None = None


class LinkOut(BaseModel):
    url: str = Field(description="Lets the user in once, within a day. Shown only now.")


class Change(BaseModel):
    change_id: str
    changed_at: datetime
    actor: str
    kind: str
    details: dict[str, Any]


@router.get("/users", summary="List users")
async def list_users(mnemon: MnemonPart, principal: Admin, limit: Limit = 100, cursor: Cursor = None) -> Page[UserOut]:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        users = await page_of_users(tx, limit + 1, from_cursor(cursor))
    following = to_cursor(users[limit - 1].email.lower()) if len(users) > limit else None
    return Page[UserOut](items=[UserOut.model_validate(user) for user in users[:limit]], next_cursor=following)


@router.post("/users", summary="Add a user", status_code=201, response_model=UserOut)
async def post_user(new: NewUser, mnemon: MnemonPart, principal: Admin) -> User:
    async with mnemon.log.transaction(principal.tenant_id) as transaction:
        return await add_user(
            transaction, principal.actor, new.email, new.role, name=new.name, password=_revealed(new.password)
        )


@router.get("/users/{user_id}", summary="One user", response_model=UserOut)
async def get_user(user_id: UUID, mnemon: MnemonPart, principal: Admin) -> User:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        return await user_by_id(tx, user_id)


@router.patch("/users/{user_id}", summary="Change a user's name, role, password or state", response_model=UserOut)
async def patch_user(user_id: UUID, change: UserChange, mnemon: MnemonPart, principal: Admin) -> User:
    async with mnemon.log.transaction(principal.tenant_id) as transaction:
        return await change_user(
            transaction,
            principal.actor,
            user_id,
            name=change.name,
            role=change.role,
            disabled=change.disabled,
            password=_revealed(change.password),
        )


@router.post("/users/{user_id}/login-link", summary="Make a one-time login link", status_code=201)
async def post_login_link(user_id: UUID, mnemon: MnemonPart, principal: Admin) -> LinkOut:
    async with mnemon.log.transaction(principal.tenant_id) as transaction:
        await user_by_id(transaction.connection, user_id)
        return LinkOut(url=mnemon.login_url(await add_login_link(transaction, principal.actor, user_id)))


@router.get("/identity-changes", summary="What was done to users and tokens, newest first")
async def list_changes(mnemon: MnemonPart, principal: Admin, limit: Limit = 100, cursor: Cursor = None) -> Page[Change]:
    page = await recent_changes(mnemon.log, principal.tenant_id, limit, cursor)
    changes = [
        Change(
            change_id=event.id,
            changed_at=event.recorded_at,
            actor=event.actor_id,
            kind=kind_of(event.type),
            details=event.data,
        )
        for event in page.events
    ]
    return Page[Change](items=changes, next_cursor=page.next_cursor)


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
