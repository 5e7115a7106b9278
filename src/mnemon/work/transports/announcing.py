"""Announcing: whoever has jobs in the table tells the transport of those that are due, until somebody takes them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from mnemon.db.database import Server
from mnemon.telemetry import counter, logger
from mnemon.work.line import WorkerLine
from mnemon.work.listener import listen
from mnemon.work.outage import OUTAGE, RETRY_SECONDS, Outage
from mnemon.work.transports.transport import JobMessage, Transport, WorkersBusy

ANNOUNCE = "SELECT * FROM mnemon.announce_jobs(%s, %s, %s)"
WITHDRAW = "SELECT mnemon.withdraw_announcements(%s, %s)"
PUBLISHED_AT_ONCE = 20

ANNOUNCED = counter("mnemon_jobs_announced", "Jobs that a transport was told of, by how that went.", ["outcome"])

log = logger(__name__)


class Announcer:
    """Runs beside a server or a worker; of several one at a time finds something to tell."""

    def __init__(
        self, server: Server, transport: Transport, kinds: Collection[str], *, outstanding: int = 1_000,
        again: float = 60.0, poll: float = 1.0,
    ) -> None:  # fmt: skip
        self._server = server
        self._transport = transport
        self._kinds = sorted(kinds)
        self._outstanding = outstanding
        self._again = timedelta(seconds=again)
        self._poll = poll
        self._line = WorkerLine(server)
        self._wake = asyncio.Event()
        self._outage = Outage("announcer")
        self._silent = False

    async def run(self) -> None:
        listening = asyncio.create_task(
            listen(self._server, frozenset(self._kinds), self._wake.set, lambda job_id: None)
        )
        try:
            while True:
                self._wake.clear()
                await self._turn()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), self._poll)
        finally:
            listening.cancel()
            await asyncio.wait([listening])
            await self._line.close()

    async def _turn(self) -> None:
        try:
            rows = await self._line.fetch(ANNOUNCE, (self._kinds, self._outstanding, self._again))
            untold = await self._tell([JobMessage(**row) for row in rows])
            if untold:
                values = ([one.tenant_id for one in untold], [one.job_id for one in untold])
                await self._line.fetch(WITHDRAW, values)
        except OUTAGE as failure:
            self._outage.seen(failure)
            await asyncio.sleep(RETRY_SECONDS)
        else:
            self._outage.over()

    async def _tell(self, messages: Sequence[JobMessage]) -> list[JobMessage]:
        """Those that could not be told."""
        turns = asyncio.Semaphore(PUBLISHED_AT_ONCE)

        async def one(message: JobMessage) -> bool:
            async with turns:
                return await self._publish(message)

        told = await asyncio.gather(*map(one, messages))
        return [message for message, was_told in zip(messages, told, strict=True) if not was_told]

    async def _publish(self, message: JobMessage) -> bool:
        try:
            await self._transport.publish(message)
        except WorkersBusy:
            ANNOUNCED.labels("busy").inc()
            return False
        except Exception as failure:
            # Whatever a client raises, of a wrong address say: who announces must outlive it, and say so.
            ANNOUNCED.labels("failed").inc()
            if not self._silent:
                log.warning("transport_lost", error=str(failure) or type(failure).__name__)
            self._silent = True
            return False
        self._silent = False
        ANNOUNCED.labels("told").inc()
        return True


@asynccontextmanager
async def announcing(announcer: Announcer | None) -> AsyncIterator[None]:
    """For as long as the server or worker runs."""
    if announcer is None:
        yield
        return
    task = asyncio.create_task(announcer.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
