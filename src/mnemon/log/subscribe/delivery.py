"""Delivery to a handler: each partition of a subscription in order, at least once, under a lease."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from mnemon.log.events import Event
from mnemon.log.read.pattern import ALL_EVENTS, find_next
from mnemon.log.store import EventLog
from mnemon.log.subscribe.dispatch import Dispatch
from mnemon.log.subscribe.failures import count_in, describe, recover_in
from mnemon.log.subscribe.handling import DEAD, FAILED, EventHandler, attempt, count_delivered
from mnemon.log.subscribe.leases import Lease, LeaseLost, held, take
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.parking import (
    MOST_PARKED,
    Parked,
    entities_of,
    failed,
    let_wait_in,
    park_in,
    parked_in,
    unpark_in,
    waiting,
)
from mnemon.log.subscribe.ready import Ready
from mnemon.telemetry import logger

# The cursor is written at the end of a batch, and within a slow one this often. What came after comes again on a crash.
SETTLE_SECONDS = 0.1

log = logger(__name__)


class Delivery(Dispatch):
    """Calls `handler(event)` at least once for every event, in order per partition.

    `async with Delivery(log, tenant, subscription_id, handler)` delivers in the background.
    """

    def __init__(
        self,
        events: EventLog,
        tenant: UUID,
        subscription_id: str,
        handler: EventHandler,
        *,
        limits: DeliveryLimits | None = None,
    ) -> None:
        chosen = limits or events.delivery

        async def run_partition(ready: Ready) -> bool:
            return await PartitionDelivery(events, ready, handler, chosen, self.stopping).run()

        super().__init__(events, tenant, subscription_id, chosen, run_partition)


@dataclass
class PartitionDelivery:
    """One stretch of work on one partition, until there is nothing more to do or someone else should do it."""

    events: EventLog
    ready: Ready
    handler: EventHandler
    limits: DeliveryLimits
    stopping: asyncio.Event
    _waiting: list[Parked] = field(default_factory=list)
    _delivered: list[Event] = field(default_factory=list)
    _held_entities: set[tuple[str, str]] = field(default_factory=set)
    _parked: int = 0
    _progressed: bool = False

    async def run(self) -> bool:
        """True if anything was done."""
        lease = await take(
            self.events.database, self.ready.tenant, self.ready.subscription_id, self.ready.partition_id,
            self.limits.lease_seconds,
        )  # fmt: skip
        if lease is None:
            return False
        self._lease: Lease = lease
        self._status: str = self.ready.status
        self._shaken = self.ready.shaken
        async with held(self.events.database, lease):
            try:
                await self._retry_parked()
                while self._may_go_on() and await self._deliver_batch():
                    pass
            except LeaseLost:
                log.info("subscription.taken_over", **self._names)
        return self._progressed

    async def _deliver_batch(self) -> bool:
        """Deliver the next events; False if there are none, or it should stop."""
        if self._parked >= MOST_PARKED:
            return False
        lease = self._lease
        found = await find_next(
            self.events.reader, lease.tenant, self.ready.pattern, (lease.partition_id, self.ready.legal_entity),
            after=lease.sequence, head=lease.head, limit=self.limits.batch_events,
        )  # fmt: skip
        if found.searched_to == lease.sequence:
            return False
        now = asyncio.get_running_loop().time
        settled_at = now()
        for event in found.events:
            if not await self._pass_on(event):
                return False
            if now() - settled_at > SETTLE_SECONDS:
                await self._settle(event.sequence)
                settled_at = now()
                if not self._may_go_on():
                    return False
        await self._settle(found.searched_to)
        return True

    async def _pass_on(self, event: Event) -> bool:
        """Have the event handled, or put it behind the one it must wait for; False if nothing more can be done."""
        entities = entities_of(event)
        if not entities.isdisjoint(self._held_entities):
            self._hold(entities)
            self._waiting.append(waiting(event))
            return True
        failure = await attempt(self.handler, event, self.limits.event_seconds)
        if failure is None:
            await self._handled(event)
            return True
        error = self._describe(event, failure)
        if self.ready.failure_holds == "partition":
            await self._stumble(event, error)
            return False
        await self._park(event, failed(event, 1, self.limits.failures, error), event.sequence)
        return self._may_go_on()

    async def _retry_parked(self) -> None:
        """Go through what is parked, in order: each is tried if it is its turn and nothing before it holds it."""
        lease = self._lease
        for one in await self._list_parked():
            turn = one.state == "waiting" or (one.state == "retrying" and one.due)
            if not turn or not one.entities.isdisjoint(self._held_entities) or not self._may_go_on():
                self._hold(one.entities)
                self._parked += 1
                continue
            event = await self._read(one.sequence)
            failure = await attempt(self.handler, event, self.limits.event_seconds)
            if failure is None:
                await self._handled(event)
                async with self.events.database.transaction(lease.tenant) as connection:
                    self._status = await lease.advance_in(connection, lease.sequence)
                    await unpark_in(connection, lease.tenant, lease.subscription_id, lease.partition_id, one.sequence)
                continue
            error = self._describe(event, failure)
            await self._park(event, failed(event, one.attempts + 1, self.limits.failures, error), lease.sequence)

    async def _list_parked(self) -> Sequence[Parked]:
        lease = self._lease
        async with self.events.database.transaction(lease.tenant) as connection:
            parked = await parked_in(connection, lease.tenant, lease.subscription_id, lease.partition_id)
            if parked:
                await let_wait_in(connection, lease.tenant, lease.subscription_id, lease.partition_id)
        return parked

    async def _read(self, sequence: int) -> Event:
        place = self._lease.partition_id, self.ready.legal_entity
        found = await find_next(
            self.events.reader, self._lease.tenant, ALL_EVENTS, place, after=sequence - 1, head=sequence, limit=1
        )
        return found.events[0]

    async def _handled(self, event: Event) -> None:
        self._delivered.append(event)
        self._progressed = True
        if self._shaken:
            async with self.events.database.transaction(self._lease.tenant) as connection:
                await recover_in(connection, self._lease.tenant, self._lease.subscription_id)
            self._shaken, self._status = False, "active"

    async def _settle(self, sequence: int) -> None:
        """Move the cursor, with those that wait parked in the same transaction."""
        lease = self._lease
        async with self.events.database.transaction(lease.tenant) as connection:
            self._status = await lease.advance_in(connection, sequence)
            for one in self._waiting:
                await park_in(connection, lease.tenant, lease.subscription_id, lease.partition_id, one, 0)
        self._settled()

    async def _park(self, event: Event, one: Parked, sequence: int) -> None:
        """Set a failed event aside and move the cursor on."""
        lease = self._lease
        pause = self.limits.retry_after(one.attempts)
        async with self.events.database.transaction(lease.tenant) as connection:
            await lease.advance_in(connection, sequence)
            for other in (*self._waiting, one):
                await park_in(connection, lease.tenant, lease.subscription_id, lease.partition_id, other, pause)
            self._status = await count_in(
                connection, lease.tenant, lease.subscription_id, event, one.error or "", self.limits
            )
        self._settled()
        self._parked += 1
        self._hold(one.entities)
        self._failed(one.state == "dead", event, one.error or "", one.attempts)

    async def _stumble(self, event: Event, error: str) -> None:
        """Leave the cursor before the failed event, which is tried again after a pause; then the circuit breaks."""
        lease = self._lease
        async with self.events.database.transaction(lease.tenant) as connection:
            if event.sequence - 1 > lease.sequence:
                await lease.advance_in(connection, event.sequence - 1)
            attempts = await lease.stumble_in(connection, self.limits.retry_after(lease.attempts + 1))
            self._status = await count_in(
                connection, lease.tenant, lease.subscription_id, event, error, self.limits,
                stuck=attempts >= self.limits.failures,
            )  # fmt: skip
        self._settled()
        self._failed(False, event, error, attempts)

    def _settled(self) -> None:
        count_delivered(self._lease.subscription_id, self._delivered)
        self._parked += len(self._waiting)
        self._delivered, self._waiting = [], []
        self._progressed = True

    def _failed(self, dead: bool, event: Event, error: str, attempts: int) -> None:
        self._shaken = True
        FAILED.labels(self._lease.subscription_id).inc()
        if dead:
            DEAD.labels(self._lease.subscription_id).inc()
        log.warning(
            "subscription.dead_letter" if dead else "subscription.failed",
            **self._names, event_id=event.id, sequence=event.sequence, attempts=attempts, error=error,
            status=self._status,
        )  # fmt: skip

    def _hold(self, entities: frozenset[tuple[str, str]]) -> None:
        self._held_entities |= entities

    def _describe(self, event: Event, failure: Exception) -> str:
        return describe(self.events.registry, event, failure)

    def _may_go_on(self) -> bool:
        """A circuit that is broken lets one event through to see; with that handled it is whole again."""
        probing = self._status == "broken" and self._status == self.ready.status and not self._progressed
        return (self._status == "active" or probing) and not self.stopping.is_set()

    @property
    def _names(self) -> dict[str, str]:
        return {
            "subscription": self.ready.subscription_id,
            "tenant_id": str(self.ready.tenant),
            "legal_entity": self.ready.legal_entity,
        }
