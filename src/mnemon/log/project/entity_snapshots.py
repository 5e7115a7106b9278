"""Entity snapshots: the state of an entity as of one of its events, kept for strong reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.log.types.state_rules import FoldState

NEWEST = """
SELECT p.partition_id, s.as_of_sequence, s.version, s.as_of_point, s.state
  FROM mnemon.partitions p
  LEFT JOIN LATERAL (
       SELECT * FROM mnemon.entity_snapshots s
        WHERE s.tenant_id = p.tenant_id AND s.partition_id = p.partition_id AND s.entity_type = %(type)s
          AND s.entity_id = %(id)s AND s.status = 'valid' AND s.fold_version = %(fold)s
          AND s.as_of_sequence <= %(through)s
        ORDER BY s.as_of_sequence DESC LIMIT 1) s ON true
 WHERE p.tenant_id = %(tenant)s AND p.legal_entity = %(legal_entity)s
"""
MARK_STALE = """
UPDATE mnemon.entity_snapshots SET status = 'stale'
 WHERE tenant_id = %(tenant)s AND partition_id = %(partition)s AND entity_type = %(type)s AND entity_id = %(id)s
   AND as_of_sequence < %(sequence)s AND as_of_point > %(effective)s AND status = 'valid'
"""
# The same for every entity of a partition.
MARK_ALL_STALE = """
UPDATE mnemon.entity_snapshots s SET status = 'stale'
 WHERE s.tenant_id = %(tenant)s AND s.partition_id = %(partition)s AND s.status = 'valid'
   AND EXISTS (
       SELECT FROM mnemon.event_entities n
         JOIN mnemon.events e ON e.tenant_id = n.tenant_id AND e.partition_id = n.partition_id
                             AND e.sequence = n.sequence
        WHERE n.tenant_id = %(tenant)s AND n.partition_id = %(partition)s AND n.entity_id = s.entity_id
          AND n.entity_type = s.entity_type AND n.sequence > s.as_of_sequence
          AND e.tenant_id = %(tenant)s AND e.partition_id = %(partition)s AND e.effective_date < s.as_of_point)
"""
SAVE = """
INSERT INTO mnemon.entity_snapshots (tenant_id, partition_id, entity_type, entity_id, as_of_sequence, version,
                                     fold_version, as_of_point, state)
VALUES (%(tenant)s, %(partition)s, %(type)s, %(id)s, %(sequence)s, %(version)s, %(fold)s, %(point)s, %(state)s)
ON CONFLICT (tenant_id, partition_id, entity_type, entity_id, as_of_sequence) DO UPDATE
   SET version = excluded.version, fold_version = excluded.fold_version, as_of_point = excluded.as_of_point,
       state = excluded.state, status = 'valid', created_at = now()
"""
# Three valid ones are kept: should the newest turn stale, there is one to go back to.
THIN_OUT = """
DELETE FROM mnemon.entity_snapshots
 WHERE tenant_id = %(tenant)s AND partition_id = %(partition)s AND entity_type = %(type)s AND entity_id = %(id)s
   AND as_of_sequence NOT IN (
       SELECT as_of_sequence FROM mnemon.entity_snapshots
        WHERE tenant_id = %(tenant)s AND partition_id = %(partition)s AND entity_type = %(type)s
          AND entity_id = %(id)s AND status = 'valid'
        ORDER BY as_of_sequence DESC LIMIT 3)
"""
# All entities that an event with a sealed field of this person names.
FORGET = """
DELETE FROM mnemon.entity_snapshots s
 USING mnemon.event_subjects u, mnemon.events e, json_array_elements(e.envelope::json -> 'entities') AS one
 WHERE u.tenant_id = %(tenant)s AND u.subject_id = %(subject)s
   AND e.tenant_id = %(tenant)s AND e.partition_id = u.partition_id AND e.sequence = u.sequence
   AND s.tenant_id = %(tenant)s AND s.partition_id = e.partition_id
   AND s.entity_type = one ->> 'entity_type' AND s.entity_id = one ->> 'entity_id'
"""
FORGET_EVENT = """
DELETE FROM mnemon.entity_snapshots s
 USING mnemon.events e, json_array_elements(e.envelope::json -> 'entities') AS one
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = %(partition)s AND e.sequence = %(sequence)s
   AND s.tenant_id = %(tenant)s AND s.partition_id = e.partition_id
   AND s.entity_type = one ->> 'entity_type' AND s.entity_id = one ->> 'entity_id'
"""
COVERED = """
SELECT coalesce(min(e.sequence) - 1, (SELECT p.sequence FROM mnemon.partitions p
                                       WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s)) AS covered
  FROM mnemon.event_entities e
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = %(partition)s AND e.entity_type = ANY(%(types)s)
   AND NOT EXISTS (
       SELECT FROM mnemon.entity_snapshots s
        WHERE s.tenant_id = e.tenant_id AND s.partition_id = e.partition_id AND s.entity_type = e.entity_type
          AND s.entity_id = e.entity_id AND s.status = 'valid' AND s.as_of_sequence >= e.sequence)
"""
UNCOVERED = """
SELECT DISTINCT e.entity_type, e.entity_id
  FROM mnemon.event_entities e
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = %(partition)s AND e.entity_type = ANY(%(types)s)
   AND e.sequence <= %(through)s
   AND NOT EXISTS (
       SELECT FROM mnemon.entity_snapshots s
        WHERE s.tenant_id = e.tenant_id AND s.partition_id = e.partition_id AND s.entity_type = e.entity_type
          AND s.entity_id = e.entity_id AND s.status = 'valid' AND s.as_of_sequence >= e.sequence)
"""

KEPT = """
SELECT partition_id, entity_type, entity_id, as_of_sequence, version, fold_version, state
  FROM mnemon.entity_snapshots
 WHERE tenant_id = %s AND status = 'valid' AND (partition_id, entity_type, entity_id, as_of_sequence) > (%s, %s, %s, %s)
 ORDER BY partition_id, entity_type, entity_id, as_of_sequence LIMIT 100
"""


@dataclass(frozen=True, slots=True)
class Entity:
    """Whose state it is."""

    tenant: UUID
    legal_entity: str
    entity_type: str
    entity_id: str


@dataclass(frozen=True, slots=True)
class EntitySnapshot:
    """A state, how many events are in it, the last of them, and the latest effective date among them."""

    state: FoldState
    version: int = 0
    sequence: int = 0
    point: date = date.min


async def kept_in(connection: Connection, tenant: UUID, after: Sequence[object]) -> list[dict[str, Any]]:
    """The next valid snapshots after this place."""
    return await (await connection.execute(KEPT, (tenant, *after))).fetchall()


async def newest_in(
    connection: Connection, entity: Entity, fold_version: int, through: int
) -> tuple[int | None, EntitySnapshot | None]:
    """The number of the entity's partition, and its newest valid snapshot up to a sequence, as far as there are any."""
    values = {
        "tenant": entity.tenant, "legal_entity": entity.legal_entity, "type": entity.entity_type,
        "id": entity.entity_id, "fold": fold_version, "through": through,
    }  # fmt: skip
    row = await (await connection.execute(NEWEST, values)).fetchone()
    if row is None:
        return None, None
    if row["as_of_sequence"] is None:
        return row["partition_id"], None
    snapshot = EntitySnapshot(row["state"], row["version"], row["as_of_sequence"], row["as_of_point"])
    return row["partition_id"], snapshot


async def save_in(
    connection: Connection, entity: Entity, partition_id: int, snapshot: EntitySnapshot, fold_version: int
) -> None:
    values = _keys(entity, partition_id) | {
        "sequence": snapshot.sequence, "version": snapshot.version, "fold": fold_version, "point": snapshot.point,
        "state": Jsonb(snapshot.state),
    }  # fmt: skip
    await connection.execute(SAVE, values)
    await connection.execute(THIN_OUT, values)


async def mark_stale_in(
    connection: Connection, entity: Entity, partition_id: int, sequence: int, effective: date
) -> None:
    """An event was recorded with an earlier effective date than snapshots before it hold."""
    values = _keys(entity, partition_id) | {"sequence": sequence, "effective": effective}
    await connection.execute(MARK_STALE, values)


async def forget_in(connection: Connection, tenant: UUID, subject_id: str) -> None:
    """Delete the snapshots of every entity that a person's events name."""
    await connection.execute(FORGET, {"tenant": tenant, "subject": subject_id})


async def forget_event_in(connection: Connection, tenant: UUID, partition_id: int, sequence: int) -> None:
    """Delete the snapshots of every entity that an event names."""
    values = {"tenant": tenant, "partition": partition_id, "sequence": sequence}
    await connection.execute(FORGET_EVENT, values)


async def covered_in(connection: Connection, tenant: UUID, partition_id: int, types: list[str]) -> int:
    """The sequence up to which every entity of these types has a valid snapshot."""
    values = {"tenant": tenant, "partition": partition_id, "types": types}
    await connection.execute(MARK_ALL_STALE, values)
    row = await (await connection.execute(COVERED, values)).fetchone()
    assert row is not None
    return int(row["covered"])


async def uncovered_in(
    connection: Connection, tenant: UUID, partition: tuple[int, str], types: list[str], through: int
) -> list[Entity]:
    """The entities with an event up to a sequence that no valid snapshot holds."""
    values = {"tenant": tenant, "partition": partition[0], "types": types, "through": through}
    await connection.execute(MARK_ALL_STALE, values)
    rows = await (await connection.execute(UNCOVERED, values)).fetchall()
    return [Entity(tenant, partition[1], **row) for row in rows]


def _keys(entity: Entity, partition_id: int) -> dict[str, Any]:
    return {
        "tenant": entity.tenant,
        "partition": partition_id,
        "type": entity.entity_type,
        "id": entity.entity_id,
    }
