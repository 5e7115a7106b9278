"""Schedules fire once across all workers, once after downtime, and not while their last job is unfinished."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from mnemon.ids import new_uuid
from mnemon.settings import Settings
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.line import WorkerLine
from mnemon.work.schedule import Schedule, Scheduler
from mnemon.work.upkeep import CLEAN_UP, CRASH_GUARD, upkeep_schedules
from mnemon.work.worker import Worker

NIL = UUID(int=0)


@pytest.fixture
async def line(own_database):
    one = WorkerLine(own_database.server)
    yield one
    await one.close()


@pytest.fixture
def as_owner(own_database):
    async def ask(statement: str, *values: Any) -> list[dict[str, Any]]:
        async with own_database.owner() as owner:
            cursor = await owner.execute(statement, values or None)
            return await cursor.fetchall() if cursor.description else []

    return ask


def hourly(kind, note, **options) -> Schedule:
    return Schedule(f"test/{kind.name}", kind, "0 * * * *", payload=note(text="by the clock"), **options)


MISS_SOME = "UPDATE mnemon.schedules SET next_fire_at = now() - interval '5 hours'"


async def test_a_new_schedule_waits_for_its_time(line, as_owner, make_kind, note) -> None:
    scheduler = Scheduler(line, [hourly(make_kind(), note)])
    await scheduler.declare()
    await scheduler.fire_due()
    assert await as_owner("SELECT 1 FROM mnemon.jobs") == []
    (row,) = await as_owner("SELECT *, now() AS now FROM mnemon.schedules")
    assert timedelta(0) < row["next_fire_at"] - row["now"] <= timedelta(hours=1)
    assert row["next_fire_at"].minute == 0


async def test_a_clock_that_was_set_back_two_days_stops_no_schedule(line, as_owner, make_kind, note) -> None:
    scheduler = Scheduler(line, [hourly(make_kind(), note)])
    await scheduler.declare()
    # To a schedule it is the same whether the clock went back or its next time went ahead.
    await as_owner("UPDATE mnemon.schedules SET next_fire_at = next_fire_at + interval '2 days'")
    await scheduler.fire_due()
    (row,) = await as_owner("SELECT *, now() AS now FROM mnemon.schedules")
    assert timedelta(0) < row["next_fire_at"] - row["now"] <= timedelta(hours=1)
    assert await as_owner("SELECT 1 FROM mnemon.jobs") == []


async def test_many_workers_that_see_it_due_fire_it_once(own_database, line, as_owner, make_kind, note) -> None:
    kind = make_kind()
    lines = [WorkerLine(own_database.server) for _ in range(8)]
    schedulers = [Scheduler(one, [hourly(kind, note)]) for one in lines]
    await schedulers[0].declare()
    await as_owner(MISS_SOME)
    await asyncio.gather(*(scheduler.fire_due() for scheduler in schedulers))
    for one in lines:
        await one.close()
    (job,) = await as_owner("SELECT * FROM mnemon.jobs")
    assert (job["tenant_id"], job["kind"], job["payload"]) == (NIL, kind.name, {"text": "by the clock"})


async def test_a_worker_that_comes_late_fires_nothing_though_the_job_has_ended(line, as_owner, make_kind, note) -> None:
    schedule = hourly(make_kind(), note)
    scheduler = Scheduler(line, [schedule])
    await scheduler.declare()
    await as_owner(MISS_SOME)
    (seen,) = await as_owner("SELECT next_fire_at, now() AS now FROM mnemon.schedules")
    await scheduler.fire_due()
    await as_owner(
        "SELECT set_config('mnemon.tenant', tenant_id::text, false), mnemon.cancel_job(job_id) FROM mnemon.jobs"
    )
    await scheduler._fire(schedule, seen["next_fire_at"], seen["now"])
    (job,) = await as_owner("SELECT status FROM mnemon.jobs")
    assert job["status"] == "FAILED"


async def test_after_downtime_it_fires_once_and_goes_on_by_the_clock(line, as_owner, make_kind, note) -> None:
    scheduler = Scheduler(line, [hourly(make_kind(), note)])
    await scheduler.declare()
    await as_owner(MISS_SOME)
    for _ in range(3):
        await scheduler.fire_due()
    assert len(await as_owner("SELECT 1 FROM mnemon.jobs")) == 1
    (row,) = await as_owner("SELECT *, now() AS now FROM mnemon.schedules")
    assert row["next_fire_at"] > row["now"]


async def test_it_adds_no_second_job_while_the_last_is_unfinished(line, as_owner, make_kind, note) -> None:
    scheduler = Scheduler(line, [hourly(make_kind(), note)])
    await scheduler.declare()
    for _ in range(2):
        await as_owner(MISS_SOME)
        await scheduler.fire_due()
    assert len(await as_owner("SELECT 1 FROM mnemon.jobs")) == 1


async def test_it_can_give_every_tenant_a_job(line, as_owner, make_kind, note) -> None:
    tenants = {new_uuid(), new_uuid()}
    for tenant in tenants:
        await as_owner("INSERT INTO mnemon.tenants VALUES (%s, %s, 'T')", tenant, f"t-{tenant.hex}")
    scheduler = Scheduler(line, [hourly(make_kind(), note, every_tenant=True)])
    await scheduler.declare()
    await as_owner(MISS_SOME)
    await scheduler.fire_due()
    assert {row["tenant_id"] for row in await as_owner("SELECT tenant_id FROM mnemon.jobs")} == tenants


async def test_a_changed_rule_takes_effect_and_an_unchanged_one_keeps_its_time(line, as_owner, make_kind, note) -> None:
    kind = make_kind()
    await Scheduler(line, [hourly(kind, note)]).declare()
    await as_owner(MISS_SOME)
    (missed,) = await as_owner("SELECT next_fire_at FROM mnemon.schedules")
    await Scheduler(line, [hourly(kind, note)]).declare()
    assert await as_owner("SELECT next_fire_at FROM mnemon.schedules") == [missed]
    await Scheduler(line, [Schedule(f"test/{kind.name}", kind, "30 4 * * *", "Asia/Kathmandu")]).declare()
    (row,) = await as_owner("SELECT *, now() AS now FROM mnemon.schedules")
    assert (row["timezone"], row["next_fire_at"] > row["now"]) == ("Asia/Kathmandu", True)
    assert row["next_fire_at"].strftime("%H:%M") == "22:45"


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[None]:
    task = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await task


async def run_upkeep(database, as_owner, kind_name: str, eventually) -> dict[str, Any]:
    """Make one of the system's schedules due and let a worker run it."""

    async def done() -> list[Any]:
        return await as_owner("SELECT * FROM mnemon.jobs WHERE kind = %s AND status = 'DONE'", kind_name)

    async with working(Worker(database, [CRASH_GUARD, CLEAN_UP], schedules=upkeep_schedules(Settings()), poll=0.1)):
        await eventually(lambda: as_owner("SELECT 1 FROM mnemon.schedules WHERE name = %s", kind_name))
        await as_owner("UPDATE mnemon.schedules SET next_fire_at = now() WHERE name = %s", kind_name)
        (row,) = await eventually(done)
        return row


async def test_finished_jobs_are_deleted_after_their_time(own_database, as_owner, make_kind, note, eventually) -> None:
    kind, tenant = make_kind(), new_uuid()
    async with own_database.transaction(tenant) as tx:
        kept, old, failed, old_failed = [(await enqueue(tx, kind, note())).job_id for _ in range(4)]
    done = (
        "UPDATE mnemon.jobs SET status = 'DONE', next_run_at = NULL, attempts = 1, locked_by = 'w', locked_at = now(), "
        "finished_at = now() - %s WHERE job_id = %s"
    )
    dead = (
        "UPDATE mnemon.jobs SET status = 'FAILED', next_run_at = NULL, last_error_code = 'X', "
        "last_error_message = 'x', finished_at = now() - %s WHERE job_id = %s"
    )
    await as_owner(done, timedelta(days=1), kept)
    await as_owner(done, timedelta(days=8), old)
    await as_owner(dead, timedelta(days=8), failed)
    await as_owner(dead, timedelta(days=31), old_failed)
    row = await run_upkeep(own_database, as_owner, CLEAN_UP.name, eventually)
    assert row["result"] == {"deleted": 2}
    assert {row["job_id"] for row in await as_owner("SELECT job_id FROM mnemon.jobs WHERE kind = %s", kind.name)} == {
        kept, failed,
    }  # fmt: skip


async def test_the_crash_guard_ends_only_jobs_that_no_worker_offers(
    own_database, as_owner, make_kind, note, eventually
) -> None:
    offered, orphan, tenant = make_kind(), make_kind(), new_uuid()
    async with own_database.transaction(tenant) as tx:
        waiting = await enqueue(tx, offered, note())
        lost = await enqueue(tx, orphan, note())
        young = await enqueue(tx, orphan, note())
    await as_owner("UPDATE mnemon.jobs SET next_run_at = now() - interval '2 hours' WHERE job_id <> %s", young.job_id)
    await as_owner(
        "INSERT INTO mnemon.workers (worker_id, host, process_id, slots, kinds) VALUES ('busy', 'h', 1, 1, %s)",
        [offered.name],
    )
    row = await run_upkeep(own_database, as_owner, CRASH_GUARD.name, eventually)
    assert row["result"] == {"ended": 1}
    states = {row["job_id"]: row for row in await as_owner("SELECT * FROM mnemon.jobs")}
    assert states[waiting.job_id]["status"] == states[young.job_id]["status"] == "PENDING"
    assert states[lost.job_id]["last_error_code"] == "NEVER_PICKED_UP"
    assert orphan.name in states[lost.job_id]["last_error_message"]


async def test_a_system_job_sees_no_tenants_rows(own_database, as_owner, make_kind, note, eventually) -> None:
    kind, tenant = make_kind(), new_uuid()
    await as_owner("INSERT INTO mnemon.tenants VALUES (%s, %s, 'T')", tenant, f"t-{tenant.hex}")
    seen: list[int] = []

    @kind.handler
    async def handle(job: Job) -> None:
        async with job.transaction() as tx:
            seen.append(len(await (await tx.execute("SELECT 1 FROM mnemon.tenants")).fetchall()))

    async def ran() -> bool:
        return bool(seen)

    async with working(Worker(own_database, [kind], schedules=[hourly(kind, note)], poll=0.1)):
        await eventually(lambda: as_owner("SELECT 1 FROM mnemon.schedules"))
        await as_owner(MISS_SOME)
        await eventually(ran)
    assert seen == [0]
