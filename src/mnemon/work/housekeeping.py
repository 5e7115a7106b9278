"""Housekeeping: what every worker does for all of them, once per poll, whatever its own jobs do."""

import time

from mnemon.telemetry import logger
from mnemon.work import metrics
from mnemon.work.line import WorkerLine
from mnemon.work.queue import release_delayed_jobs, rescue_jobs
from mnemon.work.schedule import Scheduler

GAUGES_EVERY = 15.0

log = logger(__name__)


class Housekeeping:
    """Rescues what silent workers left, releases and fires what is due, now and then reads the gauges."""

    def __init__(self, line: WorkerLine, scheduler: Scheduler, every: float) -> None:
        self.scheduler = scheduler
        self._line = line
        self._every = every
        self._next_at = 0.0
        self._gauges_at = 0.0

    async def keep_if_due(self) -> bool:
        """Whether it was time; there may be more to claim then."""
        now = time.monotonic()
        if now < self._next_at:
            return False
        self._next_at = now + self._every
        for lost in await rescue_jobs(self._line):
            metrics.RESCUED.labels(lost["kind"]).inc()
            log.warning("job_rescued", **{name: str(value) for name, value in lost.items()})
        await release_delayed_jobs(self._line)
        await self.scheduler.fire_due()
        if now >= self._gauges_at:
            self._gauges_at = now + GAUGES_EVERY
            await metrics.refresh_gauges(self._line)
        return True
