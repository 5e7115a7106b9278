"""Jobs by HTTP: a gateway asks a worker to take one; the worker takes it if a slot is free, and says 503 if not."""

import asyncio
from collections.abc import Sequence
from itertools import cycle

import httpx2

from mnemon.work.transports.transport import JobDelivery, JobMessage, TransportUnavailable, WorkersBusy

PATH = "/internal/process"
PATIENCE = 10.0


class HttpDelegation:
    """The gateway's side: the workers are asked in turn."""

    keep_seconds = 3600.0

    def __init__(self, workers: Sequence[str], token: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._turns = cycle([f"{one.rstrip('/')}{PATH}" for one in workers])
        self._count = len(workers)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._client = httpx2.AsyncClient(timeout=PATIENCE, headers=headers, transport=transport)

    async def publish(self, message: JobMessage) -> None:
        busy, failures = 0, []
        for _ in range(self._count):
            address = next(self._turns)
            try:
                answer = await self._client.post(address, content=message.as_bytes())
            except httpx2.HTTPError as failure:
                failures.append(f"{address}: {failure or type(failure).__name__}")
                continue
            if answer.status_code == httpx2.codes.ACCEPTED:
                return
            busy += answer.status_code == httpx2.codes.SERVICE_UNAVAILABLE
            failures.append(f"{address} answered {answer.status_code}")
        if busy:
            raise WorkersBusy("Every worker is busy.")
        raise TransportUnavailable(f"No worker takes jobs: {'; '.join(failures)}")

    async def take(self, most: int) -> list[JobDelivery]:
        """A gateway delegates; it is no worker."""
        await asyncio.sleep(PATIENCE)
        return []

    async def close(self) -> None:
        await self._client.aclose()


class _Offered:
    """There is nothing to acknowledge: the answer did that, and the row does the rest."""

    def __init__(self, message: JobMessage) -> None:
        self.message = message

    async def done(self) -> None:
        pass

    async def keep(self) -> None:
        pass

    async def reject(self) -> None:
        pass


class HttpReceiver:
    """The worker's side: takes no more than there are slots for."""

    keep_seconds = 3600.0

    def __init__(self) -> None:
        self._room = 0
        self._offered: list[_Offered] = []
        self._arrived = asyncio.Event()

    def offer(self, message: JobMessage) -> bool:
        """Whether it is taken; False when all slots are."""
        if self._room <= len(self._offered):
            return False
        self._offered.append(_Offered(message))
        self._arrived.set()
        return True

    async def take(self, most: int) -> list[JobDelivery]:
        self._room = most
        try:
            await self._arrived.wait()
        finally:
            self._room = 0
        found, self._offered = self._offered, []
        self._arrived.clear()
        return list(found)

    async def publish(self, message: JobMessage) -> None:
        raise TransportUnavailable("A worker that is asked by HTTP asks no other.")

    async def close(self) -> None:
        pass
