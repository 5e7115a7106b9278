"""What tests leave to do. A worker serves every tenant, so it would be done in the midst of another test."""

from uuid import UUID

from mnemon.db.database import Database

# Tenants that tests made, each with the way into the database that it is in; and those whose tests are over.
MADE: list[tuple[str, UUID]] = []
ENDED: list[tuple[str, UUID]] = []
UNFINISHED = "DELETE FROM mnemon.jobs WHERE tenant_id = ANY(%s) AND status IN ('PENDING', 'PROCESSING')"


def remember_tenant(database: Database, tenant: UUID) -> None:
    MADE.append((database.server.owner_conninfo, tenant))


def end_tenants(first: int) -> None:
    """Whoever made the tenants from this number on is done with them."""
    ENDED.extend(MADE[first:])
    del MADE[first:]


async def drop_leftovers(database: Database) -> None:
    """Before a worker starts: jobs of tests that are over are nobody's."""
    here = database.server.owner_conninfo
    tenants = [tenant for place, tenant in ENDED if place == here]
    if tenants:
        async with database.owner() as owner:
            await owner.execute(UNFINISHED, (tenants,))
        ENDED[:] = [one for one in ENDED if one[0] != here]
