"""A streaming replica for reads that may be a little behind, while it is known to be no further behind than allowed."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import Context

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from mnemon.errors import DatabaseUnavailable, MnemonError
from mnemon.telemetry import counter, logger

# How far the primary is: the place in its write-ahead log, and on which timeline.
WalPosition = Callable[[], Awaitable[tuple[str, int]]]

POSITION = """
SELECT pg_current_wal_lsn()::text AS place,
       ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer AS timeline
"""
# A replica that followed the primary before this one may have come further, and lack all that was written since.
REACHED = """
SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn
   AND greatest(c.timeline_id, r.min_recovery_end_timeline) >= %s AS reached
  FROM pg_control_checkpoint() c, pg_control_recovery() r
"""
# Until a replica that did not answer is asked again, and how long one is waited for.
PAUSE = 5.0
CONNECT_PATIENCE = 2.0
# How long a look waits for the replica to come to where the primary was, and how often it asks meanwhile.
CATCH_UP_SECONDS = 1.0
LOOK_SECONDS = 0.02

READS = counter(
    "mnemon_replica_reads",
    "Reads that may be behind: by the replica, or by the primary since the replica is too far behind or away.",
    ["by"],
)
log = logger(__name__)


class Replica:
    """One replica, and as of when it is known to have all that the primary had."""

    def __init__(self, conninfo: str, most_seconds: float, pool_size: int) -> None:
        self._most = most_seconds
        self._as_of = self._not_before = float("-inf")
        self._look: asyncio.Task[None] | None = None
        self._pool = AsyncConnectionPool(
            conninfo,
            connection_class=AsyncConnection[DictRow],
            kwargs={"row_factory": dict_row, "application_name": "mnemon"},
            min_size=0,
            max_size=pool_size,
            timeout=CONNECT_PATIENCE,
            reconnect_timeout=CONNECT_PATIENCE,
            open=False,
        )

    async def close(self) -> None:
        if self._look is not None:
            self._look.cancel()
            await asyncio.gather(self._look, return_exceptions=True)
        await self._pool.close()

    def may_be_read(self, position: WalPosition) -> bool:
        """Whether it is as near as is allowed. Who asks does not wait for a look at it, which goes on beside."""
        now = time.monotonic()
        age = now - self._as_of
        if age > self._most / 2 and now >= self._not_before and (self._look is None or self._look.done()):
            # In a context of its own: the leave of whoever asks is not the look's.
            self._look = asyncio.get_running_loop().create_task(self._look_at(position), context=Context())
        READS.labels("replica" if age <= self._most else "primary").inc()
        return age <= self._most

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        try:
            async with self._lent() as connection:
                yield connection
        except (psycopg.OperationalError, PoolTimeout) as failure:
            self._gave_out(failure)
            raise DatabaseUnavailable("The replica does not answer.") from failure

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        if self._pool.closed:
            await self._pool.open()
        async with self._pool.connection() as connection:
            yield connection

    async def _look_at(self, position: WalPosition) -> None:
        """Where the primary is now the replica will be in a moment: then it has all that was there when we asked."""
        try:
            asked_at = time.monotonic()
            place = await position()
            while not await self._has_reached(place):
                if time.monotonic() - asked_at > max(CATCH_UP_SECONDS, self._most):
                    self._not_before = time.monotonic() + self._most / 2
                    return
                await asyncio.sleep(LOOK_SECONDS)
            self._as_of = asked_at
        except (psycopg.Error, PoolTimeout, MnemonError) as failure:
            self._gave_out(failure)

    async def _has_reached(self, place: tuple[str, int]) -> bool:
        async with self._lent() as connection:
            row = await (await connection.execute(REACHED, place)).fetchone()
        return bool(row and row["reached"])

    def _gave_out(self, failure: Exception) -> None:
        if self._as_of > float("-inf"):
            log.warning("replica_lost", reason=str(failure).strip())
        self._as_of, self._not_before = float("-inf"), time.monotonic() + PAUSE
