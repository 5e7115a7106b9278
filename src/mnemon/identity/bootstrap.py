"""The first start: one tenant, one administrator, and the link that lets them in."""

from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Database
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.login import add_login_link
from mnemon.identity.roles import Principal, Role
from mnemon.identity.tenants import add_tenant
from mnemon.identity.users import add_user
from mnemon.log.events import Actor
from mnemon.log.store import EventLog

FIRST_ADMIN = "admin@localhost"
STARTER = Actor("system", "system:first-start")

# Any constant will do; this one spells "first" in ASCII.
LOCK_KEY = 0x6669727374

ANY_TENANT = "SELECT EXISTS (SELECT FROM mnemon.tenants) AS any"
FIRST_ADMIN_OF_DEFAULT_TENANT = """
SELECT tenants.tenant_id, users.user_id
  FROM mnemon.tenants JOIN mnemon.users USING (tenant_id)
 WHERE users.role = 'admin' AND users.disabled_at IS NULL
 ORDER BY tenants.slug <> %s, tenants.created_at, users.created_at
 LIMIT 1
"""
# Nobody set a password, and no link was used.
NOBODY_CAME_IN = """
SELECT u.tenant_id, u.user_id
  FROM mnemon.users u JOIN mnemon.tenants t USING (tenant_id)
 WHERE t.slug = %s AND lower(u.email) = %s AND u.disabled_at IS NULL
   AND NOT EXISTS (SELECT FROM mnemon.users WHERE password_hash IS NOT NULL)
   AND NOT EXISTS (SELECT FROM mnemon.login_links WHERE used_at IS NOT NULL)
"""


@dataclass(frozen=True)
class FirstStart:
    """What the first start made."""

    tenant_id: UUID
    user_id: UUID
    link_secret: str


async def first_start(log: EventLog) -> FirstStart | None:
    """Make the first tenant and administrator, unless someone already has."""
    async with log.database.owner() as owner, owner.transaction():
        # Several processes may start at once on an empty database: one makes them, the others find them.
        await owner.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK_KEY,))
        exists = await (await owner.execute(ANY_TENANT)).fetchone()
        if exists is None or exists["any"]:
            return None
        tenant, transaction = await add_tenant(log, owner, STARTER, DEFAULT_SLUG, "Main")
        admin = await add_user(transaction, STARTER, FIRST_ADMIN, Role.ADMIN, name="Administrator")
        secret = await add_login_link(transaction, STARTER, admin.user_id)
    return FirstStart(tenant.tenant_id, admin.user_id, secret)


async def link_until_first_login(log: EventLog) -> str | None:
    """A login link for the first administrator while nobody has ever come in, else None.

    A command may have been the first to start on this home, and its link was shown to nobody.
    """
    async with log.database.owner() as owner:
        row = await (await owner.execute(NOBODY_CAME_IN, (DEFAULT_SLUG, FIRST_ADMIN))).fetchone()
    if row is None:
        return None
    async with log.transaction(row["tenant_id"]) as transaction:
        return await add_login_link(transaction, STARTER, row["user_id"])


async def administrator_without_login(database: Database) -> Principal:
    """Who everyone is while authentication is switched off."""
    async with database.owner() as owner:
        row = await (await owner.execute(FIRST_ADMIN_OF_DEFAULT_TENANT, (DEFAULT_SLUG,))).fetchone()
    assert row is not None, "the first start makes an administrator, and the last one cannot be removed"
    return Principal(row["tenant_id"], row["user_id"], Role.ADMIN)
