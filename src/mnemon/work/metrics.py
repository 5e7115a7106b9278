"""What the queue tells Prometheus: counters as things happen, gauges from the table now and then."""

from functools import cache

from prometheus_client import Counter, Histogram

from mnemon.telemetry import counter, gauge, histogram
from mnemon.work.line import WorkerLine

STATS = "SELECT * FROM mnemon.job_stats()"

ATTEMPTS = counter("mnemon_job_attempts", "Attempts that this process began.", ["kind"])
OUTCOMES = counter(
    "mnemon_job_outcomes",
    "How attempts of this process ended: done, retry, dead, given_back, lost.",
    ["kind", "outcome"],
)
SECONDS = histogram(
    "mnemon_job_seconds", "Time an attempt took.", ["kind"], buckets=(0.005, 0.02, 0.1, 0.5, 2, 10, 30, 120, 600, 3600)
)
WAIT = histogram(
    "mnemon_job_wait_seconds",
    "Time a due job waited for a worker.",
    ["kind"],
    buckets=(0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600, 3600),
)
RESCUED = counter("mnemon_job_rescues", "Attempts of silent workers that this process ended.", ["kind"])

WAITING = gauge("mnemon_jobs_waiting", "Due jobs that no worker has taken yet, all tenants.", ["kind"])
DELAYED = gauge("mnemon_jobs_delayed", "Jobs that are put off or wait for another attempt, all tenants.", ["kind"])
RUNNING = gauge("mnemon_jobs_running", "Jobs with a lease, all tenants.", ["kind"])
DEAD = gauge("mnemon_jobs_dead", "Failed jobs that are kept, all tenants.", ["kind"])
OLDEST = gauge("mnemon_jobs_oldest_waiting_seconds", "How long the oldest due job has waited, all tenants.", ["kind"])


@cache
def attempts_of(kind: str) -> Counter:
    return ATTEMPTS.labels(kind)


@cache
def outcomes_of(kind: str, outcome: str) -> Counter:
    return OUTCOMES.labels(kind, outcome)


@cache
def times_of(kind: str) -> tuple[Histogram, Histogram]:
    """Of the attempt, and of the wait before it. Looking labels up costs more than counting."""
    return SECONDS.labels(kind), WAIT.labels(kind)


async def refresh_gauges(line: WorkerLine) -> None:
    """Read the state of the whole queue into the gauges; a kind that has no jobs left shows none."""
    rows = await line.fetch(STATS)
    for one in (WAITING, DELAYED, RUNNING, DEAD, OLDEST):
        one.clear()
    for row in rows:
        WAITING.labels(row["kind"]).set(row["waiting"])
        DELAYED.labels(row["kind"]).set(row["delayed"])
        RUNNING.labels(row["kind"]).set(row["running"])
        DEAD.labels(row["kind"]).set(row["dead"])
        OLDEST.labels(row["kind"]).set(row["oldest_waiting_seconds"])
