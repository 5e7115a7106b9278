"""Order: however writers interleave, no reader ever skips an event or sees one out of order."""

import asyncio
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Database
from mnemon.log.errors import TransactionConflict
from mnemon.log.events import Scope
from mnemon.log.store import EventLog
from tests.patience import PATIENCE

from .conftest import noted

WAITING = "SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted AND relation IS NULL"


async def somebody_waits(database: Database) -> None:
    """Return once a session waits for another's row."""
    async with asyncio.timeout(PATIENCE), database.owner() as owner:
        while True:
            row = await (await owner.execute(WAITING)).fetchone()
            if row is not None and row["waiting"]:
                return
            await asyncio.sleep(0.005)


async def texts(log: EventLog, tenant: UUID) -> list[str]:
    return [event.data["text"] async for event in log.scan(tenant)]


async def test_who_appends_first_commits_first_whoever_began_first(
    log: EventLog, database: Database, tenant: UUID
) -> None:
    await log.append(tenant, [noted("start")])
    async with log.transaction(tenant) as early:
        await early.connection.execute("SELECT 1")
        async with log.transaction(tenant) as late:
            [first] = await late.append([noted("late began, first to append")])
        assert await texts(log, tenant) == ["start", "late began, first to append"]
        [second] = await early.append([noted("early began, second to append")])
    assert (first.sequence, second.sequence) == (2, 3)
    assert (await log.read_page(tenant)).events[2].previous_hash == first.hash


async def test_a_second_writer_waits_and_no_reader_sees_past_the_first(
    log: EventLog, database: Database, tenant: UUID
) -> None:
    await log.append(tenant, [noted("start")])
    async with log.transaction(tenant) as held:
        await held.append([noted("held open")])
        waiting = asyncio.create_task(log.append(tenant, [noted("waits")]))
        await somebody_waits(database)
        assert not waiting.done()
        assert await texts(log, tenant) == ["start"]
    [appended] = await waiting
    assert appended.sequence == 3
    assert await texts(log, tenant) == ["start", "held open", "waits"]


async def test_a_writer_that_gives_up_leaves_no_gap(log: EventLog, database: Database, tenant: UUID) -> None:
    await log.append(tenant, [noted("start")])
    with pytest.raises(ZeroDivisionError):
        async with log.transaction(tenant) as held:
            await held.append([noted("given up")])
            waiting = asyncio.create_task(log.append(tenant, [noted("waits")]))
            await somebody_waits(database)
            raise ZeroDivisionError
    [appended] = await waiting
    assert appended.sequence == 2
    assert await texts(log, tenant) == ["start", "waits"]


async def test_two_partitions_locked_in_opposite_orders_undo_one_writer_cleanly(
    log: EventLog, database: Database, tenant: UUID
) -> None:
    for name in ("A", "B"):
        await log.append(tenant, [noted("start", scope=Scope(name))])
    barrier = asyncio.Barrier(2)

    async def write(first: str, second: str) -> None:
        async with log.transaction(tenant) as transaction:
            await transaction.append([noted(f"{first}{second}", scope=Scope(first))])
            await barrier.wait()
            await transaction.append([noted(f"{first}{second}", scope=Scope(second))])

    results = await asyncio.gather(write("A", "B"), write("B", "A"), return_exceptions=True)
    assert [type(one) for one in results if one is not None] == [TransactionConflict]
    for name in ("A", "B"):
        events = [event async for event in log.scan(tenant, legal_entity=name)]
        assert [event.sequence for event in events] == [1, 2]


async def test_a_snapshot_taken_before_another_commit_is_refused_not_misordered(
    log: EventLog, database: Database, tenant: UUID
) -> None:
    await log.append(tenant, [noted("start")])
    with pytest.raises(TransactionConflict):
        async with database.session() as connection:
            await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            await connection.execute("SELECT set_config('mnemon.tenant', %s, true)", (str(tenant),))
            await log.append(tenant, [noted("other")])
            try:
                await log.append_in(connection, tenant, [noted("stale")])
            finally:
                await connection.rollback()
    assert await texts(log, tenant) == ["start", "other"]


async def test_recorded_time_never_goes_back(log: EventLog, database: Database, tenant: UUID) -> None:
    await log.append(tenant, [noted()])
    async with database.owner() as owner:
        await owner.execute(
            "UPDATE mnemon.partitions SET recorded_at = now() + interval '1 hour' WHERE tenant_id = %s", (tenant,)
        )
    first, second = [(await log.append(tenant, [noted()]))[0] for _ in range(2)]
    assert first.recorded_at == second.recorded_at


async def test_a_lost_connection_says_that_the_outcome_is_open(log: EventLog, database: Database, tenant: UUID) -> None:
    await log.append(tenant, [noted("start")])
    with pytest.raises(psycopg.OperationalError):
        async with log.transaction(tenant) as held:
            await held.append([noted("held open")])
            async with database.owner() as owner:
                await owner.execute("SELECT pg_terminate_backend(%s)", (held.connection.info.backend_pid,))
            await held.connection.execute("SELECT 1")
    assert await texts(log, tenant) == ["start"]
