"""The yardstick of the log's benchmark: bare COPY of the same rows into tables of the same form."""

import time
from collections.abc import Iterable
from typing import Any

from mnemon.db.database import Connection, Database, connect

SCRATCH = """
DROP SCHEMA IF EXISTS scratch CASCADE;
CREATE SCHEMA scratch;
CREATE TABLE scratch.events (LIKE mnemon.events_{number} INCLUDING ALL);
CREATE TABLE scratch.event_payloads (LIKE mnemon.event_payloads_{number} INCLUDING ALL);
CREATE TABLE scratch.event_entities (LIKE mnemon.event_entities INCLUDING ALL);
"""
COPIED = {
    "events": ["uuid", "int4", "int8", "text", "text", "timestamptz", "date", "timestamptz", "text", "text", "text",
               "text", "bytea", "bytea", "bytea"],
    "event_payloads": ["uuid", "int4", "int8", "text"],
    "event_entities": ["uuid", "int4", "int4", "int8", "text", "text"],
}  # fmt: skip


class BareCopy:
    """The same rows into tables of the same form by COPY, with nothing checked, hashed or looked up."""

    def __init__(self, connection: Connection, rows: dict[str, list[list[tuple[Any, ...]]]]) -> None:
        self._connection = connection
        self._rows = rows
        self._next = 0

    @classmethod
    async def prepare(cls, database: Database, number: int, batches: int) -> "BareCopy":
        """Rows as the log itself wrote them into the partition of this number."""
        connection = await connect(database.server, database.server.owner_conninfo)
        rows: dict[str, list[list[tuple[Any, ...]]]] = {}
        await connection.execute(SCRATCH.format(number=number))
        for table in COPIED:
            found = await connection.execute(
                f"SELECT * FROM mnemon.{table} WHERE partition_id = {number} AND sequence <= {batches * 100} "
                "ORDER BY sequence", binary=True
            )  # fmt: skip
            split: list[list[tuple[Any, ...]]] = [[] for _ in range(batches)]
            for row in await found.fetchall():
                split[(row["sequence"] - 1) // 100].append(tuple(row.values()))
            rows[table] = split
        return cls(connection, rows)

    async def batches(self, count: int) -> float:
        """Events per second; starts over in empty tables when all rows are in."""
        if self._next + count > len(self._rows["events"]):
            await self.empty()
        began = time.perf_counter()
        for number in range(self._next, self._next + count):
            async with self._connection.transaction():
                for table, types in COPIED.items():
                    await self._copy(table, types, self._rows[table][number])
        self._next += count
        return count * 100 / (time.perf_counter() - began)

    async def empty(self) -> None:
        await self._connection.execute("TRUNCATE scratch.events, scratch.event_payloads, scratch.event_entities")
        self._next = 0

    async def _copy(self, table: str, types: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
        statement = f"COPY scratch.{table} FROM STDIN (FORMAT BINARY)"
        async with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(types)
            for row in rows:
                await copy.write_row(row)

    async def close(self) -> None:
        await self._connection.close()
