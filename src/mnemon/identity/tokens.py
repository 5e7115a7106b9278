"""Personal access tokens for agents and scripts: shown once, kept as digests, revocable."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row
from pydantic import BaseModel, Field

from mnemon.db.database import Connection, Database
from mnemon.errors import InvalidRequest, NotAuthenticated, NotFound
from mnemon.identity import events
from mnemon.identity.changes import record_change, row_seal
from mnemon.identity.roles import CredentialScope, Principal, Role
from mnemon.identity.secrets import digest, new_token_secret
from mnemon.ids import new_uuid
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import Actor

# Writing the time of every single use would turn each read request into a write.
USE_IS_RECORDED_EVERY = timedelta(minutes=1)

COLUMNS = "token_id, user_id, name, scope, created_at, expires_at, revoked_at, last_used_at"
ADD = f"""
INSERT INTO mnemon.access_tokens (tenant_id, token_id, user_id, name, scope, secret_hash, expires_at)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s, %s, %s)
RETURNING {COLUMNS}
"""
SEAL = "SELECT mnemon.token_seal(t) AS seal FROM mnemon.access_tokens t WHERE token_id = %s"
LIST = f"""
SELECT {COLUMNS} FROM mnemon.access_tokens
 WHERE (%(user_id)s::uuid IS NULL OR user_id = %(user_id)s)
 ORDER BY created_at, token_id
"""
NAMES = """
SELECT token_id, name FROM mnemon.access_tokens
 WHERE %(user_id)s::uuid IS NULL OR user_id = %(user_id)s ORDER BY created_at DESC LIMIT %(limit)s
"""
REVOKE = f"""
UPDATE mnemon.access_tokens SET revoked_at = coalesce(revoked_at, now())
 WHERE token_id = %(token_id)s AND (%(user_id)s::uuid IS NULL OR user_id = %(user_id)s)
RETURNING {COLUMNS}
"""
FIND = """
SELECT tenant_id, token_id, user_id, role, scope, last_used_at, name, token_name FROM mnemon.find_access_token(%s)
"""
USED = "UPDATE mnemon.access_tokens SET last_used_at = now() WHERE token_id = %s"


class AccessToken(BaseModel):
    """A token; its secret is nowhere kept."""

    token_id: UUID
    user_id: UUID
    name: str
    scope: CredentialScope
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class NewAccessToken(AccessToken):
    """A token, and the only sight of its secret."""

    secret: str = Field(description="Shown only now.")


async def add_token(
    transaction: LogTransaction,
    actor: Actor,
    user_id: UUID,
    name: str,
    scope: CredentialScope,
    lasts: timedelta | None = None,
) -> NewAccessToken:
    if not 1 <= len(name) <= 100:
        raise InvalidRequest("A token's name has 1 to 100 characters: say what it is for.")
    secret = new_token_secret()
    expires_at = datetime.now(UTC) + lasts if lasts else None
    cursor = transaction.connection.cursor(row_factory=class_row(AccessToken))
    await cursor.execute(ADD, (new_uuid(), user_id, name, scope, digest(secret), expires_at))
    token = await cursor.fetchone()
    assert token is not None
    sealed = await row_seal(transaction.connection, SEAL, token.token_id)
    added = {"token_id": token.token_id, "user_id": user_id, "scope": scope, "seal": sealed}
    await record_change(transaction, actor, events.TOKEN_ADDED, **added)
    return NewAccessToken(**dict(token), secret=secret)


async def names_of_tokens(tx: Connection, user_id: UUID | None, limit: int) -> dict[UUID, str]:
    """How tokens are called, as far as they are not too many: of a user, or of everyone."""
    rows = await (await tx.execute(NAMES, {"user_id": user_id, "limit": limit})).fetchall()
    return {row["token_id"]: row["name"] for row in rows}


async def list_tokens(tx: Connection, user_id: UUID | None = None) -> list[AccessToken]:
    """Of one user, or of the whole tenant."""
    cursor = tx.cursor(row_factory=class_row(AccessToken))
    return await (await cursor.execute(LIST, {"user_id": user_id})).fetchall()


async def revoke_token(
    transaction: LogTransaction, actor: Actor, token_id: UUID, of_user: UUID | None = None
) -> AccessToken:
    """From now on the token opens nothing. `of_user` limits this to that person's own tokens."""
    cursor = transaction.connection.cursor(row_factory=class_row(AccessToken))
    token = await (await cursor.execute(REVOKE, {"token_id": token_id, "user_id": of_user})).fetchone()
    if token is None:
        raise NotFound(f"There is no token {token_id}.", token_id=str(token_id))
    await record_change(transaction, actor, events.TOKEN_REVOKED, token_id=token_id, user_id=token.user_id)
    return token


async def principal_of_token(database: Database, secret: str) -> Principal:
    """Who a token stands for, or a refusal that does not say whether it ever existed."""
    async with database.session() as session:
        found = await (await session.execute(FIND, (digest(secret),))).fetchone()
        if found is None:
            await session.execute("SELECT mnemon.refuse_moved(%s, NULL)", (digest(secret),))
    if found is None:
        raise NotAuthenticated(
            "This access token is unknown, expired or revoked: make a new one with `mnemon token add`."
        )
    last_used = found["last_used_at"]
    if last_used is None or datetime.now(UTC) - last_used > USE_IS_RECORDED_EVERY:
        async with database.transaction(found["tenant_id"]) as tx:
            await tx.execute(USED, (found["token_id"],))
    return Principal(
        found["tenant_id"], found["user_id"], Role(found["role"]), CredentialScope(found["scope"]), found["token_id"],
        found["name"], found["token_name"],
    )  # fmt: skip
