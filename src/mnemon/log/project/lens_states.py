"""The state of a lens: the version of its rows, how far a rebuild is, what it needs no longer of the log."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.partitions import list_partitions
from mnemon.log.project.lens import Lens, lock_key
from mnemon.log.project.snapshots import snapshot_positions_in
from mnemon.log.subscribe.positions import positions_in

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
KNOW_ALL = "SELECT mnemon.know_partitions()"
OTHERS = "SELECT tenant_id, lens FROM mnemon.tenants_with_other_lenses(%s, %s)"
BEGIN = """
INSERT INTO mnemon.lens_states AS l (tenant_id, lens, version, total, started_at)
VALUES (%(tenant)s, %(lens)s, 0, %(total)s, now())
ON CONFLICT (tenant_id, lens) DO UPDATE
   SET done = 0, total = excluded.total, started_at = now(), finished_at = NULL
"""
REPORT = "UPDATE mnemon.lens_states SET done = %s, total = %s WHERE tenant_id = %s AND lens = %s"
FINISH = """
UPDATE mnemon.lens_states SET version = %s, done = total, state_hash = %s, finished_at = now()
 WHERE tenant_id = %s AND lens = %s
"""
PROGRESS = """
SELECT version, done, total, started_at, finished_at, state_hash,
       EXISTS (SELECT FROM pg_locks
                WHERE locktype = 'advisory' AND granted AND objsubid = 1
                  AND (classid::bigint << 32 | objid::bigint) = hashtextextended(%s, 1)
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS rebuilding
  FROM mnemon.lens_states WHERE tenant_id = %s AND lens = %s
"""


@dataclass(frozen=True, slots=True)
class LensState:
    """How a lens of a tenant stands; `rebuilding` is true only while a living process is at it."""

    version: int
    done: int
    total: int
    started_at: datetime | None
    finished_at: datetime | None
    state_hash: bytes | None
    rebuilding: bool


@dataclass(frozen=True, slots=True)
class LensStanding:
    """A lens, how a tenant's rows of it stand, if it has begun, and how many events it has not looked at."""

    lens: Lens
    state: LensState | None
    behind: int

    @property
    def status(self) -> str:
        """empty, current, behind, outdated (rows of another version) or rebuilding."""
        if self.state is None:
            return "behind" if self.behind else "empty"
        if self.state.rebuilding:
            return "rebuilding"
        if self.state.version != self.lens.version:
            return "outdated"
        return "behind" if self.behind else "current"

    def as_json(self) -> dict[str, Any]:
        state = self.state
        return {
            "name": self.lens.name,
            "lifecycle": self.lens.lifecycle,
            "status": self.status,
            "version": self.lens.version,
            "rows_version": state.version if state and state.version else None,
            "tables": [table.removeprefix("mnemon.") for table in self.lens.tables],
            "behind": self.behind,
            "rebuilt_at": state.finished_at if state else None,
            "state_hash": state.state_hash.hex() if state and state.state_hash else None,
            "done": state.done if state else 0,
            "total": state.total if state else 0,
        }


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
    await connection.execute(KNOW_ALL)
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


async def begin_in(connection: Connection, tenant: UUID, lens: Lens, total: int) -> None:
    """A rebuild begins; the version stays that of the rows that still serve."""
    await connection.execute(BEGIN, {"tenant": tenant, "lens": lens.name, "total": total})


async def report_in(connection: Connection, tenant: UUID, lens: Lens, done: int, total: int) -> None:
    await connection.execute(REPORT, (done, total, tenant, lens.name))


async def finish_in(connection: Connection, tenant: UUID, lens: Lens, state_hash: bytes) -> None:
    await connection.execute(FINISH, (lens.version, state_hash, tenant, lens.name))


async def state_in(connection: Connection, tenant: UUID, lens: Lens) -> LensState | None:
    """How the lens stands; None if it has not begun."""
    values = (lock_key(lens.name, tenant), tenant, lens.name)
    row = await (await connection.execute(PROGRESS, values)).fetchone()
    return LensState(**row) if row else None


async def covered_in(connection: Connection, tenant: UUID, partition_id: int, lenses: Iterable[Lens]) -> int:
    """The sequence up to which each of the lenses has what it needs of the partition."""
    partition = next(one for one in await list_partitions(connection, tenant) if one.partition_id == partition_id)
    covered = partition.sequence
    for lens in lenses:
        if lens.pattern.wants_partition(partition.legal_entity):
            covered = min(covered, await _covered_by(connection, tenant, lens, partition_id, partition.sequence))
    return covered


async def _covered_by(connection: Connection, tenant: UUID, lens: Lens, partition_id: int, head: int) -> int:
    if lens.snapshot_every:
        last = await snapshot_positions_in(connection, tenant, lens.name, lens.version)
        return last[0].get(partition_id, 0) if last else 0
    if await version_in(connection, tenant, lens.name) != lens.version:
        return 0
    if lens.lifecycle == "inline":
        return head
    positions = await positions_in(connection, tenant, lens.subscription_id, lens.pattern)
    return next((one.sequence for one in positions if one.partition_id == partition_id), 0)
