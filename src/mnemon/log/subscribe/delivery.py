"""Delivery to a handler: each partition of a subscription in order, at least once, under a lease."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.read.pattern import event_at, find_next
from mnemon.log.store import EventLog
from mnemon.log.subscribe.cursors import Cursor, CursorLost, held, take
from mnemon.log.subscribe.dispatch import Dispatch
from mnemon.log.subscribe.failures import describe, recover_in
from mnemon.log.subscribe.handling import DEAD, FAILED, EventHandler, attempt, count_delivered, label_of
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.parking import (
    MOST_PARKED,
    HeldEntities,
    Parked,
    entities_of,
    let_wait_in,
    list_parked_in,
    park_in,
    unpark_in,
    waiting,
)
from mnemon.log.subscribe.ready import Ready
from mnemon.log.subscribe.settling import Rejected, put_aside_in, put_off_in
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
    _held: HeldEntities = field(default_factory=HeldEntities)
    _parked: int = 0
    _progressed: bool = False

    async def run(self) -> bool:
        """True if anything was done."""
        cursor = await take(self.events.database, self.ready.cursor, self.limits.lease_seconds)
        if cursor is None:
            return False
        self._cursor: Cursor = cursor
        self._status: str = self.ready.status
        self._shaken = self.ready.shaken
        async with held(self.events.database, cursor):
            try:
                await self._retry_parked()
                while self._may_go_on() and await self._deliver_batch():
                    pass
            except CursorLost:
                log.info("subscription.taken_over", **self._names)
        return self._progressed

    async def _deliver_batch(self) -> bool:
        """Deliver the next events; False if there are none, or it should stop."""
        if self._parked >= MOST_PARKED:
            return False
        cursor = self._cursor
        found = await find_next(
            self.events.reader, cursor.tenant, self.ready.pattern, (cursor.partition_id, self.ready.legal_entity),
            after=cursor.sequence, head=cursor.head, limit=self.limits.batch_events,
        )  # fmt: skip
        if found.searched_to == cursor.sequence:
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
        if self._held.hold_up(entities_of(event)):
            self._waiting.append(waiting(event))
            return True
        failure = await attempt(self.handler, event, self.limits.event_seconds)
        if failure is None:
            await self._handled(event)
            return True
        error = self._describe(event, failure)
        if self.ready.failure_holds == "partition":
            await self._put_off(event, error)
            return False
        await self._put_aside(event, 1, error, event.sequence)
        return self._may_go_on()

    async def _retry_parked(self) -> None:
        """Go through what is parked, in order: each is tried if it is its turn and nothing before it holds it."""
        cursor = self._cursor
        for one in await self._list_parked():
            if not one.may_be_tried or self._held.hold_up(one.entities) or not self._may_go_on():
                self._held.add(one.entities)
                self._parked += 1
                continue
            place = cursor.partition_id, self.ready.legal_entity
            event = await event_at(self.events.reader, cursor.tenant, place, one.sequence)
            failure = await attempt(self.handler, event, self.limits.event_seconds)
            if failure is None:
                await self._handled(event)
                async with self.events.database.transaction(cursor.tenant) as connection:
                    self._status = await cursor.advance_in(connection, cursor.sequence)
                    await unpark_in(connection, cursor, one.sequence)
                continue
            await self._put_aside(event, one.attempts + 1, self._describe(event, failure), cursor.sequence)

    async def _list_parked(self) -> Sequence[Parked]:
        async with self.events.database.transaction(self._cursor.tenant) as connection:
            parked = await list_parked_in(connection, self._cursor)
            if parked:
                await let_wait_in(connection, self._cursor)
        return parked

    async def _handled(self, event: Event) -> None:
        self._delivered.append(event)
        self._progressed = True
        if self._shaken:
            async with self.events.database.transaction(self._cursor.tenant) as connection:
                await recover_in(connection, self._cursor.tenant, self._cursor.subscription_id)
            self._shaken, self._status = False, "active"

    async def _settle(self, sequence: int) -> None:
        """Move the cursor, with those that wait parked in the same transaction."""
        async with self.events.database.transaction(self._cursor.tenant) as connection:
            self._status = await self._move_in(connection, sequence)
        self._settled()

    async def _move_in(self, connection: Connection, sequence: int) -> str:
        status = await self._cursor.advance_in(connection, sequence)
        for one in self._waiting:
            await park_in(connection, self._cursor, one, 0)
        return status

    async def _put_aside(self, event: Event, attempts: int, error: str, sequence: int) -> None:
        """Park a failed event and move the cursor on."""
        async with self.events.database.transaction(self._cursor.tenant) as connection:
            await self._move_in(connection, sequence)
            rejected = await put_aside_in(connection, self._cursor, event, attempts, error, self.limits)
        self._settled()
        self._parked += 1
        self._held.add(entities_of(event))
        self._failed(rejected, event, error)

    async def _put_off(self, event: Event, error: str) -> None:
        """Leave the cursor before a failed event, which is tried again after a pause."""
        async with self.events.database.transaction(self._cursor.tenant) as connection:
            rejected = await put_off_in(connection, self._cursor, event, error, self.limits)
        self._settled()
        self._failed(rejected, event, error)

    def _settled(self) -> None:
        count_delivered(self._cursor.subscription_id, self._delivered)
        self._parked += len(self._waiting)
        self._delivered, self._waiting = [], []
        self._progressed = True

    def _failed(self, rejected: Rejected, event: Event, error: str) -> None:
        self._shaken, self._status = True, rejected.status
        dead = rejected.state == "dead"
        FAILED.labels(label_of(self._cursor.subscription_id)).inc()
        if dead:
            DEAD.labels(label_of(self._cursor.subscription_id)).inc()
        log.warning(
            "subscription.dead_letter" if dead else "subscription.failed",
            **self._names, event_id=event.id, sequence=event.sequence, attempts=rejected.attempts, error=error,
            status=self._status,
        )  # fmt: skip

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
