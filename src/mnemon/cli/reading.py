"""Sees that what was taken in is read: where no worker would do it, one works in this process meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from uuid import UUID

from mnemon.app import Mnemon, worker_of
from mnemon.documents.jobs import KINDS as DOCUMENT_KINDS
from mnemon.semantics.extraction_status import unread
from mnemon.semantics.jobs import KINDS as SEMANTIC_KINDS
from mnemon.work.jobs import list_workers

POLL_SECONDS = 0.2


@asynccontextmanager
async def being_read(mnemon: Mnemon) -> AsyncIterator[None]:
    """Somebody reads documents and their events; at the end the file at hand is finished."""
    async with mnemon.database.session() as session:
        done = {kind for worker in await list_workers(session) if worker.alive for kind in worker.kinds}
    kinds = [kind for kind in (*DOCUMENT_KINDS, *SEMANTIC_KINDS) if kind.name not in done]
    if not kinds:
        yield
        return
    worker = worker_of(mnemon, kinds)
    working = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await working


async def until_events_are_read(mnemon: Mnemon, tenant: UUID, documents: Iterable[UUID]) -> AsyncIterator[int]:
    """How many of the documents have been read, again and again until all are; a failure counts as an end."""
    every: Collection[UUID] = set(documents)
    while left := await unread(mnemon.database, tenant, every):
        yield len(every) - left
        await asyncio.sleep(POLL_SECONDS)
    yield len(every)
