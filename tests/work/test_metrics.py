"""What the queue tells Prometheus is what happened."""

from mnemon.errors import InvalidRequest
from mnemon.telemetry import REGISTRY
from mnemon.work.enqueue import enqueue, enqueue_many
from mnemon.work.job import Job
from mnemon.work.line import WorkerLine
from mnemon.work.metrics import refresh_gauges


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_attempts_outcomes_and_times_are_counted_by_kind(
    database, tenant, make_kind, note, run_worker, job_reaches, eventually
) -> None:
    kind = make_kind(attempts=2)

    @kind.handler
    async def handle(job: Job) -> None:
        if job.payload.text == "dead":
            raise InvalidRequest("no")
        if job.attempt == 1:
            raise RuntimeError("once more")

    await run_worker(kind)
    async with database.transaction(tenant) as tx:
        jobs = [await enqueue(tx, kind, note(text=text)) for text in ("dead", "retried")]
    await job_reaches(jobs[0].job_id, "FAILED")
    await job_reaches(jobs[1].job_id, "DONE")

    async def settled() -> bool:
        return value("mnemon_job_outcomes_total", kind=kind.name, outcome="done") == 1

    await eventually(settled)
    assert value("mnemon_job_attempts_total", kind=kind.name) == 3
    assert value("mnemon_job_outcomes_total", kind=kind.name, outcome="dead") == 1
    assert value("mnemon_job_outcomes_total", kind=kind.name, outcome="retry") == 1
    assert value("mnemon_job_seconds_count", kind=kind.name) == 3
    assert value("mnemon_job_wait_seconds_count", kind=kind.name) == 3


async def test_gauges_show_the_queue_of_all_tenants(database, tenant, other_tenant, make_kind, note) -> None:
    kind, line = make_kind(), WorkerLine(database.server)
    for owner in (tenant, other_tenant):
        async with database.transaction(owner) as tx:
            first, *_ = await enqueue_many(tx, kind, [note() for _ in range(3)])
            await tx.execute("SELECT mnemon.cancel_job(%s)", (first,))
    await refresh_gauges(line)
    assert value("mnemon_jobs_waiting", kind=kind.name) == 4
    assert value("mnemon_jobs_dead", kind=kind.name) == 2
    assert value("mnemon_jobs_oldest_waiting_seconds", kind=kind.name) > 0
    await line.close()
