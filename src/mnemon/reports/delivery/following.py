"""Following the log for those who want to be told of it, for every tenant, in any number of processes."""

import asyncio
from typing import Self
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.subscriptions import Subscription, add_in, remove_in
from mnemon.reports.delivery.delivering import enqueue_deliveries
from mnemon.tasks import end, for_each
from mnemon.telemetry import logger

SUBSCRIPTION = "recipients"
BEHIND = """
SELECT DISTINCT tenant_id FROM mnemon.tenants_behind(%s)
 WHERE tenant_id IN (SELECT mnemon.tenants_with_recipients())
"""
ANYBODY = "SELECT FROM mnemon.recipients WHERE tenant_id = mnemon.current_tenant() LIMIT 1"
PAUSE = 5.0

log = logger(__name__)


async def begin_following(tx: Connection, tenant: UUID) -> None:
    """From here on: whoever is first to be told is not told of what was before."""
    wanted = Subscription(SUBSCRIPTION, "service", "mnemon.reports", failure_holds="partition")
    await add_in(tx, tenant, wanted, start="now")


async def end_following(tx: Connection, tenant: UUID) -> None:
    """Where nobody is left, the next one begins anew."""
    if await (await tx.execute(ANYBODY)).fetchone() is None:
        await remove_in(tx, tenant, SUBSCRIPTION)


class RecipientFollower:
    """`async with` it to follow in the background."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._for_ever())
        return self

    async def __aexit__(self, *failure: object) -> None:
        if self._task is not None:
            await end(self._task)

    async def catch_up(self) -> None:
        """Leave a job for whatever the log has that somebody wants to be told of. One tenant holds up no other."""
        async with self._events.database.session() as connection:
            rows = await (await connection.execute(BEHIND, ([SUBSCRIPTION],))).fetchall()
        await for_each((row["tenant_id"] for row in rows), self._deliver)

    async def _deliver(self, tenant: UUID) -> None:
        await Delivery(self._events, tenant, SUBSCRIPTION, self._hand_on).catch_up()

    async def _hand_on(self, event: Event) -> None:
        async with self._events.database.transaction(event.tenant_id) as tx:
            await enqueue_deliveries(tx, event)

    async def _for_ever(self) -> None:
        with self._events.arrivals.watch() as signal:
            while True:
                signal.clear()
                try:
                    await self.catch_up()
                except Exception as failure:
                    log.warning("recipients.following_failed", error=str(failure))
                    await asyncio.sleep(PAUSE)
                await signal.wait(self._events.delivery.poll_seconds)
