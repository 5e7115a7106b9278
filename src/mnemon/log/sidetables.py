"""The tables beside the events: what they should say, going by the envelopes, and what they do say.

An event that is left out of a stream is hidden, though its own row is whole.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from psycopg import AsyncServerCursor
from psycopg.rows import TupleRow, tuple_row

from mnemon.db.database import Connection
from mnemon.log.partitions import Partition
from mnemon.log.read import Reader

FETCH = 5_000

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


class SideRows:
    """The side rows of a partition in the order of its events, a stretch at a time, so that memory stays flat."""

    def __init__(self, cursor: AsyncServerCursor[TupleRow]) -> None:
        self._cursor = cursor
        self._ahead: list[TupleRow] = []

    async def upto(self, sequence: int) -> dict[int, list[Row]]:
        """The rows of all events up to a sequence that were not given out before."""
        groups: dict[int, list[Row]] = {}
        while True:
            if not self._ahead:
                self._ahead = await self._cursor.fetchmany(FETCH)
                self._ahead.reverse()
            if not self._ahead or self._ahead[-1][0] > sequence:
                return groups
            while self._ahead and self._ahead[-1][0] <= sequence:
                place, kind, value = self._ahead.pop()
                groups.setdefault(place, []).append((kind, value))


@asynccontextmanager
async def side_rows(reader: Reader, tenant: UUID, partition: Partition, after: int) -> AsyncIterator[SideRows]:
    values = {"tenant": tenant, "partition": partition.partition_id, "after": after, "to": partition.sequence}
    async with (
        reader.transaction(tenant) as connection,
        connection.cursor("side_rows", row_factory=tuple_row) as cursor,
    ):
        await cursor.execute(SIDE_ROWS, values)
        yield SideRows(cursor)


def attested_rows(envelope: dict[str, Any]) -> set[Row]:
    """The side rows that an envelope calls for."""
    rows = {(f"entity {one['entity_type']}", one["entity_id"]) for one in envelope.get("entities", ())}
    rows.update([("tag", tag) for tag in envelope.get("tags", ())])
    scope = envelope["scope"]
    if len(scope) > 2:
        rows.update([(name, scope[name]) for name in ("division", "region", "site") if name in scope])
        rows.update([(f"scope.{name}", value) for name, value in scope.get("custom_scopes", {}).items()])
    if "intent_id" in envelope:
        rows.add(("intent", envelope["intent_id"]))
    return rows


async def wrong_versions(
    connection: Connection, tenant: UUID, partition: Partition, after: int
) -> list[tuple[int, str, str]]:
    """Entities whose versions do not count up, as (sequence, kind, message)."""
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
