"""Leases: held while a worker lives, however busy it is; lost for good once another worker has the job."""

import asyncio
import errno
import threading
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from mnemon.ids import new_uuid
from mnemon.work.attempt import Attempt
from mnemon.work.enqueue import enqueue
from mnemon.work.errors import LeaseLost
from mnemon.work.failures import JobFailure
from mnemon.work.heartbeat import Heartbeat
from mnemon.work.job import Job
from mnemon.work.line import WorkerLine
from mnemon.work.queue import (
    Turns,
    claim_jobs,
    fail_job,
    finish_jobs,
    give_back_jobs,
    release_delayed_jobs,
    rescue_jobs,
)
from tests.patience import PATIENCE

# However slow the machine is, nobody who beats loses a lease of this length.
LEASE = timedelta(minutes=10)
LEASE_END = "SELECT lease_until FROM mnemon.jobs WHERE job_id = %s"


@pytest.fixture
async def line(database):
    one = WorkerLine(database.server)
    yield one
    await one.close()


@pytest.fixture
def quick_beats(monkeypatch):
    """Many beats in one lease: a test sees it extended soon, and none ends because the machine is busy."""
    monkeypatch.setattr("mnemon.work.heartbeat.BEATS_PER_LEASE", LEASE.total_seconds() / 0.1)


@pytest.fixture
def extended(database, eventually):
    """Wait until heartbeats have extended the lease of a job a few times from now on."""

    async def wait(job_id, owner) -> None:
        async def end_of_lease():
            return (await (await owner.execute(LEASE_END, (job_id,))).fetchone())["lease_until"]

        first = await end_of_lease()

        async def later() -> bool:
            return await end_of_lease() > first + timedelta(seconds=0.25)

        await eventually(later)

    return wait


@pytest.fixture
def claim(database, line):
    """Claim one job of a kind as a worker that will not beat."""

    async def take(kind, lease=LEASE):
        await release_delayed_jobs(line)
        (row,) = await claim_jobs(line, "silent", Turns([kind]), 1, lease)
        return Job(
            job_id=row["job_id"],
            tenant_id=row["tenant_id"],
            kind=kind,
            payload_text=row["payload"],
            attempt=row["attempt"],
            max_attempts=row["max_attempts"],
            token=row["token"],
            database=database,
        )

    return take


async def test_the_claim_counts_the_attempt_and_writes_the_lease(
    database, tenant, make_kind, note, claim, read_job
) -> None:
    kind = make_kind()
    async with database.transaction(tenant) as tx:
        job_id = (await enqueue(tx, kind, note())).job_id
    job = await claim(kind)
    row = await read_job(job_id)
    assert (row["status"], row["attempts"], row["locked_by"]) == ("PROCESSING", 1, "silent")
    assert str(row["lease_token"]) == job.token
    assert LEASE <= row["lease_until"] - row["locked_at"] < LEASE + timedelta(minutes=1)


async def test_only_the_holder_of_the_lease_says_how_far_a_job_is(
    database, tenant, other_tenant, make_kind, note, claim, read_job
) -> None:
    kind = make_kind()
    async with database.transaction(tenant) as tx:
        job_id = (await enqueue(tx, kind, note())).job_id
    job = await claim(kind, timedelta(seconds=30))
    await job.report({"done": 1})
    await replace(job, token=str(new_uuid())).report({"done": 2})
    await replace(job, tenant_id=other_tenant).report({"done": 3})
    assert (await read_job(job_id))["progress"] == {"done": 1}


async def test_a_silent_workers_job_is_rescued_and_the_stale_worker_cannot_write(
    database, tenant, make_kind, note, claim, line, eventually, read_job
) -> None:
    kind = make_kind()
    async with database.transaction(tenant) as tx:
        job_id = (await enqueue(tx, kind, note())).job_id
    stale = await claim(kind, timedelta(milliseconds=50))

    async def rescued() -> bool:
        await rescue_jobs(line)
        return (await read_job(job_id))["status"] == "PENDING"

    await eventually(rescued)
    fresh = await claim(kind)
    before = await read_job(job_id)
    with pytest.raises(LeaseLost):
        async with database.transaction(tenant) as tx:
            await stale.finish(tx)
    assert await finish_jobs(line, [(stale, None)]) == set()
    assert await fail_job(line, stale, JobFailure("X", "x", permanent=True)) is None
    assert await give_back_jobs(line, [stale]) == set()
    assert await read_job(job_id) == before
    assert before["errors"][0]["code"] == "WORKER_LOST"
    assert await finish_jobs(line, [(fresh, None)]) == {fresh.token}


async def test_a_job_whose_workers_keep_dying_is_dead_with_the_reason(
    database, tenant, make_kind, note, claim, line, eventually, read_job
) -> None:
    kind = make_kind(attempts=2)
    async with database.transaction(tenant) as tx:
        job_id = (await enqueue(tx, kind, note())).job_id

    async def rescued() -> bool:
        await rescue_jobs(line)
        return (await read_job(job_id))["status"] != "PROCESSING"

    for _ in range(2):
        await claim(kind, timedelta(milliseconds=20))
        await eventually(rescued)
    row = await read_job(job_id)
    assert (row["status"], row["last_error_code"]) == ("FAILED", "MAX_ATTEMPTS_EXCEEDED")
    assert "WORKER_LOST: Worker silent stopped answering" in row["last_error_message"]
    assert [error["code"] for error in row["errors"]] == ["WORKER_LOST", "WORKER_LOST"]


@pytest.mark.usefixtures("quick_beats")
async def test_heartbeats_go_on_while_a_job_burns_cpu_on_the_event_loop(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind()
    seen = set()

    @kind.handler
    async def handle(job: Job) -> None:
        until = time.monotonic() + PATIENCE
        with psycopg.connect(database.server.owner_conninfo, autocommit=True) as owner:
            while len(seen) < 4 and time.monotonic() < until:
                sum(range(100_000))
                seen.add(owner.execute(LEASE_END, (job.job_id,)).fetchone())

    await run_worker(kind, lease=LEASE.total_seconds())
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    row = await job_reaches(job.job_id, "DONE")
    assert row["attempts"] == 1
    assert len(seen) == 4, "the lease was extended while nothing else could run"


@pytest.mark.usefixtures("quick_beats")
async def test_heartbeats_claims_and_finishes_go_on_while_the_pool_is_exhausted(
    database, tenant, make_kind, note, run_worker, job_reaches, extended
) -> None:
    kind = make_kind()
    started, release = asyncio.Event(), asyncio.Event()

    @kind.handler
    async def handle(job: Job) -> None:
        async with AsyncExitStack() as stack:
            for _ in range(10):
                await stack.enter_async_context(job.database.session())
            started.set()
            await release.wait()

    async with database.owner() as owner:
        await run_worker(kind, lease=LEASE.total_seconds())
        async with database.transaction(tenant) as tx:
            job = await enqueue(tx, kind, note())
        await asyncio.wait_for(started.wait(), PATIENCE)
        await extended(job.job_id, owner)
    release.set()
    assert (await job_reaches(job.job_id, "DONE"))["attempts"] == 1


@pytest.mark.usefixtures("quick_beats")
async def test_a_long_finishing_transaction_neither_blocks_heartbeats_nor_loses_the_job(
    database, tenant, make_kind, note, run_worker, job_reaches, extended
) -> None:
    slow, quick = make_kind(), make_kind()
    finishing, begun, release = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @slow.handler
    async def handle(job: Job) -> None:
        async with job.transaction() as tx:
            await job.finish(tx)
            finishing.set()
            await release.wait()

    @quick.handler
    async def handle_quick(job: Job) -> None:
        begun.set()
        await release.wait()

    await run_worker(slow, quick, lease=LEASE.total_seconds())
    async with database.transaction(tenant) as tx:
        first = await enqueue(tx, slow, note())
        second = await enqueue(tx, quick, note())
    for event in (finishing, begun):
        await asyncio.wait_for(event.wait(), PATIENCE)
    async with database.owner() as owner:
        await extended(second.job_id, owner)
    release.set()
    for job in (first, second):
        assert (await job_reaches(job.job_id, "DONE"))["attempts"] == 1


async def test_a_lease_is_not_extended_past_the_time_limit(
    database, tenant, make_kind, note, claim, line, read_job
) -> None:
    kind = make_kind(time_limit=60)
    async with database.transaction(tenant) as tx:
        job_id = (await enqueue(tx, kind, note())).job_id
    job = await claim(kind)
    async with database.owner() as owner:
        await owner.execute("UPDATE mnemon.jobs SET locked_at = now() - interval '10 min' WHERE job_id = %s", (job_id,))
    await line.fetch("SELECT mnemon.beat('silent', %s::uuid[], %s)", ([job.token], timedelta(hours=1)))
    row = await read_job(job_id)
    assert row["lease_until"] - row["locked_at"] == timedelta(hours=1, seconds=60)


async def test_the_wait_doubles_from_thirty_seconds_to_ten_minutes_and_up_to_a_tenth_more(line) -> None:
    for attempts, least in enumerate((30, 60, 120, 240, 480, 600, 600), 1):
        (row,) = await line.fetch(
            "SELECT extract(epoch FROM mnemon.job_backoff(%s, 30, 600))::float8 AS seconds", (attempts,)
        )
        assert least <= row["seconds"] <= least * 1.1


async def test_a_job_whose_lease_was_taken_is_stopped(database, tenant, make_kind, note, run_worker) -> None:
    kind = make_kind()
    started, stopped = asyncio.Event(), asyncio.Event()

    @kind.handler
    async def handle(job: Job) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    await run_worker(kind, lease=0.3)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    await asyncio.wait_for(started.wait(), PATIENCE)
    async with database.owner() as owner:
        await owner.execute("UPDATE mnemon.jobs SET lease_token = gen_random_uuid() WHERE job_id = %s", (job.job_id,))
    await asyncio.wait_for(stopped.wait(), PATIENCE)


async def test_a_process_that_stops_inside_its_finish_does_not_keep_the_row(
    database, tenant, make_kind, note, claim, read_job, eventually, monkeypatch
) -> None:
    monkeypatch.setattr("mnemon.work.job.LONGEST_PAUSE", "100ms")
    kind = make_kind()
    async with database.transaction(tenant) as tx:
        await enqueue(tx, kind, note())
    job = await claim(kind)

    async def row_is_free() -> bool:
        async with database.owner() as owner:
            rows = await owner.execute(
                "SELECT FROM mnemon.jobs WHERE job_id = %s FOR UPDATE SKIP LOCKED", (job.job_id,)
            )
            return bool(await rows.fetchall())

    with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
        async with job.transaction() as tx:
            await job.finish(tx)
            assert not await row_is_free()
            await eventually(row_is_free)
    assert (await read_job(job.job_id))["status"] == "PROCESSING"


async def test_a_worker_whose_event_loop_is_stuck_past_a_limit_is_reported(
    database, tenant, make_kind, note, run_worker, job_reaches, monkeypatch
) -> None:
    monkeypatch.setattr("mnemon.work.worker.STOP_PATIENCE", 0.1)
    kind = make_kind(time_limit=0.1)
    reports = []

    @kind.handler
    async def handle(job: Job) -> None:
        until = time.monotonic() + PATIENCE
        while not reports and time.monotonic() < until:
            sum(range(1000))

    await run_worker(kind, lease=0.3, on_stuck=lambda: reports.append("stuck"))
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    await job_reaches(job.job_id, "DONE", "FAILED")
    assert reports


def test_a_full_disk_does_not_end_the_heartbeat(database) -> None:
    tries, lost = [], threading.Event()

    class Server:
        app_conninfo = database.server.app_conninfo

        def ensure_running(self) -> None:
            tries.append(1)
            if len(tries) == 1:
                raise OSError(errno.ENOSPC, "No space left on device")

    beating = Heartbeat(Server(), "w", timedelta(seconds=0.3), lambda token: lost.set(), lambda token: None)
    beating.watch(str(new_uuid()), time.monotonic() + PATIENCE)
    beating.start()
    try:
        assert lost.wait(PATIENCE), "it went on, and was told that nobody has such a lease"
    finally:
        beating.close()
    assert len(tries) >= 2


def test_the_first_reason_to_stop_counts() -> None:
    class Task:
        cancelled = 0

        def cancel(self) -> None:
            self.cancelled += 1

    attempt, task = Attempt(job=None, time_limit=1.0), Task()
    attempt.task, attempt.running = task, True
    attempt.stop("lost")
    attempt.stop("time")
    assert (attempt.why, task.cancelled) == ("lost", 1)
