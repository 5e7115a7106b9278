"""Sees that what was taken in is read: where no worker would do it, one works in this process meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.beside import worker_of
from mnemon.documents.jobs import KINDS as DOCUMENT_KINDS
from mnemon.semantics.extract.status import unread
from mnemon.semantics.jobs import KINDS as SEMANTIC_KINDS
from mnemon.work.jobs import list_workers
from mnemon.work.worker import Worker

# Between two looks at how much is left: longer while that is much.
POLL_SECONDS, MOST_POLL_SECONDS = 0.2, 1.0
OFTEN_LOOKED_AT = 25
LOOK_SECONDS = 2.0


@asynccontextmanager
async def being_read(mnemon: Mnemon) -> AsyncIterator[None]:
    """Somebody reads documents and their events; at the end the file at hand is finished."""
    own = OwnWorkers(mnemon)
    await own.take_over()
    watching = asyncio.create_task(own.watch())
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await own.stop()


class BackgroundReading:
    """The same from the first moment that there is something to read, if it is wanted."""

    def __init__(self, mnemon: Mnemon, *, wanted: bool = True) -> None:
        self._mnemon = mnemon
        self._wanted = wanted
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._stack.aclose()

    async def begin(self) -> None:
        if self._wanted:
            self._wanted = False
            await self._stack.enter_async_context(being_read(self._mnemon))


class OwnWorkers:
    """Workers of this process, for the kinds of jobs that no other worker does, or does no more."""

    def __init__(self, mnemon: Mnemon) -> None:
        self._mnemon = mnemon
        self._working: list[tuple[Worker, asyncio.Task[None]]] = []
        self._taken: set[str] = set()

    async def take_over(self) -> None:
        async with self._mnemon.database.session() as session:
            done = {kind for worker in await list_workers(session) if worker.alive for kind in worker.kinds}
        left = [kind for kind in (*DOCUMENT_KINDS, *SEMANTIC_KINDS) if kind.name not in done | self._taken]
        if left:
            worker = worker_of(self._mnemon, left)
            self._taken |= {kind.name for kind in left}
            self._working.append((worker, asyncio.create_task(worker.run())))

    async def watch(self) -> None:
        """The others may end at any time: another command that was just as kind, a server that is stopped or killed."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.take_over()

    async def stop(self) -> None:
        for worker, _ in self._working:
            worker.stop()
        await asyncio.gather(*(task for _, task in self._working))


async def until_events_are_read(mnemon: Mnemon, tenant: UUID, documents: Iterable[UUID]) -> AsyncIterator[int]:
    """How many of the documents have been read, again and again until all are; a failure counts as an end."""
    every: Collection[UUID] = set(documents)
    while left := await unread(mnemon.database, tenant, every):
        yield len(every) - left
        await asyncio.sleep(pause_before_look(left))
    yield len(every)


def pause_before_look(left: int) -> float:
    """So that looking takes little of the time of those who work."""
    return min(POLL_SECONDS * max(left / OFTEN_LOOKED_AT, 1), MOST_POLL_SECONDS)
