"""What administrators may do with users."""

from datetime import datetime
from typing import Annotated, Any, Protocol
from uuid import UUID

from pydantic import BeforeValidator, Field, SecretStr

from mnemon.db.database import Connection, Database
from mnemon.errors import Conflict, NotFound
from mnemon.identity import users
from mnemon.identity.changes import kind_of, recent_changes
from mnemon.identity.login import add_login_link
from mnemon.identity.roles import Action, Role
from mnemon.inputs import Cursor, from_cursor, page_of
from mnemon.log.store import EventLog
from mnemon.operations import Caller, Door, Input, Output, operation

NOT_BY_AGENTS: dict[Door, str] = {"mcp": "People are let in by people."}
BY_PEOPLE: dict[Door, str] = {
    **NOT_BY_AGENTS,
    "web": "The page of users shows each of them.",
}
ONE = {"user": "ana@example.org"}
Someone = Annotated[str, Field(min_length=1, max_length=254)]
Password = Annotated[SecretStr, Field(max_length=10_000)]


class Parts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def log(self) -> EventLog: ...

    def login_url(self, link_secret: str) -> str: ...


class PeoplePageAsked(Input):
    """A page of a list."""

    limit: int = Field(100, ge=1, le=1000, description="Most items on this page.")
    cursor: Cursor = None


class UserAsked(Input):
    """One person."""

    user: Annotated[Someone, BeforeValidator(str)] = Field(description="Their e-mail address, or their id.")


class NewUser(Input):
    """A person to let in."""

    email: str = Field(max_length=254, description="E-mail address.")
    role: Role = Field(Role.USER, description="What the user may do.")
    name: str | None = Field(None, max_length=200, description="Name that people see.")
    password: Password | None = Field(None, description="Without one, the user logs in by a one-time link.")


class UserChange(UserAsked):
    """What is given is changed."""

    name: str | None = Field(None, max_length=200, description="Name that people see.")
    role: Role | None = Field(None, description="What the user may do.")
    disabled: bool | None = Field(None, description="Whether they are locked out.")
    password: Password | None = Field(None, description="Their new password; their sessions end.")


class UserPage(Output):
    """Users in the order of their addresses."""

    items: list[users.User]
    next_cursor: str | None


class LinkOut(Output):
    """A way in."""

    url: str = Field(description="Lets the user in once, within a day. Shown only now.")


class ChangeOut(Output):
    """What was done to whom, and by whom."""

    change_id: str
    changed_at: datetime
    actor: str
    kind: str
    details: dict[str, Any]


class ChangePage(Output):
    """Changes, newest first."""

    items: list[ChangeOut]
    next_cursor: str | None


@operation("users.list", Action.MANAGE_USERS, read_only=True, example={"limit": 10}, absent=NOT_BY_AGENTS)
async def list_users(mnemon: Parts, caller: Caller, asked: PeoplePageAsked) -> UserPage:
    """List users."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        found = await users.page_of_users(tx, asked.limit + 1, from_cursor(asked.cursor))
    return UserPage(**page_of(found, asked.limit, lambda one: one.email.lower()))


@operation(
    "users.add", Action.MANAGE_USERS, errors=(Conflict,), absent=NOT_BY_AGENTS,
    example={"email": "ben@example.org", "role": "user", "name": "Ben"},
)  # fmt: skip
async def add_user(mnemon: Parts, caller: Caller, asked: NewUser) -> users.User:
    """Add a user, who then logs in by password or by a one-time link."""
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        return await users.add_user(
            transaction, caller.actor, asked.email, asked.role, name=asked.name, password=_revealed(asked.password)
        )


@operation(
    "users.get", Action.MANAGE_USERS, read_only=True, errors=(NotFound,), example=ONE,
    absent={**BY_PEOPLE, "command": "`user list` shows them all."},
)  # fmt: skip
async def get_user(mnemon: Parts, caller: Caller, asked: UserAsked) -> users.User:
    """One user."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        return await user_named(tx, asked.user)


@operation(
    "users.change", Action.MANAGE_USERS, errors=(NotFound, Conflict), example={**ONE, "role": "admin"},
    absent=NOT_BY_AGENTS,
)  # fmt: skip
async def change_user(mnemon: Parts, caller: Caller, asked: UserChange) -> users.User:
    """Change a user's name, role, password or state.

    A new role, password or state ends their sessions; a disabled user's tokens stop working too.
    """
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        known = await user_named(transaction.connection, asked.user)
        return await users.change_user(
            transaction, caller.actor, known.user_id, name=asked.name, role=asked.role, disabled=asked.disabled,
            password=_revealed(asked.password),
        )  # fmt: skip


@operation("users.link", Action.MANAGE_USERS, errors=(NotFound,), example=ONE, absent=NOT_BY_AGENTS)
async def link_user(mnemon: Parts, caller: Caller, asked: UserAsked) -> LinkOut:
    """Make a link that lets the user in once, within a day."""
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        known = await user_named(transaction.connection, asked.user)
        return LinkOut(url=mnemon.login_url(await add_login_link(transaction, caller.actor, known.user_id)))


@operation(
    "users.changes", Action.MANAGE_USERS, read_only=True, example={"limit": 10},
    absent={**NOT_BY_AGENTS, "command": "`mnemon log` shows the same events."},
)  # fmt: skip
async def list_changes(mnemon: Parts, caller: Caller, asked: PeoplePageAsked) -> ChangePage:
    """What was done to users and tokens, newest first."""
    page = await recent_changes(mnemon.log, caller.tenant_id, asked.limit, asked.cursor)
    shown = [
        ChangeOut(
            change_id=one.id, changed_at=one.recorded_at, actor=one.actor_id, kind=kind_of(one.type), details=one.data
        )
        for one in page.events
    ]
    return ChangePage(items=shown, next_cursor=page.next_cursor)


async def user_named(tx: Connection, named: str) -> users.User:
    try:
        return await users.user_by_id(tx, UUID(named))
    except ValueError:
        return await users.user_by_email(tx, named)


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
