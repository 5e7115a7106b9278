"""Which version of a lens a tenant's rows are of, and whose rows are of another than the present one."""

from collections.abc import Sequence
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.partitions import list_partitions
from mnemon.log.project.lens import Lens

VERSION = "SELECT version FROM mnemon.lens_states WHERE tenant_id = %s AND lens = %s"
RECORD = """
INSERT INTO mnemon.lens_states (tenant_id, lens, version, finished_at) VALUES (%s, %s, %s, now())
ON CONFLICT (tenant_id, lens) DO UPDATE SET version = excluded.version, finished_at = excluded.finished_at
"""
# The partitions are named, so that the plan holds no other's.
EARLIER = """
SELECT FROM mnemon.events e
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s)
   AND (cardinality(%(types)s::text[]) = 0 OR e.type = ANY(%(types)s))
   AND (e.partition_id <> %(partition)s OR e.sequence < %(sequence)s)
 LIMIT 1
"""
OTHERS = "SELECT tenant_id, lens FROM mnemon.tenants_with_other_lenses(%s, %s)"


async def version_in(connection: Connection, tenant: UUID, name: str) -> int | None:
    """The version that the rows are of, 0 while the first are made; None if nobody has recorded it."""
    row = await (await connection.execute(VERSION, (tenant, name))).fetchone()
    return row["version"] if row else None


async def record_in(connection: Connection, tenant: UUID, lens: Lens) -> None:
    """Say that the rows are of the present version."""
    await connection.execute(RECORD, (tenant, lens.name, lens.version))


async def has_nothing_in(connection: Connection, tenant: UUID, lens: Lens, before: Event | None = None) -> bool:
    """Whether the log holds no event of the lens's types, or none before this one: then no rows are missing or old."""
    found = await list_partitions(connection, tenant)
    values = {
        "tenant": tenant,
        "partitions": [one.partition_id for one in found if lens.pattern.wants_partition(one.legal_entity)],
        "types": list(lens.pattern.types),
        "partition": before.partition_id if before else -1,
        "sequence": before.sequence if before else 0,
    }
    return await (await connection.execute(EARLIER, values)).fetchone() is None


async def others_in(connection: Connection, lenses: Sequence[Lens]) -> list[tuple[UUID, str]]:
    """Every tenant and lens whose rows are of another version, or of none that is known."""
    values = [one.name for one in lenses], [one.version for one in lenses]
    rows = await (await connection.execute(OTHERS, values)).fetchall()
    return [(row["tenant_id"], row["lens"]) for row in rows]
