"""Dispatch: works on a subscription's partitions, waking when the log grows and polling when nothing wakes it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self
from uuid import UUID

from mnemon.log.store import EventLog
from mnemon.log.subscribe.lag import note_lag
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.ready import Ready, look
from mnemon.tasks import end
from mnemon.telemetry import logger

RunPartition = Callable[[Ready], Awaitable[bool]]

log = logger(__name__)


class Dispatch:
    """Works on one subscription in this process. Use `async with`, or `run` until cancelled.

    Any number of processes may work on the same subscription: each partition is worked on by one at a time.
    """

    def __init__(
        self,
        events: EventLog,
        tenant: UUID,
        subscription_id: str,
        limits: DeliveryLimits,
        run_partition: RunPartition,
    ) -> None:
        self._events = events
        self._tenant = tenant
        self._subscription_id = subscription_id
        self._limits = limits
        self._run_partition = run_partition
        self._slots = asyncio.Semaphore(limits.partitions_at_once)
        self._running: dict[int, asyncio.Task[None]] = {}
        self._loop: asyncio.Task[None] | None = None
        self.stopping = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._events.subscriptions.find(self._tenant, self._subscription_id)
        self._loop = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.stop()

    @property
    def is_idle(self) -> bool:
        """Whether no partition is worked on in this process."""
        return not self._running

    async def run(self) -> None:
        """Work for ever."""
        with self._events.arrivals.watch() as signal:
            while not self.stopping.is_set():
                signal.clear()
                try:
                    await self._start_ready(signal.set)
                except Exception as failure:
                    log.warning("subscription.look_failed", subscription=self._subscription_id, error=str(failure))
                await signal.wait(self._limits.poll_seconds)

    async def catch_up(self) -> bool:
        """Do what there is to do now, and return when nothing is left to do at once; True if anything was done."""
        worked = False
        again = asyncio.Event()
        while True:
            await self._start_ready(again.set)
            await asyncio.gather(*self._running.values())
            if not again.is_set():
                return worked
            again.clear()
            worked = True

    async def stop(self, grace_seconds: float = 5.0) -> None:
        """Let events that are being handled finish, for a while; then those are cut short and come again."""
        self.stopping.set()
        if self._loop is not None:
            await _cut_short(self._loop)
            self._loop = None
        if self._running:
            await asyncio.wait(self._running.values(), timeout=grace_seconds)
        for task in tuple(self._running.values()):
            await _cut_short(task)

    async def _start_ready(self, progressed: Callable[[], None]) -> None:
        ready, lag = await look(self._events.database, self._tenant, self._subscription_id)
        note_lag(self._tenant, self._subscription_id, lag)
        for one in ready:
            if one.partition_id not in self._running:
                self._running[one.partition_id] = asyncio.create_task(self._work_on(one, progressed))

    async def _work_on(self, ready: Ready, progressed: Callable[[], None]) -> None:
        try:
            async with self._slots:
                worked = await self._run_partition(ready)
        except Exception as failure:
            # The database, most likely; the loop looks again after its poll interval.
            log.warning(
                "subscription.interrupted", subscription=self._subscription_id, error=str(failure), exc_info=True
            )
            worked = False
        finally:
            del self._running[ready.partition_id]
        if worked:
            # Something may have come between the last look and now, when others still saw this partition as taken.
            progressed()


async def _cut_short(task: asyncio.Task[None]) -> None:
    await end(task)
