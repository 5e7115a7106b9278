"""Lineage: what led to an event, what followed from it, and the whole process it belongs to."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from mnemon.log.errors import EventNotFound
from mnemon.log.events import EntityReference, Event
from mnemon.log.partitions import Partitions
from mnemon.log.read.reader import LogReader
from mnemon.log.read.select import COLUMNS

DEEPEST = 50
LARGEST_TRACE = 10_000

# UNION, not UNION ALL, and the ids passed so far: a cycle ends where it closes.
ANCESTORS = f"""
WITH RECURSIVE line AS (
    SELECT e.partition_id, e.sequence, e.caused_by, 0 AS depth, ARRAY[e.id] AS passed
      FROM mnemon.events e
     WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s) AND e.id = %(id)s
    UNION
    SELECT e.partition_id, e.sequence, e.caused_by, line.depth + 1, line.passed || e.id
      FROM line JOIN mnemon.events e ON e.id = line.caused_by
     WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s)
       AND line.depth < %(depth)s AND e.id <> ALL(line.passed)
)
SELECT {COLUMNS}
  FROM line JOIN mnemon.events e USING (partition_id, sequence)
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s)
 ORDER BY line.depth DESC
"""
DESCENDANTS = f"""
WITH RECURSIVE line AS (
    SELECT e.partition_id, e.sequence, e.id, 1 AS depth, ARRAY[%(id)s, e.id] AS passed
      FROM mnemon.events e
     WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s) AND e.caused_by = %(id)s
    UNION
    SELECT e.partition_id, e.sequence, e.id, line.depth + 1, line.passed || e.id
      FROM line JOIN mnemon.events e ON e.caused_by = line.id
     WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s)
       AND line.depth < %(depth)s AND e.id <> ALL(line.passed)
)
SELECT {COLUMNS}
  FROM (SELECT DISTINCT partition_id, sequence FROM line) AS found
  JOIN mnemon.events e USING (partition_id, sequence)
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s)
 ORDER BY e.recorded_at, e.partition_id, e.sequence
"""
TRACE = f"""
SELECT {COLUMNS}
  FROM mnemon.events e
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s) AND e.correlation_id = %(correlation)s
 ORDER BY e.recorded_at, e.partition_id, e.sequence
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Trace:
    """All events of a business process, over the tenant's partitions, in the order they were recorded."""

    correlation_id: str
    events: Sequence[Event]
    # False if there are more than were read.
    complete: bool = True

    @property
    def duration(self) -> timedelta:
        moments = [event.occurred_at for event in self.events]
        return max(moments) - min(moments) if moments else timedelta()

    @property
    def actors(self) -> list[str]:
        return sorted({event.actor_id for event in self.events})

    @property
    def entities(self) -> list[EntityReference]:
        found = {entity for event in self.events for entity in event.entities}
        return sorted(found, key=lambda one: (one.entity_type, one.entity_id, one.role))

    def as_json(self) -> dict[str, Any]:
        return {
            "correlation_id": self.correlation_id,
            "events": [event.as_json() for event in self.events],
            "process_duration_ms": round(self.duration.total_seconds() * 1000),
            "actors_involved": self.actors,
            "entities_involved": [asdict(one) for one in self.entities],
            "complete": self.complete,
        }


class Lineage:
    """Walks along `caused_by` and `correlation_id`, which may cross partitions of a tenant."""

    def __init__(self, partitions: Partitions, reader: LogReader) -> None:
        self._partitions = partitions
        self._reader = reader

    async def ancestors(self, tenant: UUID, event_id: str, depth: int = DEEPEST) -> Sequence[Event]:
        """The causes of an event, the first one first, the event itself last."""
        found = await self._find(tenant, ANCESTORS, id=event_id, depth=depth)
        if not found:
            raise EventNotFound(f"There is no event {event_id}.", id=event_id)
        return found

    async def descendants(self, tenant: UUID, event_id: str, depth: int = DEEPEST) -> Sequence[Event]:
        """Everything that an event caused, directly or not, in the order it was recorded."""
        return await self._find(tenant, DESCENDANTS, id=event_id, depth=depth)

    async def trace(self, tenant: UUID, correlation_id: str, limit: int = LARGEST_TRACE) -> Trace:
        found = await self._find(tenant, TRACE, correlation=correlation_id, limit=limit + 1)
        return Trace(correlation_id, found[:limit], complete=len(found) <= limit)

    async def _find(self, tenant: UUID, statement: str, **values: str | int) -> Sequence[Event]:
        async with self._reader.transaction(tenant) as connection:
            names = await self._partitions.names_in(connection, tenant, None)
            given = {"tenant": tenant, "partitions": list(names), **values}
            events = await self._reader.fetch_in(connection, tenant, names, statement, given)
        return await self._reader.open(tenant, events)
