"""Who works on a home by a command or a program: how the record names them, and as whom they read and keep."""

from dataclasses import replace
from uuid import UUID

from mnemon.db.database import Database
from mnemon.identity.bootstrap import FIRST_ADMIN
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.roles import user_actor_id
from mnemon.log.events import OPERATOR, PROGRAM, Actor

# Whom the first start made: the page's link lets this person in, and agents without a token are theirs. Somebody who
# came later is another person, also under the address of one who was erased.
PERSON = """
SELECT u.user_id FROM mnemon.users u JOIN mnemon.tenants t USING (tenant_id)
 WHERE t.tenant_id = %s AND t.slug = %s AND lower(u.email) = %s AND u.disabled_at IS NULL
   AND NOT EXISTS (SELECT FROM mnemon.users e WHERE e.tenant_id = u.tenant_id AND e.created_at < u.created_at)
"""


async def seated(database: Database, tenant: UUID, actor: Actor) -> Actor:
    """The same actor, who reads and keeps as the person of this home; in a tenant without that person, as themselves.

    What commands and programs kept as themselves stays theirs."""
    async with database.owner() as owner:
        row = await (await owner.execute(PERSON, (tenant, DEFAULT_SLUG, FIRST_ADMIN))).fetchone()
    person = [user_actor_id(row["user_id"])] if row else []
    return replace(actor, reads_as=tuple(dict.fromkeys([*person, actor.id, OPERATOR.id, PROGRAM.id])))
