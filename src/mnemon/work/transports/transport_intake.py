"""Messages become claimed jobs: only while there are slots, and acknowledged once the outcome is on record."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from mnemon.telemetry import counter, logger
from mnemon.work.kinds import JobKind
from mnemon.work.line import WorkerLine
from mnemon.work.outage import RETRY_SECONDS
from mnemon.work.transports.transport import JobDelivery, Transport

CLAIM = "SELECT * FROM mnemon.claim_announced_job(%s, %s, %s, %s, %s, %s)"

DELIVERED = counter("mnemon_job_messages", "Messages of a transport, by what they were found to be.", ["what"])

log = logger(__name__)


class TransportIntake:
    """Where a worker's jobs come from when a transport brings them."""

    def __init__(
        self, transport: Transport, line: WorkerLine, worker: str, kinds: Collection[JobKind[Any]], lease: timedelta,
        arrived: Callable[[], None],
    ) -> None:  # fmt: skip
        self._transport = transport
        self._line = line
        self._worker = worker
        self._names = [kind.name for kind in kinds]
        self._limits = [kind.at_once for kind in kinds]
        self._lease = lease
        self._tell = arrived
        self._room = 0
        self._asked = asyncio.Event()
        self._arrived: deque[JobDelivery] = deque()
        # By the token of the claim, until its outcome is on record.
        self._held: dict[str, JobDelivery] = {}
        self._acknowledging: set[asyncio.Task[None]] = set()

    async def claim(self, wanted: int, besides: Collection[UUID] = ()) -> Sequence[dict[str, Any]]:
        """Jobs of messages that have arrived. For what is still free, more are asked for."""
        rows: list[dict[str, Any]] = []
        # A guest is chosen by tenant, and messages cannot be.
        while not besides and self._arrived and len(rows) < wanted:
            rows += await self._claimed(self._arrived[0])
            self._arrived.popleft()
        if not besides:
            self._room = wanted - len(rows) - len(self._arrived)
            self._asked.set()
        return rows

    async def _claimed(self, delivery: JobDelivery) -> list[dict[str, Any]]:
        """Nothing is acknowledged before the database has said what the job is: an outage leaves the message."""
        message = delivery.message
        if message is None:
            DELIVERED.labels("unreadable").inc()
            self._later(delivery.reject())
            return []
        values = (message.tenant_id, message.job_id, self._worker, self._names, self._limits, self._lease)
        rows = await self._line.fetch(CLAIM, values)
        DELIVERED.labels("claimed" if rows else "over").inc()
        if rows:
            self._held[rows[0]["token"]] = delivery
        else:
            self._later(delivery.done())
        return rows

    def settled(self, token: str) -> None:
        """The outcome is on record: the message has done its duty, whatever the outcome was."""
        if delivery := self._held.pop(token, None):
            self._later(delivery.done())

    async def run(self) -> None:
        """Take messages while there is room for them, and keep those whose jobs still run."""
        keeping = asyncio.create_task(self._keep())
        try:
            while True:
                await self._asked.wait()
                if self._room <= 0:
                    self._asked.clear()
                    continue
                await self._take(self._room)
        finally:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping
            if self._acknowledging:
                await asyncio.wait(self._acknowledging, timeout=5)

    async def _take(self, room: int) -> None:
        try:
            found = await self._transport.take(room)
        except Exception as failure:
            # Whatever a client raises: the broker is away or starts again, and jobs wait in their table.
            log.warning("transport_lost", error=str(failure))
            await asyncio.sleep(RETRY_SECONDS)
            return
        if found:
            self._room = 0
            self._asked.clear()
            self._arrived.extend(found)
            self._tell()

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._transport.keep_seconds)
            for delivery in (*self._arrived, *self._held.values()):
                with contextlib.suppress(Exception):
                    await delivery.keep()

    def _later(self, acknowledgement: Any) -> None:
        """Not waited for. One that is lost brings the message again, which then finds the job over."""

        async def acknowledge() -> None:
            try:
                await acknowledgement
            except Exception as failure:
                log.warning("message_not_acknowledged", error=str(failure))

        self._acknowledging.add(task := asyncio.create_task(acknowledge()))
        task.add_done_callback(self._acknowledging.discard)
