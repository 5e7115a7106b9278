"""Following: translates items and makes vectors in the background, for every tenant, in any number of processes."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self
from uuid import UUID

from mnemon.log.store import EventLog
from mnemon.memory.translator import SUBSCRIPTION, Translator
from mnemon.memory.vectors import MemoryVectors
from mnemon.models.embedder import Embedder
from mnemon.tasks import for_each
from mnemon.telemetry import logger

ITEMS = "SELECT DISTINCT tenant_id FROM mnemon.tenants_behind(%s)"
TEXTS = "SELECT tenant_id FROM mnemon.tenants_with_pending_texts() AS tenant_id"
# After a failure, such as a model that does not answer, it is not asked again at once.
PAUSE = 5.0
# Every commit wakes both. A text should be found by meaning at once; items can wait until a few commits have gathered.
REST_OF_EMBEDDING = 0.0
REST_OF_TRANSLATION = 0.2

log = logger(__name__)


class MemoryFollower:
    """`async with` it to follow in the background."""

    def __init__(
        self, events: EventLog, translator: Translator, vectors: MemoryVectors, embedder: Embedder | None
    ) -> None:
        self._events = events
        self._translator = translator
        self._vectors = vectors
        self._embedder = embedder
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        work = ((self.translate, REST_OF_TRANSLATION), (self.embed, REST_OF_EMBEDDING))
        self._tasks = [asyncio.create_task(self._for_ever(*one)) for one in work]
        return self

    async def __aexit__(self, *failure: object) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def translate(self) -> None:
        """What goes wrong in one tenant holds up no other."""
        await for_each(await self._tenants(ITEMS, ([SUBSCRIPTION],)), self._translator.catch_up)

    async def embed(self) -> None:
        """Nothing where there is no model: the texts wait for one."""
        if self._embedder is None or self._embedder.source == "none":
            return
        # A model that does not answer does so for nobody: it is not asked for each tenant.
        for tenant in await self._tenants(TEXTS, ()):
            await self._vectors.catch_up(tenant, self._embedder)

    async def _for_ever(self, work: Callable[[], Awaitable[None]], rest: float) -> None:
        with self._events.arrivals.watch() as signal:
            while True:
                signal.clear()
                try:
                    await work()
                except Exception as failure:
                    log.warning("memory.following_failed", error=str(failure))
                    await asyncio.sleep(PAUSE)
                await asyncio.sleep(rest)
                await signal.wait(self._events.delivery.poll_seconds)

    async def _tenants(self, statement: str, values: tuple[object, ...]) -> list[UUID]:
        async with self._events.database.session() as connection:
            rows = await (await connection.execute(statement, values)).fetchall()
        return [row["tenant_id"] for row in rows]
