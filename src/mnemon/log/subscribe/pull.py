"""Pulling: a subscriber fetches or claims its next events and settles them, at its own pace."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

from mnemon.db.database import Database
from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.events import Event
from mnemon.log.read.arrivals import Arrivals
from mnemon.log.read.reader import LARGEST_PAGE, LogReader
from mnemon.log.subscribe.failures import hide_personal
from mnemon.log.subscribe.gathering import Batch, BatchRequest, Gathering
from mnemon.log.subscribe.handling import DEAD, FAILED, label_of
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.positions import positions_in
from mnemon.log.subscribe.settling import Rejected, acknowledge_in, reject_in
from mnemon.log.subscribe.subscriptions import find_in, refuse_lens
from mnemon.log.types.registry import Registry

LONGEST_WAIT = 60.0
LONGEST_CLAIM = 3600.0


class Pull:
    """Fetching and settling. What is not settled comes again."""

    def __init__(
        self, database: Database, reader: LogReader, registry: Registry, arrivals: Arrivals, limits: DeliveryLimits
    ) -> None:
        self._database = database
        self._reader = reader
        self._registry = registry
        self._arrivals = arrivals
        self._limits = limits

    async def fetch(
        self, tenant: UUID, subscription_id: str, *, limit: int | None = None, wait_seconds: float = 0.0
    ) -> Batch:
        """The next events after the cursor, in order per partition; waits for the first one if told to.

        Others may fetch the same; what someone has claimed is left out. A paused or broken subscription yields nothing.
        """
        return await self._wait(tenant, subscription_id, BatchRequest(self._limit(limit)), wait_seconds)

    async def claim(
        self,
        tenant: UUID,
        subscription_id: str,
        holder: str,
        *,
        seconds: float = 30.0,
        limit: int | None = None,
        wait_seconds: float = 0.0,
    ) -> Batch:
        """The same for one holder alone: nobody else is given these partitions until all of the batch is settled, the
        holder finds nothing more, or the time runs out."""
        refuse_lens(subscription_id)
        if not 0 < seconds <= LONGEST_CLAIM:
            raise InvalidRequest(f"A claim is for up to {LONGEST_CLAIM:.0f} s, not {seconds}.", seconds=seconds)
        wanted = BatchRequest(self._limit(limit), holder, timedelta(seconds=seconds))
        return await self._wait(tenant, subscription_id, wanted, wait_seconds)

    async def stream(self, tenant: UUID, subscription_id: str) -> AsyncIterator[Event]:
        """The events after the cursor and those to come, each once per call; settle them as they are handled."""
        wanted = BatchRequest(self._limits.batch_events, passed={})
        with self._arrivals.watch() as signal:
            await self._arrivals.listening(self._limits.poll_seconds)
            while True:
                signal.clear()
                batch = await self._look(tenant, subscription_id, wanted)
                for event in batch.events:
                    yield event
                if not batch.has_more:
                    await signal.wait(self._limits.poll_seconds)

    async def acknowledge(
        self, tenant: UUID, subscription_id: str, legal_entity: str, sequence: int, *, token: int | None = None
    ) -> int:
        """Say that everything up to a sequence is handled; returns where the cursor is. It never goes back.

        With the batch's token, an acknowledgement from before a reset is refused instead of undoing it. An event that
        failed before is not meant unless it is the very one that is named.
        """
        refuse_lens(subscription_id)
        async with self._database.transaction(tenant) as connection:
            return await acknowledge_in(connection, tenant, subscription_id, legal_entity, sequence, token)

    async def acknowledge_event(
        self, tenant: UUID, subscription_id: str, event_id: str, sequence: int, *, token: int | None = None
    ) -> int:
        """The same, with the event named by its id too; the two must agree."""
        event = await self._named(tenant, event_id, sequence)
        return await self.acknowledge(tenant, subscription_id, event.legal_entity, sequence, token=token)

    async def reject(
        self, tenant: UUID, subscription_id: str, event_id: str, sequence: int, error: str, *, token: int | None = None
    ) -> Rejected:
        """Say that an event could not be handled, and everything before it was. It comes again after a pause, until it
        has failed too often and is a dead letter. The rest of the batch is void: fetch again."""
        refuse_lens(subscription_id)
        event = await self._named(tenant, event_id, sequence)
        hidden = hide_personal(self._registry, event, error)
        async with self._database.transaction(tenant) as connection:
            rejected = await reject_in(connection, tenant, subscription_id, event, hidden, token, self._limits)
        FAILED.labels(label_of(subscription_id)).inc()
        if rejected.state == "dead":
            DEAD.labels(label_of(subscription_id)).inc()
        return rejected

    async def _named(self, tenant: UUID, event_id: str, sequence: int) -> Event:
        event = await self._reader.by_id(tenant, event_id)
        if event.sequence != sequence:
            raise Conflict(
                f"Event {event_id} is at sequence {event.sequence}, not {sequence}: settle what was delivered.",
                id=event_id,
            )
        return event

    def _limit(self, limit: int | None) -> int:
        limit = self._limits.batch_events if limit is None else limit
        if not 1 <= limit <= LARGEST_PAGE:
            raise InvalidRequest(f"A batch has 1 to {LARGEST_PAGE} events, not {limit}.", limit=limit)
        return limit

    async def _wait(self, tenant: UUID, subscription_id: str, wanted: BatchRequest, wait_seconds: float) -> Batch:
        if not 0 <= wait_seconds <= LONGEST_WAIT:
            raise InvalidRequest(f"A wait is 0 to {LONGEST_WAIT:.0f} s, not {wait_seconds}.", wait=wait_seconds)
        deadline = asyncio.get_running_loop().time() + wait_seconds
        with self._arrivals.watch() as signal:
            while True:
                signal.clear()
                batch = await self._look(tenant, subscription_id, wanted)
                left = deadline - asyncio.get_running_loop().time()
                if batch.events or (left <= 0 and not batch.has_more):
                    return batch
                if not batch.has_more:
                    await signal.wait(min(left, self._limits.poll_seconds))

    async def _look(self, tenant: UUID, subscription_id: str, wanted: BatchRequest) -> Batch:
        async with self._database.transaction(tenant) as connection:
            subscription = await find_in(connection, tenant, subscription_id)
            positions = await positions_in(connection, tenant, subscription_id, subscription.pattern)
        return await Gathering(self._database, self._reader, tenant, subscription, wanted).look(positions)
