"""The tables beside the events: what they should say, going by the envelopes, and what they do say.

An event that is left out of a stream is hidden, though its own row is whole.
"""

import asyncio
from bisect import bisect_right
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncServerCursor
from psycopg.rows import TupleRow, tuple_row

from mnemon.db.database import Connection
from mnemon.log.partitions import Partition
from mnemon.log.read.reader import LogReader

FETCH = 5_000

SIDE_ROWS = """
SELECT sequence, 'entity ' || entity_type, entity_id FROM mnemon.event_entities
 WHERE tenant_id = %(tenant)s AND partition_id = %(partition)s AND sequence > %(after)s AND sequence <= %(to)s
UNION ALL
SELECT sequence, 'subject ' || subject_id, (SELECT string_agg(field, ' ' ORDER BY field COLLATE "C")
                                              FROM unnest(fields) AS field) FROM mnemon.event_subjects
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

SUBJECT = "subject "
# As `crypto_seal` writes it: in canonical text the part comes last.
PART, MARK, END = "sealed", b'"sealed":{', b"}}}"

# Sequence, kind, value.
SideRow = tuple[Any, ...]


class SideRows:
    """The side rows of a partition in the order of its events, a stretch at a time, so that memory stays flat."""

    def __init__(self, cursor: AsyncServerCursor[TupleRow]) -> None:
        self._cursor = cursor
        self._rows: list[SideRow] = []
        self._coming = self._fetch()

    def _fetch(self) -> asyncio.Task[list[TupleRow]]:
        return asyncio.create_task(self._cursor.fetchmany(FETCH))

    async def upto(self, sequence: int) -> list[SideRow]:
        """The rows of all events up to a sequence that were not given out before."""
        while (more := not self._rows or self._rows[-1][0] <= sequence) and (fetched := await self._coming):
            self._rows += fetched
            self._coming = self._fetch()
        end = bisect_right(self._rows, sequence, key=itemgetter(0)) if not more else len(self._rows)
        found, self._rows = self._rows[:end], self._rows[end:]
        return found

    async def aclose(self) -> None:
        self._coming.cancel()
        await asyncio.gather(self._coming, return_exceptions=True)


@asynccontextmanager
async def side_rows(reader: LogReader, tenant: UUID, partition: Partition, after: int) -> AsyncIterator[SideRows]:
    values = {"tenant": tenant, "partition": partition.partition_id, "after": after, "to": partition.sequence}
    async with (
        reader.transaction(tenant) as connection,
        connection.cursor("side_rows", row_factory=tuple_row) as cursor,
    ):
        await cursor.execute(SIDE_ROWS, values, binary=True)
        async with aclosing(SideRows(cursor)) as rows:
            yield rows


def attested_rows(sequence: int, envelope: dict[str, Any]) -> list[SideRow]:
    """The side rows that an envelope calls for."""
    rows: list[SideRow] = [
        (sequence, "entity " + one["entity_type"], one["entity_id"]) for one in envelope.get("entities", ())
    ]
    rows += [(sequence, "tag", tag) for tag in envelope.get("tags", ())]
    scope = envelope["scope"]
    if len(scope) > 2:
        rows += [(sequence, name, scope[name]) for name in ("division", "region", "site") if name in scope]
        rows += [(sequence, f"scope.{name}", value) for name, value in scope.get("custom_scopes", {}).items()]
    if "intent_id" in envelope:
        rows.append((sequence, "intent", envelope["intent_id"]))
    return rows


def sealed_rows(sequence: int, payload: bytes) -> list[SideRow]:
    """The side rows that the sealed part of a payload calls for: whose personal fields it holds."""
    if not payload.endswith(END) or MARK not in payload:
        return []
    parts: dict[str, Any] = orjson.loads(payload).get(PART, {})
    fields: dict[str, set[str]] = defaultdict(set)
    for who, part in parts.items():
        for one in filter(None, (who, part.get("term"))):
            fields[one].update(part["fields"])
    return [(sequence, f"{SUBJECT}{who}", " ".join(sorted(named))) for who, named in fields.items()]


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
