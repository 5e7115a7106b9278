"""What the suites of subscribers share: handlers that remember, fail or block on demand, and bounded waits."""

import asyncio
from collections.abc import AsyncIterator, Callable
from uuid import UUID

from mnemon.log.events import Event
from mnemon.log.store import EventLog
from mnemon.log.subscribe.limits import DeliveryLimits
from tests.patience import PATIENCE

# Leases hold as long as any test waits: nobody is taken for dead because the machine was busy.
QUICK = DeliveryLimits(poll_seconds=5, retry_seconds=0, breaker_failures=1000, lease_seconds=PATIENCE)
# Polls come too late for any test: one that passes has been woken.
WOKEN = DeliveryLimits(poll_seconds=10 * PATIENCE, retry_seconds=0, breaker_failures=1000, lease_seconds=PATIENCE)
POLLING = DeliveryLimits(poll_seconds=0.05, retry_seconds=0, breaker_failures=1000, lease_seconds=PATIENCE)


class Recorder:
    """A handler that remembers what it was given and fails where it is told to."""

    def __init__(self, fails: Callable[[Event], bool] = lambda event: False) -> None:
        self.seen: list[Event] = []
        self.handled: list[Event] = []
        self.fails = fails
        self._changed = asyncio.Condition()

    async def __call__(self, event: Event) -> None:
        self.seen.append(event)
        if self.fails(event):
            raise ValueError(f"cannot handle {event.data.get('number', event.type)}")
        async with self._changed:
            self.handled.append(event)
            self._changed.notify_all()

    async def until(self, amount: int) -> None:
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: len(self.handled) >= amount)

    @property
    def numbers(self) -> list[str]:
        return [event.data["number"] for event in self.handled]


async def first(events: AsyncIterator[Event], amount: int) -> list[Event]:
    found: list[Event] = []
    async with asyncio.timeout(PATIENCE):
        async for event in events:
            found.append(event)
            if len(found) == amount:
                break
    await events.aclose()  # type: ignore[attr-defined]
    return found


async def cursor_of(log: EventLog, tenant: UUID, subscription_id: str, legal_entity: str = "main") -> int:
    positions = await log.subscriptions.positions(tenant, subscription_id)
    return next(one.sequence for one in positions if one.legal_entity == legal_entity)
