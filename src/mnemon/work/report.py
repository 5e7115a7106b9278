"""One structured line, and the counters, for each attempt that ended."""

from typing import Any

from mnemon.telemetry import logger
from mnemon.work import metrics
from mnemon.work.attempt import Attempt
from mnemon.work.queue import Failure

log = logger(__name__)


def report_ending(attempt: Attempt, ending: str, failure: Failure | None) -> None:
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
