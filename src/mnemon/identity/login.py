"""Logging in: by password, or by a one-time link. Both end in a session."""

from datetime import timedelta
from uuid import UUID

from mnemon.db.database import Database
from mnemon.errors import NotAuthenticated
from mnemon.identity.changes import record_change, row_seal
from mnemon.identity.events import LINK_ADDED
from mnemon.identity.passwords import verify_password
from mnemon.identity.roles import Principal, Role
from mnemon.identity.secrets import digest, new_link_secret
from mnemon.identity.sessions import Session, Sessions
from mnemon.identity.throttle import Guard
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import Actor
from mnemon.telemetry import counter, logger

LINK_LASTS = timedelta(hours=24)
# One address may serve a whole office, so it is allowed more than one account is.
ADDRESS_ALLOWANCE = 10

FIND_LOGIN = "SELECT tenant_id, user_id, role, password_hash FROM mnemon.find_login(%s, %s)"
ADD_LINK = """
INSERT INTO mnemon.login_links (secret_hash, tenant_id, user_id, expires_at)
VALUES (%s, mnemon.current_tenant(), %s, now() + %s)
"""
SEAL = "SELECT mnemon.link_seal(l) AS seal FROM mnemon.login_links l WHERE secret_hash = %s"
REDEEM = "SELECT tenant_id, user_id, role FROM mnemon.redeem_login_link(%s)"

logins = counter("mnemon_logins", "Login attempts by how they ended.", ["outcome"])
log = logger(__name__)


async def login_with_password(
    database: Database, sessions: Sessions, *, tenant_slug: str, email: str, password: str, address: str, allowed: int
) -> Session:
    """A wrong name and a wrong password give the same answer, after the same work."""
    # Lowered once for both: the database lowers some letters differently, and another spelling would be another count.
    email = email.lower()
    account = Guard(f"account:{tenant_slug}:{email}", allowed)
    caller = Guard(f"address:{address}", allowed * ADDRESS_ALLOWANCE)
    await caller.count_attempt(database)
    failures = await account.count_attempt(database)
    async with database.session() as session:
        found = await (await session.execute(FIND_LOGIN, (tenant_slug, email))).fetchone()
        if found is None:
            await session.execute("SELECT mnemon.refuse_moved(NULL, %s)", (tenant_slug,))
    if not await verify_password(password, found["password_hash"] if found else None) or found is None:
        logins.labels("refused").inc()
        log.warning("login_refused", tenant=tenant_slug, address=address, failures=failures)
        raise NotAuthenticated("The tenant, e-mail address or password is wrong.")
    await account.forgive(database)
    await caller.uncount(database)
    return await _begin_session(
        database, sessions, Principal(found["tenant_id"], found["user_id"], Role(found["role"]))
    )


async def login_with_link(database: Database, sessions: Sessions, *, secret: str) -> Session:
    async with database.session() as session:
        found = await (await session.execute(REDEEM, (digest(secret),))).fetchone()
    if found is None:
        logins.labels("refused").inc()
        raise NotAuthenticated("This login link was used, has expired or never existed: ask for a new one.")
    return await _begin_session(
        database, sessions, Principal(found["tenant_id"], found["user_id"], Role(found["role"]))
    )


async def add_login_link(transaction: LogTransaction, actor: Actor, user_id: UUID) -> str:
    """The secret part of a link that lets this user in once."""
    secret = new_link_secret()
    await transaction.connection.execute(ADD_LINK, (digest(secret), user_id, LINK_LASTS))
    sealed = await row_seal(transaction.connection, SEAL, digest(secret))
    await record_change(transaction, actor, LINK_ADDED, user_id=user_id, seal=sealed)
    return secret


async def _begin_session(database: Database, sessions: Sessions, principal: Principal) -> Session:
    logins.labels("accepted").inc()
    log.info("login_accepted", tenant_id=str(principal.tenant_id), user_id=str(principal.user_id))
    return await sessions.begin(principal)
