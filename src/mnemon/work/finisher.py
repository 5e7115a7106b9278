"""The finisher: successes that arrive together are written together, and each is told whether its lease held."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg

from mnemon.errors import MnemonError
from mnemon.telemetry import logger
from mnemon.work.job import Job
from mnemon.work.line import WorkerLine
from mnemon.work.outage import Outage
from mnemon.work.queue import finish_jobs

LARGEST_BATCH = 500
RETRY_SECONDS = 0.3

log = logger(__name__)


class Finisher:
    """Collects finished jobs while the last batch is being written. `settled(job, held)` follows each write."""

    def __init__(self, line: WorkerLine, settled: Callable[[Job[Any], bool], None]) -> None:
        self._line = line
        self._settled = settled
        self._waiting: list[tuple[Job[Any], str | None]] = []
        self._writing = 0
        self._arrived = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._outage = Outage("finisher")

    @property
    def backlog(self) -> int:
        return len(self._waiting) + self._writing

    def add(self, job: Job[Any], result: str | None) -> None:
        self._waiting.append((job, result))
        self._arrived.set()
        self._empty.clear()

    async def drained(self) -> None:
        await self._empty.wait()

    async def run(self) -> None:
        while True:
            await self._arrived.wait()
            batch, self._waiting = self._waiting[:LARGEST_BATCH], self._waiting[LARGEST_BATCH:]
            self._writing = len(batch)
            await self._write(batch)
            self._writing = 0
            if not self._waiting:
                self._arrived.clear()
                self._empty.set()

    async def _write(self, batch: list[tuple[Job[Any], str | None]]) -> None:
        """Until the database has answered: writing twice does no harm, the second finds no lease."""
        while True:
            try:
                held = await finish_jobs(self._line, batch)
                break
            except (psycopg.OperationalError, MnemonError) as failure:
                self._outage.seen(failure)
                await asyncio.sleep(RETRY_SECONDS)
            except psycopg.DataError:
                return await self._write_apart(batch)
        self._outage.over()
        for job, _ in batch:
            self._settled(job, job.token in held)
        return None

    async def _write_apart(self, batch: list[tuple[Job[Any], str | None]]) -> None:
        """One result that the database cannot store must not hold up the others: that job is done without it."""
        if len(batch) > 1:
            for one in batch:
                await self._write([one])
        else:
            job, _ = batch[0]
            log.error("job_result_refused", job_id=str(job.job_id), kind=job.kind.name)
            await self._write([(job, None)])
