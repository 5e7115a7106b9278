"""Kinds take turns at a worker, and tenants within a kind: no queue, however long, starves another."""

from collections import Counter
from datetime import timedelta
from uuid import UUID

import pytest

from mnemon.work.enqueue import enqueue, enqueue_many
from mnemon.work.job import Job
from mnemon.work.line import WorkerLine
from mnemon.work.queue import Turns, claim_jobs, release_delayed_jobs

LEASE = timedelta(minutes=1)
NIL = UUID(int=0)
TENANTS = [UUID(int=number) for number in (3, 2**64, 2**127)]


@pytest.fixture
async def line(database):
    one = WorkerLine(database.server)
    yield one
    await one.close()


@pytest.fixture
def add(database, note):
    async def add_jobs(tenant, kind, count, **options) -> None:
        async with database.transaction(tenant) as tx:
            await enqueue_many(tx, kind, [note()] * count, **options)

    return add_jobs


async def served(line, turns, wanted) -> list[UUID]:
    return [row["tenant_id"] for row in await claim_jobs(line, "w", turns, wanted, LEASE)]


async def test_a_lone_job_does_not_wait_behind_another_tenants_thousands(line, add, make_kind) -> None:
    kind = make_kind()
    turns = Turns([kind])
    many, *few = TENANTS
    await add(many, kind, 3000)
    assert await served(line, turns, 1) == [many]
    for tenant in (*few, NIL):
        await add(tenant, kind, 1)
    assert Counter([(await served(line, turns, 1))[0] for _ in range(4)]) == Counter([NIL, *TENANTS])


async def test_with_room_for_more_every_tenant_gets_its_share_and_none_of_the_room_is_lost(
    line, add, make_kind
) -> None:
    kind = make_kind()
    turns = Turns([kind])
    many, few, one = TENANTS
    await add(many, kind, 1000)
    await add(few, kind, 20)
    await add(one, kind, 1)
    assert Counter(await served(line, turns, 30)) == {many: 15, few: 14, one: 1}
    assert Counter(await served(line, turns, 30)) == {many: 24, few: 6}
    assert Counter(await served(line, turns, 30)) == {many: 30}


async def test_one_slot_goes_round_all_tenants(line, add, make_kind) -> None:
    kind = make_kind()
    turns = Turns([kind])
    everyone = [NIL, *TENANTS]
    for tenant in everyone:
        await add(tenant, kind, 5)
    order = [(await served(line, turns, 1))[0] for _ in range(12)]
    assert all(Counter(order[at : at + 4]) == Counter(everyone) for at in (0, 4, 8))


async def test_a_kind_does_not_wait_behind_the_queue_of_another(line, add, make_kind) -> None:
    long, short = make_kind(), make_kind()
    turns = Turns([long, short])
    await add(TENANTS[0], long, 500)
    await claim_jobs(line, "w", turns, 1, LEASE)
    await add(TENANTS[0], short, 2)
    kinds = [(await claim_jobs(line, "w", turns, 1, LEASE))[0]["kind"] for _ in range(5)]
    assert kinds == [short.name, long.name, short.name, long.name, long.name]


async def test_a_higher_priority_comes_first_whosever_turn_it_is(line, add, make_kind) -> None:
    first, second = make_kind(), make_kind()
    turns = Turns([first, second])
    await add(TENANTS[0], first, 1, priority=5)
    await add(TENANTS[0], first, 1, priority=-1)
    await add(TENANTS[1], second, 1)
    await add(TENANTS[1], second, 1, priority=3)
    rows = await claim_jobs(line, "w", turns, 9, LEASE)
    assert [row["kind"] for row in rows] == [first.name, second.name, second.name, first.name]


async def test_jobs_that_were_put_off_come_when_they_are_due_and_take_no_turn_before(
    database, line, add, make_kind, note
) -> None:
    kind = make_kind()
    turns = Turns([kind])
    soon, later, now = TENANTS
    async with database.transaction(later) as tx:
        await enqueue(tx, kind, note(), delay=timedelta(hours=1), priority=9)
    async with database.transaction(soon) as tx:
        put_off = await enqueue(tx, kind, note(), delay=timedelta(hours=1))
    await add(now, kind, 2)
    assert await served(line, turns, 1) == [now]
    async with database.owner() as owner:
        await owner.execute("UPDATE mnemon.jobs SET next_run_at = now() WHERE job_id = %s", (put_off.job_id,))
    await release_delayed_jobs(line)
    assert Counter(await served(line, turns, 9)) == {now: 1, soon: 1}


async def test_a_busy_worker_serves_a_newcomer_at_its_next_free_slot(
    database, make_kind, note, add, run_worker, job_reaches, tenant, other_tenant, eventually
) -> None:
    kind = make_kind()
    order: list[UUID] = []

    @kind.handler
    async def handle(job: Job) -> None:
        order.append(job.tenant_id)
        if len(order) == 20:
            await add(tenant, kind, 1)

    async def newcomer_served() -> bool:
        return tenant in order

    await add(other_tenant, kind, 2000)
    await run_worker(kind, slots=1)
    await eventually(newcomer_served)
    assert order.index(tenant) == 20
