"""One attempt at a job: run its handler under its limits, and say how that ended."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from structlog.contextvars import bind_contextvars

from mnemon.telemetry import logger
from mnemon.tracing import is_tracing, span
from mnemon.work import metrics
from mnemon.work.errors import JobPostponed, LeaseLost, TimeLimitExceeded
from mnemon.work.failures import JobFailure, failure_of
from mnemon.work.isolated_job import run_in_subprocess
from mnemon.work.job import Job, result_text
from mnemon.work.outage import is_outage

Why = Literal["time", "lost", "stop"]
# Until a job whose database went away is tried again: that is not its fault, and costs it no attempt. Short, since the
# database is back by the time that it takes the job back.
OUTAGE_PAUSE = 0.5
TRACE = """
SELECT traceparent FROM mnemon.job_traces WHERE tenant_id = mnemon.current_tenant() AND job_id = %s
"""

log = logger(__name__)


@dataclass(frozen=True)
class Done:
    """The handler returned; its result as JSON."""

    result: str | None


@dataclass(frozen=True)
class GivenBack:
    """The worker stops, or the job asked to wait: the attempt does not count."""

    seconds: float


@dataclass(frozen=True)
class Lost:
    """Another worker has the job, or it was cancelled: there is nothing to write."""


AttemptOutcome = Done | GivenBack | Lost | JobFailure


@dataclass(eq=False)
class Attempt:
    """A job with a slot. `stop` ends it early; `why` remembers the reason."""

    job: Job[Any]
    time_limit: float
    started: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0
    why: Why | None = None
    running: bool = False
    abandoned: bool = False
    task: asyncio.Task[None] | None = None
    alarm: asyncio.TimerHandle | None = None

    def stop(self, why: Why) -> None:
        """The first reason counts. It interrupts the handler, never the recording of how the attempt ended:
        a task that is cancelled before its first step or after the handler would leave its slot taken.
        """
        if self.why is None:
            self.why = why
            if self.running and self.task is not None:
                self.task.cancel()

    async def run(self) -> AttemptOutcome:
        bind_contextvars(job_id=self.job.job_id, tenant_id=self.job.tenant_id)
        try:
            if self.why is not None:
                return self._stopped()
            self.running = True
            return Done(await (self._traced() if is_tracing() else self._call_handler()))
        except asyncio.CancelledError:
            if self.why is None:
                raise
            assert self.task is not None
            self.task.uncancel()
            return self._stopped()
        except LeaseLost:
            return Lost()
        except JobPostponed as wish:
            return GivenBack(wish.seconds)
        except Exception as error:
            # What a handler raises while it is being stopped says nothing about the job; that the database went away
            # neither.
            if self.why:
                return self._stopped()
            return GivenBack(OUTAGE_PAUSE) if is_outage(error) else self._failed(error)
        finally:
            self.running = False
            self.seconds = time.perf_counter() - self.started
            if self.alarm is not None:
                self.alarm.cancel()

    async def _traced(self) -> str | None:
        """As a part of the trace that left the job behind."""
        job = self.job
        async with job.database.transaction(job.tenant_id) as tx:
            row = await (await tx.execute(TRACE, (job.job_id,))).fetchone()
        told = {"job_id": job.job_id, "tenant_id": job.tenant_id, "attempt": job.attempt}
        with span(f"job {job.kind.name}", row["traceparent"] if row else None, **told):
            return await self._call_handler()

    async def _call_handler(self) -> str | None:
        job = self.job
        handler = job.kind.run
        assert handler is not None
        _ = job.payload  # refused here, before the handler has begun, when it does not fit
        if job.kind.isolation is not None:
            return await run_in_subprocess(job, job.kind.isolation, self.time_limit)
        return result_text(await handler(job))

    def _stopped(self) -> AttemptOutcome:
        if self.why == "lost":
            return Lost()
        if self.why == "stop":
            return GivenBack(0.0)
        return failure_of(TimeLimitExceeded(f"The job was stopped at its limit of {self.time_limit:g} s."))

    def _failed(self, error: Exception) -> JobFailure:
        failure = failure_of(error)
        if failure.code == "UNEXPECTED":
            log.error("job_raised", kind=self.job.kind.name, exc_info=error)
        return failure


def report_ending(attempt: Attempt, ending: str, failure: JobFailure | None) -> None:
    """One structured line, and the counters, for each attempt that ended."""
    job = attempt.job
    kind = job.kind.name
    metrics.outcomes_of(kind, ending).inc()
    seconds, wait = metrics.times_of(kind)
    seconds.observe(attempt.seconds)
    wait.observe(job.waited_seconds)
    line: dict[str, Any] = {
        "job_id": job.job_id,
        "tenant_id": job.tenant_id,
        "kind": kind,
        "status": ending,
        "attempt": job.attempt,
        "duration_ms": round(attempt.seconds * 1000),
        "queue_wait_ms": round(job.waited_seconds * 1000),
        "stages": job.stage_milliseconds(),
    }
    if failure is None:
        log.info("job_ended", **line)
    else:
        log.warning("job_ended", **line, error_code=failure.code, error=failure.message)
