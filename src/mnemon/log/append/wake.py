"""Waking readers: after a commit, one notification says that a partition has grown, and nothing else."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import orjson
import psycopg

from mnemon.db.database import Database, autocommitting
from mnemon.errors import DatabaseUnavailable
from mnemon.telemetry import logger

CHANNEL = "mnemon_log"
# A wake-up that a crash swallows is no loss: its commit need not wait for the disk, and keep an append from it.
NOTIFY = """
SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, message) FROM unnest(%s::text[]) AS message
"""

# The first commit is announced at once, a stream of them this often: a notification is a transaction of its own, and
# one per append would cost a writer of batches an eighth of its time.
BETWEEN = 0.02

GrowthListener = Callable[[int, int], None]

log = logger(__name__)


class Waker:
    """Sends at most one notification per partition and round; those in this process are told at once.

    A notification that is lost costs readers their poll interval, so failures are not the writer's concern.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._grown: dict[int, int] = {}
        self._sender: asyncio.Task[None] | None = None
        self._listeners: list[GrowthListener] = []

    def listen(self, listener: GrowthListener) -> Callable[[], None]:
        """Call `listener(partition_id, sequence)` after commits of this process; returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def wake(self, partition_id: int, sequence: int) -> None:
        for listener in tuple(self._listeners):
            listener(partition_id, sequence)
        self._grown[partition_id] = max(sequence, self._grown.get(partition_id, 0))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())

    async def close(self) -> None:
        if self._sender is not None:
            with suppress(asyncio.CancelledError):
                await self._sender

    async def _send(self) -> None:
        try:
            while self._grown:
                grown, self._grown = self._grown, {}
                async with self._database.session() as connection, autocommitting(connection):
                    await connection.execute(NOTIFY, (CHANNEL, [message(*one) for one in grown.items()]))
                await asyncio.sleep(BETWEEN)
        except (psycopg.Error, DatabaseUnavailable) as failure:
            log.warning("log.notify_failed", error=str(failure))
        finally:
            self._sender = None


def message(partition_id: int, sequence: int) -> str:
    return orjson.dumps({"partition": partition_id, "sequence": str(sequence)}).decode()
