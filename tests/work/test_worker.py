"""A worker runs jobs to an outcome that is on record."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from mnemon.errors import InvalidRequest, NotFound
from mnemon.work.enqueue import enqueue, enqueue_many
from mnemon.work.errors import JobPostponed
from mnemon.work.failures import JobFailure
from mnemon.work.job import Job
from mnemon.work.queue import claim_jobs, fail_job
from mnemon.work.worker import Worker
from tests.patience import PATIENCE


async def test_a_job_runs_once_as_its_tenant_and_is_done(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind()
    seen: list[tuple[Any, str]] = []

    @kind.handler
    async def handle(job: Job) -> dict[str, int]:
        async with job.transaction() as tx:
            row = await (await tx.execute("SELECT mnemon.current_tenant() AS tenant")).fetchone()
        seen.append((row["tenant"], job.payload.text))
        return {"words": 2}

    await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note(text="two words"))
    row = await job_reaches(job.job_id, "DONE")
    assert seen == [(tenant, "two words")]
    assert (row["attempts"], row["result"], row["next_run_at"], row["lease_token"]) == (1, {"words": 2}, None, None)


async def test_a_job_of_a_rolled_back_transaction_never_runs(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind()
    seen = []

    @kind.handler
    async def handle(job: Job) -> None:
        seen.append(job.payload.text)

    await run_worker(kind)
    with pytest.raises(ZeroDivisionError):
        async with database.transaction(tenant) as tx:
            await enqueue(tx, kind, note(text="never"))
            raise ZeroDivisionError
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note(text="after"))
    await job_reaches(job.job_id, "DONE")
    assert seen == ["after"]


async def test_a_failing_job_is_retried_to_its_limit_and_keeps_its_errors(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind(attempts=3)

    @kind.handler
    async def handle(job: Job) -> None:
        raise RuntimeError(f"broken {job.attempt}")

    await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    row = await job_reaches(job.job_id, "FAILED")
    assert row["attempts"] == row["max_attempts"] == 3
    assert row["last_error_code"] == "MAX_ATTEMPTS_EXCEEDED"
    assert "broken 3" in row["last_error_message"]
    assert [error["message"] for error in row["errors"]] == [f"RuntimeError: broken {n}" for n in (1, 2, 3)]


@pytest.mark.parametrize("error", [InvalidRequest("no"), NotFound("no")])
async def test_a_permanent_error_is_not_retried(
    database, tenant, make_kind, note, run_worker, job_reaches, error
) -> None:
    kind = make_kind()

    @kind.handler
    async def handle(job: Job) -> None:
        raise error

    await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    row = await job_reaches(job.job_id, "FAILED")
    assert (row["attempts"], row["last_error_code"], row["last_error_message"]) == (1, error.code, "no")


async def test_a_postponed_job_does_not_use_up_attempts(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind(attempts=1)
    calls = []

    @kind.handler
    async def handle(job: Job) -> None:
        calls.append(job.attempt)
        if len(calls) < 3:
            raise JobPostponed(0)

    await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    row = await job_reaches(job.job_id, "DONE", "FAILED")
    assert (row["status"], calls) == ("DONE", [1, 1, 1])


async def test_a_job_past_its_time_limit_is_stopped_and_retried(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind(attempts=2, time_limit=0.1)

    @kind.handler
    async def handle(job: Job) -> None:
        await asyncio.Event().wait()

    await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    row = await job_reaches(job.job_id, "FAILED")
    assert [error["code"] for error in row["errors"]] == ["TIME_LIMIT", "TIME_LIMIT"]


async def test_a_job_that_ignores_its_time_limit_is_abandoned_and_cannot_write(
    database, tenant, make_kind, note, run_worker, job_reaches, monkeypatch
) -> None:
    monkeypatch.setattr("mnemon.work.worker.STOP_PATIENCE", 0.1)
    kind = make_kind(attempts=1, time_limit=0.1)
    wrote = asyncio.get_running_loop().create_future()
    release = asyncio.Event()

    @kind.handler
    async def handle(job: Job) -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        try:
            async with job.transaction() as tx:
                await job.finish(tx)
        except Exception as error:
            wrote.set_result(type(error).__name__)

    await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    row = await job_reaches(job.job_id, "FAILED")
    assert "abandoned" in row["last_error_message"]
    release.set()
    assert await asyncio.wait_for(wrote, PATIENCE) == "LeaseLost"


async def test_effects_and_finish_commit_together_or_not_at_all(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind, effect = make_kind(attempts=3), make_kind()

    @kind.handler
    async def handle(job: Job) -> None:
        async with job.transaction() as tx:
            await enqueue(tx, effect, note(text=f"attempt {job.attempt}"))
            await job.finish(tx, {"attempt": job.attempt})
            if job.attempt == 1:
                raise RuntimeError("after the finish, before the commit")

    await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    row = await job_reaches(job.job_id, "DONE")
    assert (row["attempts"], row["result"]) == (2, {"attempt": 2})
    async with database.transaction(tenant) as tx:
        effects = await (await tx.execute("SELECT payload FROM mnemon.jobs WHERE kind = %s", (effect.name,))).fetchall()
    assert [one["payload"] for one in effects] == [{"text": "attempt 2"}]


async def test_a_stopped_worker_gives_its_jobs_back_at_once_with_their_attempt(
    database, tenant, make_kind, note, run_worker, job_reaches, read_job
) -> None:
    kind = make_kind()
    started = asyncio.Event()
    slow = True

    @kind.handler
    async def handle(job: Job) -> None:
        started.set()
        if slow:
            await asyncio.Event().wait()

    worker = await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    await asyncio.wait_for(started.wait(), PATIENCE)
    worker.stop()
    row = await job_reaches(job.job_id, "PENDING")
    assert (row["attempts"], row["errors"], row["lease_token"]) == (0, [], None)
    slow = False
    await run_worker(kind)
    assert (await job_reaches(job.job_id, "DONE"))["attempts"] == 1


async def test_what_a_handler_raises_while_it_is_stopped_is_not_held_against_the_job(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind(attempts=1)
    started = asyncio.Event()

    @kind.handler
    async def handle(job: Job) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RuntimeError("a library that has its own idea of cancellation") from None

    worker = await run_worker(kind)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    await asyncio.wait_for(started.wait(), PATIENCE)
    worker.stop()
    row = await job_reaches(job.job_id, "PENDING", "FAILED")
    assert (row["status"], row["attempts"], row["errors"]) == ("PENDING", 0, [])


async def test_a_success_at_the_moment_of_the_stop_is_on_record(database, tenant, make_kind, note, read_job) -> None:
    kind = make_kind()

    @kind.handler
    async def handle(job: Job) -> None:
        worker.stop()

    worker = Worker(database, [kind], poll=0.1)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    await asyncio.wait_for(worker.run(), PATIENCE)
    assert (await read_job(job.job_id))["status"] == "DONE"


async def test_a_cancelled_job_is_stopped_while_it_runs(
    database, tenant, make_kind, note, run_worker, read_job, eventually
) -> None:
    kind = make_kind()
    started, stopped = asyncio.Event(), asyncio.Event()

    @kind.handler
    async def handle(job: Job) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def listening() -> list[Any]:
        async with database.owner() as owner:
            return await (
                await owner.execute(
                    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
                    "AND query = 'LISTEN mnemon_jobs_cancelled'"
                )
            ).fetchall()

    await run_worker(kind)
    await eventually(listening)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    await asyncio.wait_for(started.wait(), PATIENCE)
    async with database.transaction(tenant) as tx:
        await tx.execute("SELECT mnemon.cancel_job(%s)", (job.job_id,))
    await asyncio.wait_for(stopped.wait(), PATIENCE)
    row = await read_job(job.job_id)
    assert (row["status"], row["last_error_code"]) == ("FAILED", "CANCELLED")


async def test_jobs_run_by_priority_then_age_and_not_before_their_time(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind()
    order = []

    @kind.handler
    async def handle(job: Job) -> None:
        order.append(job.payload.text)

    async with database.transaction(tenant) as tx:
        await enqueue(tx, kind, note(text="much later"), delay=timedelta(hours=1), priority=9)
        await enqueue_many(tx, kind, [note(text="low")], priority=-1)
    for text in ("first", "second"):
        async with database.transaction(tenant) as tx:
            await enqueue(tx, kind, note(text=text))
    async with database.transaction(tenant) as tx:
        await enqueue(tx, kind, note(text="urgent"), priority=5)
        last = await enqueue(tx, kind, note(text="last"), priority=-2)
    await run_worker(kind, slots=1)
    await job_reaches(last.job_id, "DONE")
    assert order == ["urgent", "first", "second", "low", "last"]


async def test_a_kind_with_a_limit_never_runs_more_at_once_in_all_workers(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind(at_once=2)
    now, most = 0, 0

    @kind.handler
    async def handle(job: Job) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1

    async with database.transaction(tenant) as tx:
        jobs = await enqueue_many(tx, kind, [note() for _ in range(20)])
    for _ in range(3):
        await run_worker(kind, slots=4)
    for job in jobs:
        await job_reaches(job, "DONE")
    assert most == 2


async def test_waiting_behind_a_full_worker_is_not_an_attempt_and_not_a_stall(
    database, tenant, make_kind, note, run_worker, job_reaches, read_job, eventually, monkeypatch
) -> None:
    # Beats come often and leases are long: a busy machine costs nobody a lease.
    monkeypatch.setattr("mnemon.work.heartbeat.BEATS_PER_LEASE", 6000)
    kind = make_kind()
    started, release = asyncio.Event(), asyncio.Event()

    @kind.handler
    async def handle(job: Job) -> None:
        started.set()
        await release.wait()

    await run_worker(kind, slots=1, lease=600, poll=0.05)
    async with database.transaction(tenant) as tx:
        first, *waiting = await enqueue_many(tx, kind, [note() for _ in range(4)])
    await asyncio.wait_for(started.wait(), PATIENCE)

    async def it_looked_for_work_many_times() -> bool:
        row = await read_job(first)
        return row["lease_until"] - row["locked_at"] > timedelta(seconds=601)

    await eventually(it_looked_for_work_many_times)
    assert (await read_job(first))["attempts"] == 1
    for job in waiting:
        row = await read_job(job)
        assert (row["status"], row["attempts"], row["errors"]) == ("PENDING", 0, [])
    release.set()
    for job in (first, *waiting):
        assert (await job_reaches(job, "DONE"))["attempts"] == 1


async def test_a_payload_that_no_longer_fits_is_a_permanent_failure_with_a_reason(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind()

    @kind.handler
    async def handle(job: Job) -> None:
        raise AssertionError("never called")

    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    async with database.owner() as owner:
        await owner.execute("UPDATE mnemon.jobs SET payload = '{\"text\": 7}' WHERE job_id = %s", (job.job_id,))
    await run_worker(kind)
    row = await job_reaches(job.job_id, "FAILED")
    assert (row["last_error_code"], row["attempts"]) == ("INVALID_PAYLOAD", 1)
    assert "text" in row["last_error_message"]


async def test_a_result_that_cannot_be_stored_does_not_hold_up_its_neighbours(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind()

    @kind.handler
    async def handle(job: Job) -> dict[str, str]:
        return {"text": job.payload.text}

    async with database.transaction(tenant) as tx:
        jobs = [await enqueue(tx, kind, note(text=text)) for text in ("a", "b")]
        bad = make_kind()
        jobs.append(await enqueue(tx, bad, note()))

    @bad.handler
    async def handle_bad(job: Job) -> dict[str, str]:
        return {"text": "\x00"}

    await run_worker(kind, bad)
    assert [(await job_reaches(job.job_id, "DONE"))["result"] for job in jobs] == [{"text": "a"}, {"text": "b"}, None]


async def test_a_worker_is_on_the_register_while_it_lives(database, make_kind, run_worker, eventually) -> None:
    kind = make_kind()

    @kind.handler
    async def handle(job: Job) -> None: ...

    async def registered(condition: str) -> dict[str, Any] | None:
        async with database.session() as session:
            rows = await session.execute(
                f"SELECT * FROM mnemon.workers WHERE worker_id = %s AND {condition}", (worker.name,)
            )
            return await rows.fetchone()

    worker = await run_worker(kind, slots=2, lease=0.3)
    row = await eventually(lambda: registered("heartbeat_at > started_at"))
    assert (row["slots"], row["kinds"], row["stopped_at"]) == (2, [kind.name], None)
    worker.stop()
    assert await eventually(lambda: registered("stopped_at IS NOT NULL"))


async def test_an_error_message_that_cannot_be_stored_as_it_is_does_not_cost_the_slot(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind()

    @kind.handler
    async def handle(job: Job) -> None:
        if job.payload.text == "odd":
            raise InvalidRequest("bad name \udce4\x00.pdf")

    await run_worker(kind, slots=1)
    async with database.transaction(tenant) as tx:
        odd = await enqueue(tx, kind, note(text="odd"))
        fine = await enqueue(tx, kind, note())
    assert (await job_reaches(odd.job_id, "FAILED"))["last_error_message"] == "bad name ?.pdf"
    await job_reaches(fine.job_id, "DONE")


async def test_an_outcome_that_cannot_be_recorded_costs_neither_slot_nor_job(
    database, tenant, make_kind, note, run_worker, job_reaches, eventually, monkeypatch
) -> None:
    kind = make_kind()
    faults = [KeyError("a fault of ours")]

    @kind.handler
    async def handle(job: Job) -> None:
        raise RuntimeError

    async def faulty(*values: Any) -> str | None:
        if faults:
            raise faults.pop()
        return await fail_job(*values)

    monkeypatch.setattr("mnemon.work.worker.fail_job", faulty)
    worker = await run_worker(kind, slots=1)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())

    async def slot_is_free() -> bool:
        return not faults and not worker.running

    await eventually(slot_is_free)
    async with database.owner() as owner:
        await owner.execute("UPDATE mnemon.jobs SET lease_until = now() WHERE job_id = %s", (job.job_id,))
    row = await job_reaches(job.job_id, "FAILED")
    assert [error["code"] for error in row["errors"]] == ["WORKER_LOST"] + ["UNEXPECTED"] * 4


async def test_a_kind_without_a_handler_here_is_left_to_other_workers(
    database, tenant, make_kind, note, run_worker, job_reaches, read_job
) -> None:
    known, unknown = make_kind(), make_kind()

    @known.handler
    async def handle(job: Job) -> None: ...

    await run_worker(known, unknown)
    async with database.transaction(tenant) as tx:
        waits = await enqueue(tx, unknown, note(), priority=9)
        runs = await enqueue(tx, known, note())
    await job_reaches(runs.job_id, "DONE")
    assert (await read_job(waits.job_id))["attempts"] == 0


async def test_a_long_queue_is_worked_off_without_waiting_for_the_poll(
    database, tenant, make_kind, note, run_worker, job_reaches
) -> None:
    kind = make_kind()

    @kind.handler
    async def handle(job: Job) -> None: ...

    await run_worker(kind, slots=20, poll=60)
    async with database.transaction(tenant) as tx:
        await enqueue_many(tx, kind, [note()] * 4000)
        last = await enqueue(tx, kind, note(), priority=-1)
    await job_reaches(last.job_id, "DONE")


async def test_a_lease_that_is_missed_while_its_end_is_recorded_does_not_cost_the_slot(
    database, tenant, make_kind, note, run_worker, job_reaches, monkeypatch
) -> None:
    """The heartbeat may see the row between the commit of a failure and the worker's reading of the answer."""
    kind = make_kind(attempts=1)

    @kind.handler
    async def handle(job: Job) -> None:
        if job.payload.text == "fails":
            raise InvalidRequest("no")

    async def recorded_and_missed(line: Any, job: Job, failure: JobFailure) -> str | None:
        status = await fail_job(line, job, failure)
        worker._drop(job.token)
        await asyncio.sleep(0)
        return status

    monkeypatch.setattr("mnemon.work.worker.fail_job", recorded_and_missed)
    worker = await run_worker(kind, slots=1)
    async with database.transaction(tenant) as tx:
        await enqueue(tx, kind, note(text="fails"), priority=1)
        after = await enqueue(tx, kind, note())
    await job_reaches(after.job_id, "DONE")


async def test_a_job_that_is_cancelled_before_its_first_step_does_not_cost_the_slot(
    database, tenant, make_kind, note, run_worker, job_reaches, monkeypatch
) -> None:
    kind = make_kind()
    ran = []

    @kind.handler
    async def handle(job: Job) -> None:
        ran.append(job.payload.text)

    async def cancelled_at_once(*values: Any) -> list[dict[str, Any]]:
        rows = await claim_jobs(*values)
        if first.job_id in [row["job_id"] for row in rows]:
            async with database.transaction(tenant) as tx:
                await tx.execute("SELECT mnemon.cancel_job(%s)", (first.job_id,))
            asyncio.get_running_loop().call_soon(worker._cancelled, first.job_id)
        return rows

    monkeypatch.setattr("mnemon.work.transports.table_intake.claim_jobs", cancelled_at_once)
    async with database.transaction(tenant) as tx:
        first = await enqueue(tx, kind, note(text="cancelled"), priority=1)
        after = await enqueue(tx, kind, note(text="after"))
    worker = await run_worker(kind, slots=1)
    await job_reaches(after.job_id, "DONE")
    assert ran == ["after"]


async def test_long_jobs_of_one_tenant_leave_a_place_for_another(
    database, tenant, other_tenant, make_kind, note, run_worker, eventually
) -> None:
    kind = make_kind()
    begun: list[Any] = []
    end = asyncio.Event()

    @kind.handler
    async def handle(job: Job) -> None:
        begun.append(job.tenant_id)
        await end.wait()

    async with database.transaction(tenant) as tx:
        await enqueue_many(tx, kind, [note() for _ in range(5)])
    worker = await run_worker(kind, slots=2)

    async def full() -> bool:
        return len(begun) == 2

    await eventually(full)
    async with database.transaction(other_tenant) as tx:
        await enqueue_many(tx, kind, [note(), note()])

    async def served() -> bool:
        return other_tenant in begun

    await eventually(served)
    # One guest, and nobody beyond: the others wait for a slot.
    assert (begun.count(tenant), begun.count(other_tenant), worker.running) == (2, 1, 3)
    end.set()

    async def all_done() -> bool:
        return len(begun) == 7 and worker.running == 0

    await eventually(all_done)
