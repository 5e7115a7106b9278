"""Following the log live, in this process, with no position kept."""

from collections.abc import AsyncIterator, Mapping
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.events import Event
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.read.arrivals import Arrivals
from mnemon.log.read.pattern import ALL_EVENTS, Pattern, find_next
from mnemon.log.read.reader import LogReader

# A follower that is behind catches up in large steps; one that is not gets what there is.
READ_AHEAD = 1000


class Follower:
    """Reads on whenever a partition has grown."""

    def __init__(self, database: Database, reader: LogReader, arrivals: Arrivals) -> None:
        self._database = database
        self._reader = reader
        self._arrivals = arrivals

    async def follow(
        self,
        tenant: UUID,
        pattern: Pattern = ALL_EVENTS,
        *,
        after: Mapping[str, int] | None = None,
        poll_seconds: float = 0.5,
    ) -> AsyncIterator[Event]:
        """Every event that fits, in order within its partition: from now on, or after a sequence per legal entity.

        A legal entity that `after` does not name is followed from its beginning.
        """
        with self._arrivals.watch() as signal:
            await self._arrivals.listening(poll_seconds)
            positions = await self._start(tenant, after)
            while True:
                signal.clear()
                behind = False
                for partition in await self._partitions(tenant, pattern):
                    place = partition.partition_id, partition.legal_entity
                    position = positions.get(partition.partition_id, 0)
                    found = await find_next(
                        self._reader, tenant, pattern, place,
                        after=position, head=partition.sequence, limit=READ_AHEAD,
                    )  # fmt: skip
                    for event in found.events:
                        yield event
                    positions[partition.partition_id] = found.searched_to
                    behind |= found.searched_to < partition.sequence
                if not behind:
                    await signal.wait(poll_seconds)

    async def _start(self, tenant: UUID, after: Mapping[str, int] | None) -> dict[int, int]:
        partitions = await self._partitions(tenant, ALL_EVENTS)
        if after is None:
            return {one.partition_id: one.sequence for one in partitions}
        return {one.partition_id: after.get(one.legal_entity, 0) for one in partitions}

    async def _partitions(self, tenant: UUID, pattern: Pattern) -> list[Partition]:
        async with self._database.transaction(tenant) as connection:
            found = await list_partitions(connection, tenant)
        return [one for one in found if pattern.wants_partition(one.legal_entity)]
