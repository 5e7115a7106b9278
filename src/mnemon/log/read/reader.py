"""Reading: single events and pages of streams."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from psycopg.rows import tuple_row

from mnemon.db.database import Connection, Database
from mnemon.errors import InvalidRequest
from mnemon.log.errors import EventNotFound
from mnemon.log.events import MAIN, Event
from mnemon.log.partitions import Partitions
from mnemon.log.privacy.seal import Seal
from mnemon.log.read.select import COLUMNS, select_stream
from mnemon.log.read.streams import EVERYTHING, NO_FILTER, Direction, Filter, Stream, read_cursor, write_cursor
from mnemon.log.types.registry import Registry

LARGEST_PAGE = 1000
SCAN_BATCH = 500
# A reader that never waits would keep the event loop to itself, and the next page from arriving: it sleeps for no time
# before every so many items.
ITEMS_PER_TURN = 32

Item = TypeVar("Item")

BY_ID = f"""
SELECT {COLUMNS} FROM mnemon.events e
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = ANY(%(partitions)s) AND e.id = %(id)s
"""
# Streams are walked along their B-trees. Left to its estimates, which multiply the odds of tenant, partition and
# stream as if they had nothing to do with each other, the planner would collect and sort a stream to give one page.
WALK = """
SELECT mnemon.enter_tenant(%s), mnemon.know_partitions(), set_config('enable_sort', 'off', true),
       set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
"""
VERSION = "SELECT mnemon.entity_version(%s, %s, %s, %s) AS version"


@dataclass(frozen=True, slots=True)
class StreamPage:
    """A piece of a stream, and the cursor to go on with if there is more."""

    events: Sequence[Event]
    next_cursor: str | None

    @property
    def has_more(self) -> bool:
        return self.next_cursor is not None


class LogReader:
    """Reads a tenant's log under row-level security."""

    def __init__(self, database: Database, partitions: Partitions, registry: Registry, seal: Seal) -> None:
        self._database = database
        self._partitions = partitions
        self._registry = registry
        self._seal = seal

    @asynccontextmanager
    async def transaction(self, tenant: UUID) -> AsyncIterator[Connection]:
        """A tenant's transaction whose plans suit the reading of streams."""
        async with self._database.session() as connection, connection.transaction():
            await connection.execute(WALK, (str(tenant),))
            yield connection

    async def by_id(
        self, tenant: UUID, event_id: str, legal_entity: str | None = None, *, opened: bool = True
    ) -> Event:
        """One event, wherever in the tenant's log it is."""
        async with self.transaction(tenant) as connection:
            names = await self._partitions.names_in(connection, tenant, legal_entity)
            values = {"tenant": tenant, "partitions": list(names), "id": event_id}
            found = await self.fetch_in(connection, tenant, names, BY_ID, values)
        if not found:
            raise EventNotFound(f"There is no event {event_id}.", id=event_id)
        return (await self._seal.open(tenant, found))[0] if opened else found[0]

    async def page(
        self,
        tenant: UUID,
        stream: Stream = EVERYTHING,
        wanted: Filter = NO_FILTER,
        *,
        legal_entity: str = MAIN,
        direction: Direction = "forward",
        cursor: str | None = None,
        limit: int = 100,
        tolerant: bool = False,
    ) -> StreamPage:
        """The next events of a stream after the cursor, or its first ones. For a `tolerant` reader a lost archive costs
        the payloads that were in it, and not the page."""
        if not 1 <= limit <= LARGEST_PAGE:
            raise InvalidRequest(f"A page has 1 to {LARGEST_PAGE} events, not {limit}.", limit=limit)
        start = read_cursor(cursor, legal_entity, stream) if cursor else None
        async with self.transaction(tenant) as connection:
            events = await self.page_in(
                connection, tenant, stream, wanted,
                legal_entity=legal_entity, direction=direction, start=start, limit=limit + 1,
            )  # fmt: skip
        following = write_cursor(legal_entity, stream, events[limit - 1].sequence) if len(events) > limit else None
        return StreamPage(await self._seal.open(tenant, events[:limit], tolerant=tolerant), following)

    async def page_in(
        self,
        connection: Connection,
        tenant: UUID,
        stream: Stream = EVERYTHING,
        wanted: Filter = NO_FILTER,
        *,
        legal_entity: str = MAIN,
        direction: Direction = "forward",
        start: int | None = None,
        limit: int = 100,
    ) -> list[Event]:
        """Up to `limit` events beyond the sequence `start`, still sealed, in a transaction begun by `transaction`."""
        names = await self._partitions.names_in(connection, tenant, legal_entity)
        if not names:
            return []
        selection = select_stream(stream, wanted, direction=direction, start=start, limit=limit)
        values = selection.values | {"tenant": tenant, "partition": next(iter(names)), "partitions": list(names)}
        return await self.fetch_in(connection, tenant, names, selection.statement, values)

    async def scan(
        self, tenant: UUID, *, legal_entity: str = MAIN, after: int = 0, to: int | None = None, opened: bool = True
    ) -> AsyncIterator[Event]:
        """Every event of a partition in order, for replay. Each page is fetched while the one before is used."""

        async def page_after(sequence: int) -> list[Event]:
            async with self.transaction(tenant) as connection:
                return await self.page_in(
                    connection, tenant, EVERYTHING, Filter(to_sequence=to),
                    legal_entity=legal_entity, start=sequence, limit=SCAN_BATCH,
                )  # fmt: skip

        async with aclosing(pages_ahead(page_after, _sequence, after, SCAN_BATCH)) as pages:
            async for page in pages:
                # Taken out one by one: an event that its reader is done with is gone before the next is decoded, so
                # that the collector of cycles, a third of the time otherwise, finds nothing to look at.
                events = list(await self._seal.open(tenant, page) if opened else page)
                page.clear()
                events.reverse()
                while events:
                    if len(events) % ITEMS_PER_TURN == 0:
                        await asyncio.sleep(0)
                    yield events.pop()

    async def version(self, tenant: UUID, entity_type: str, entity_id: str, *, legal_entity: str = MAIN) -> int:
        """How many events an entity has had: what `expected_versions` is compared with."""
        async with self.transaction(tenant) as connection:
            names = await self._partitions.names_in(connection, tenant, legal_entity)
            values = (tenant, next(iter(names), 0), entity_type, entity_id)
            row = await (await connection.execute(VERSION, values)).fetchone()
        assert row is not None
        return int(row["version"])

    async def open(self, tenant: UUID, events: Sequence[Event], *, tolerant: bool = False) -> Sequence[Event]:
        """Events that were read sealed, as their readers may see them."""
        return await self._seal.open(tenant, events, tolerant=tolerant)

    async def partition_names(self, connection: Connection, tenant: UUID) -> dict[int, str]:
        """The legal entity of each partition of the tenant."""
        return await self._partitions.names_in(connection, tenant, None)

    async def archived(self, tenant: UUID, partition_id: int, sequences: Sequence[int]) -> Mapping[int, str]:
        """Payloads that the database does not hold, as stored; less those that cannot be read."""
        return await self._seal.archived(tenant, partition_id, sequences)

    async def fetch_in(
        self, connection: Connection, tenant: UUID, names: dict[int, str], statement: str, values: dict[str, Any]
    ) -> list[Event]:
        """The events that a statement over COLUMNS finds, still sealed."""
        await self._registry.know(tenant, connection)
        lift = self._registry.lifter(tenant)
        async with connection.cursor(binary=True, row_factory=tuple_row) as cursor:
            await cursor.execute(statement, values)
            rows = await cursor.fetchall()
        return [Event(tenant, names[row[0]], *row, lift) for row in rows]  # type: ignore[call-arg]


async def pages_ahead(
    page_after: Callable[[int], Awaitable[list[Item]]], place_of: Callable[[Item], int], after: int, full: int
) -> AsyncGenerator[list[Item], None]:
    """Page after page, up to the first with less than `full` items. `page_after` gets the place of the last item.

    A page is its reader's to take apart.
    """
    ahead = asyncio.ensure_future(page_after(after))
    try:
        while True:
            page = await ahead
            more = len(page) == full
            if more:
                ahead = asyncio.ensure_future(page_after(place_of(page[-1])))
            if page:
                yield page
            if not more:
                return
    finally:
        ahead.cancel()
        await asyncio.gather(ahead, return_exceptions=True)


def _sequence(event: Event) -> int:
    return event.sequence
