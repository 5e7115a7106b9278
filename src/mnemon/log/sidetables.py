"""Whether the tables beside the events still say what the envelopes say: an event left out of a stream is hidden."""

from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import orjson
from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.log.partitions import Partition
from mnemon.log.read import Reader

BATCH = 5_000

# Server-side cursors over both sides, in the same order, so that memory stays flat at any size.
ENVELOPES = """
SELECT sequence, envelope FROM mnemon.events
 WHERE tenant_id = %s AND partition_id = %s AND sequence > %s AND sequence <= %s ORDER BY sequence
"""
SIDE_ROWS = """
SELECT sequence, 'entity ' || entity_type, entity_id FROM mnemon.event_entities
 WHERE tenant_id = %(tenant)s AND partition_id = %(partition)s AND sequence > %(after)s AND sequence <= %(to)s
UNION ALL
SELECT sequence, kind, value FROM mnemon.event_labels
 WHERE tenant_id = %(tenant)s AND partition_id = %(partition)s AND sequence > %(after)s AND sequence <= %(to)s
ORDER BY sequence
"""
WRONG_VERSIONS = """
SELECT sequence, entity_type, entity_id, version, place
  FROM (SELECT sequence, entity_type, entity_id, version,
               row_number() OVER (PARTITION BY entity_id, entity_type ORDER BY sequence) AS place
          FROM mnemon.event_entities WHERE tenant_id = %s AND partition_id = %s) AS counted
 WHERE version <> place AND sequence > %s
 ORDER BY sequence LIMIT 100
"""

Row = tuple[str, str]


async def check_side_tables(
    reader: Reader, tenant: UUID, partition: Partition, after: int
) -> list[tuple[int, str, str]]:
    """Every event whose rows differ, as (sequence, kind, message)."""
    faults = []
    async with reader.transaction(tenant) as connection:
        values = (tenant, partition.partition_id, after, partition.sequence)
        stored = _groups(connection, tenant, partition, after)
        pending = await anext(stored, None)
        async with connection.cursor("envelopes", row_factory=tuple_row) as cursor:
            cursor.itersize = BATCH
            await cursor.execute(ENVELOPES, values)
            async for sequence, envelope in cursor:
                while pending and pending[0] < sequence:
                    faults.append((pending[0], "stream", f"A stream names event {pending[0]}, which is not there."))
                    pending = await anext(stored, None)
                found = pending[1] if pending and pending[0] == sequence else []
                if sorted(found) != sorted(set(attested_rows(envelope))):
                    faults.append((sequence, "stream", f"The streams of event {sequence} differ from its envelope."))
                if pending and pending[0] == sequence:
                    pending = await anext(stored, None)
        faults += await _wrong_versions(connection, tenant, partition, after)
    return faults


async def _groups(
    connection: Connection, tenant: UUID, partition: Partition, after: int
) -> AsyncIterator[tuple[int, list[Row]]]:
    """The side rows of each event."""
    values = {"tenant": tenant, "partition": partition.partition_id, "after": after, "to": partition.sequence}
    async with connection.cursor("side_rows", row_factory=tuple_row) as cursor:
        cursor.itersize = BATCH
        await cursor.execute(SIDE_ROWS, values)
        current, rows = 0, list[Row]()
        async for sequence, kind, value in cursor:
            if sequence != current and rows:
                yield current, rows
                rows = []
            current = sequence
            rows.append((kind, value))
        if rows:
            yield current, rows


def attested_rows(envelope: str) -> list[Row]:
    """The side rows that an envelope calls for."""
    try:
        said: dict[str, Any] = orjson.loads(envelope)
    except orjson.JSONDecodeError:
        return []
    rows = [(f"entity {one['entity_type']}", one["entity_id"]) for one in said.get("entities", ())]
    rows += [("tag", tag) for tag in said.get("tags", ())]
    scope = defaultdict(str, said.get("scope", {}))
    rows += [(name, scope[name]) for name in ("division", "region", "site") if scope[name]]
    rows += [(f"scope.{name}", value) for name, value in (scope["custom_scopes"] or {}).items()]
    if said.get("intent_id"):
        rows.append(("intent", said["intent_id"]))
    return rows


async def _wrong_versions(
    connection: Connection, tenant: UUID, partition: Partition, after: int
) -> list[tuple[int, str, str]]:
    rows = await (await connection.execute(WRONG_VERSIONS, (tenant, partition.partition_id, after))).fetchall()
    return [
        (
            row["sequence"],
            "version",
            f"{row['entity_type']} {row['entity_id']} is said to be at version {row['version']} "
            f"after event {row['sequence']}, which is its event number {row['place']}.",
        )
        for row in rows
    ]
