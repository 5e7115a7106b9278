"""Invalidation: an erasure in any process empties the memories of all others at once."""

import asyncio
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncConnection

from mnemon.db.database import Database, connect
from mnemon.errors import MnemonError
from mnemon.log.privacy.subjects import SubjectKeys
from mnemon.tasks import end
from mnemon.telemetry import logger

CHANNEL = "mnemon_privacy"
AGAIN_AFTER = 1.0

log = logger(__name__)


class Invalidation:
    """Listens for erasures. While it cannot, keys live in memory for their short time only."""

    def __init__(self, database: Database, keys: SubjectKeys) -> None:
        self._database = database
        self._keys = keys
        self._task: asyncio.Task[None] | None = None
        self.listening = asyncio.Event()

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._listen_for_ever())

    async def stop(self) -> None:
        if self._task is not None:
            await end(self._task)
            self._task = None

    async def _listen_for_ever(self) -> None:
        while True:
            try:
                server = self._database.server
                async with await connect(server, server.app_conninfo) as connection:
                    await self._listen(connection)
            except (psycopg.Error, MnemonError, OSError) as failure:
                log.warning("privacy.listening_interrupted", error=str(failure).strip())
            finally:
                self.listening.clear()
            await asyncio.sleep(AGAIN_AFTER)

    async def _listen(self, connection: AsyncConnection[dict[str, object]]) -> None:
        await connection.execute(f"LISTEN {CHANNEL}")
        # What was said while nobody listened is lost: nothing that is remembered may be trusted.
        self._keys.forget_all()
        self.listening.set()
        async for notice in connection.notifies():
            told = orjson.loads(notice.payload)
            if told["subject"] is None:
                # A tenant that has come back: who was erased meanwhile was not told of here.
                self._keys.forget_all()
            else:
                self._keys.forget(UUID(told["tenant"]), [told["subject"]])
