"""The crash guard of the server: runs whose worker fell silent while no other is alive end, with the reason.

While any worker lives this has nothing to do: it gives such a run another attempt as soon as the lease has run out.
A run that waits is left alone, however long: to wait is not to be stuck.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import psycopg

from mnemon.db.database import Database
from mnemon.errors import MnemonError
from mnemon.telemetry import logger

FAIL_SILENT = "SELECT mnemon.fail_silent_runs(%s, %s) AS ended"
AT_ONCE = 1_000
EVERY_SECONDS = 60.0

log = logger(__name__)


async def end_silent_runs(database: Database, silence: timedelta) -> int:
    """End the runs of all tenants that say running though nobody has been at them for so long; how many."""
    async with database.session() as session:
        row = await (await session.execute(FAIL_SILENT, (silence, AT_ONCE))).fetchone()
    assert row is not None
    ended: int = row["ended"]
    if ended:
        log.warning("runs_without_worker_ended", count=ended)
    return ended


@asynccontextmanager
async def guarding(database: Database, silence: timedelta, every: float = EVERY_SECONDS) -> AsyncIterator[None]:
    """Watch while the server is up. It begins once it has been up for that long itself: after a night in which all
    was off, workers get the time to come back and go on with their runs."""
    if not silence:
        yield
        return
    task = asyncio.create_task(_watch(database, silence, every))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _watch(database: Database, silence: timedelta, every: float) -> None:
    await asyncio.sleep(silence.total_seconds())
    while True:
        with suppress(psycopg.Error, MnemonError, OSError):
            await end_silent_runs(database, silence)
        await asyncio.sleep(every)
