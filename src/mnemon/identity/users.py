"""Users of one tenant: add, find, change. Every change is recorded in the log, in its own transaction."""

import re
from datetime import UTC, datetime
from uuid import UUID

import psycopg
from psycopg.rows import class_row
from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.errors import Conflict, InvalidRequest, NotFound
from mnemon.identity import events
from mnemon.identity.changes import record_change, row_seal
from mnemon.identity.passwords import hash_password
from mnemon.identity.roles import Role
from mnemon.ids import new_uuid
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import Actor

EMAIL = re.compile(r"[^@\s]+@[^@\s]+")

COLUMNS = "user_id, email, name, role, created_at, disabled_at, password_hash IS NOT NULL AS has_password"
ADD = f"""
INSERT INTO mnemon.users (tenant_id, user_id, email, name, role, password_hash)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s, %s)
RETURNING {COLUMNS}
"""
BY_ID = f"SELECT {COLUMNS} FROM mnemon.users WHERE user_id = %s"
NAMES = "SELECT user_id, name FROM mnemon.users ORDER BY user_id LIMIT %s"
BY_EMAIL = f"SELECT {COLUMNS} FROM mnemon.users WHERE lower(email) = lower(%s)"
PAGE = f"""
SELECT {COLUMNS} FROM mnemon.users
 WHERE (%(after)s::text IS NULL OR lower(email) > %(after)s)
 ORDER BY lower(email) LIMIT %(limit)s
"""
LOCK_ADMINS = (
    "SELECT user_id FROM mnemon.users WHERE role = 'admin' AND disabled_at IS NULL ORDER BY user_id FOR UPDATE"
)
CHANGE = f"""
UPDATE mnemon.users
   SET name = coalesce(%(name)s, name),
       role = coalesce(%(role)s, role),
       disabled_at = CASE %(disabled)s::boolean
           WHEN true THEN coalesce(disabled_at, now()) WHEN false THEN NULL ELSE disabled_at END,
       password_hash = coalesce(%(password_hash)s, password_hash),
       sessions_valid_from = coalesce(%(sessions_valid_from)s, sessions_valid_from)
 WHERE user_id = %(user_id)s
RETURNING {COLUMNS}
"""
SEAL = "SELECT mnemon.user_seal(u) AS seal FROM mnemon.users u WHERE user_id = %s"
VOID_LINKS = "UPDATE mnemon.login_links SET used_at = now() WHERE user_id = %s AND used_at IS NULL"


class User(BaseModel):
    """Someone who may log in."""

    user_id: UUID
    email: str
    name: str
    role: Role
    created_at: datetime
    disabled_at: datetime | None
    has_password: bool


async def add_user(
    transaction: LogTransaction,
    actor: Actor,
    email: str,
    role: Role,
    *,
    name: str | None = None,
    password: str | None = None,
) -> User:
    """A user without a password logs in by a one-time link."""
    if not EMAIL.fullmatch(email) or len(email) > 254:
        raise InvalidRequest(f"{email!r} is not an e-mail address: give one like ana@example.org.", email=email)
    chosen = name or email.split("@", 1)[0]
    if len(chosen) > 200:
        raise InvalidRequest("A user's name has at most 200 characters.")
    password_hash = None if password is None else await hash_password(password)
    cursor = transaction.connection.cursor(row_factory=class_row(User))
    try:
        await cursor.execute(ADD, (new_uuid(), email, chosen, role, password_hash))
    except psycopg.errors.UniqueViolation:
        raise Conflict(f"There is a user {email} already.", email=email) from None
    user = await cursor.fetchone()
    assert user is not None
    sealed = await row_seal(transaction.connection, SEAL, user.user_id)
    await record_change(transaction, actor, events.USER_ADDED, user_id=user.user_id, role=role, seal=sealed)
    return user


async def user_by_id(tx: Connection, user_id: UUID) -> User:
    user = await (await tx.cursor(row_factory=class_row(User)).execute(BY_ID, (user_id,))).fetchone()
    if user is None:
        raise NotFound(f"There is no user {user_id}.", user_id=str(user_id))
    return user


async def names_of_users(tx: Connection, limit: int) -> dict[UUID, str]:
    """How people are called, as far as they are not too many."""
    rows = await (await tx.execute(NAMES, (limit,))).fetchall()
    return {row["user_id"]: row["name"] for row in rows}


async def user_by_email(tx: Connection, email: str) -> User:
    user = await (await tx.cursor(row_factory=class_row(User)).execute(BY_EMAIL, (email,))).fetchone()
    if user is None:
        raise NotFound(f"There is no user {email}: `mnemon user list` names them.", email=email)
    return user


async def page_of_users(tx: Connection, limit: int, after: str | None = None) -> list[User]:
    """In the order of their addresses, starting after this one."""
    cursor = tx.cursor(row_factory=class_row(User))
    return await (await cursor.execute(PAGE, {"limit": limit, "after": after})).fetchall()


async def change_user(
    transaction: LogTransaction,
    actor: Actor,
    user_id: UUID,
    *,
    name: str | None = None,
    role: Role | None = None,
    disabled: bool | None = None,
    password: str | None = None,
) -> User:
    """Change what is given; a new role, password or state ends earlier sessions and voids unused login links."""
    tx = transaction.connection
    before = await user_by_id(tx, user_id)
    if name is not None and not 1 <= len(name) <= 200:
        raise InvalidRequest("A user's name has 1 to 200 characters.")
    if role is Role.USER or disabled:
        await _keep_one_admin(tx, user_id)
    password_hash = None if password is None else await hash_password(password)
    ends_sessions = disabled is not None or password is not None or role not in (None, before.role)
    values = {
        "user_id": user_id,
        "name": name,
        "role": role,
        "disabled": disabled,
        "password_hash": password_hash,
        # By the clock that stamps sessions, and after the slow hashing.
        "sessions_valid_from": datetime.now(UTC) if ends_sessions else None,
    }
    user = await (await tx.cursor(row_factory=class_row(User)).execute(CHANGE, values)).fetchone()
    assert user is not None
    if ends_sessions:
        await tx.execute(VOID_LINKS, (user_id,))
    await _record_differences(transaction, actor, before, user, password_changed=password is not None)
    return user


async def _keep_one_admin(tx: Connection, user_id: UUID) -> None:
    """The rows stay locked until commit, so two administrators cannot remove each other at once."""
    admins = {row["user_id"] for row in await (await tx.execute(LOCK_ADMINS)).fetchall()}
    if admins == {user_id}:
        raise Conflict("This is the last administrator: make someone else an administrator first.")


async def _record_differences(
    transaction: LogTransaction, actor: Actor, before: User, after: User, *, password_changed: bool
) -> None:
    user_id = after.user_id
    sealed = await row_seal(transaction.connection, SEAL, user_id)
    if before.role != after.role:
        await record_change(
            transaction, actor, events.ROLE_CHANGED, user_id=user_id, old=before.role, new=after.role, seal=sealed
        )
    if (before.disabled_at is None) != (after.disabled_at is None):
        happening = events.USER_ENABLED if after.disabled_at is None else events.USER_DISABLED
        await record_change(transaction, actor, happening, user_id=user_id, seal=sealed)
    if before.name != after.name:
        await record_change(transaction, actor, events.USER_RENAMED, user_id=user_id, seal=sealed)
    if password_changed:
        await record_change(transaction, actor, events.PASSWORD_CHANGED, user_id=user_id, seal=sealed)
