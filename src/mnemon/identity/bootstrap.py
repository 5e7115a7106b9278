"""The first start: one tenant, one administrator, and the link that lets them in."""

from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import SET_TENANT, Database
from mnemon.identity.changes import record_change
from mnemon.identity.login import add_login_link
from mnemon.identity.roles import Principal, Role
from mnemon.identity.tenants import DEFAULT_SLUG, add_tenant
from mnemon.identity.users import add_user

FIRST_ADMIN = "admin@localhost"
SYSTEM = "system:first-start"

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


@dataclass(frozen=True)
class FirstStart:
    """What the first start made."""

    tenant_id: UUID
    user_id: UUID
    link_secret: str


async def first_start(database: Database) -> FirstStart | None:
    """Make the first tenant and administrator, unless someone already has."""
    async with database.owner() as owner, owner.transaction():
        # Several processes may start at once on an empty database: one makes them, the others find them.
        await owner.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK_KEY,))
        exists = await (await owner.execute(ANY_TENANT)).fetchone()
        if exists is None or exists["any"]:
            return None
        tenant = await add_tenant(owner, DEFAULT_SLUG, "Main")
        await owner.execute(SET_TENANT, (str(tenant.tenant_id),))
        await record_change(owner, SYSTEM, "tenant.added", slug=tenant.slug)
        admin = await add_user(owner, SYSTEM, FIRST_ADMIN, Role.ADMIN, name="Administrator")
        secret = await add_login_link(owner, SYSTEM, admin.user_id)
    return FirstStart(tenant.tenant_id, admin.user_id, secret)


async def administrator_without_login(database: Database) -> Principal:
    """Who everyone is while authentication is switched off."""
    async with database.owner() as owner:
        row = await (await owner.execute(FIRST_ADMIN_OF_DEFAULT_TENANT, (DEFAULT_SLUG,))).fetchone()
    assert row is not None, "the first start makes an administrator, and the last one cannot be removed"
    return Principal(row["tenant_id"], row["user_id"], Role.ADMIN)
