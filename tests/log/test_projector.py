"""Lenses: equal to the fold of the log, whatever their lifecycle, before, during and after a rebuild."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from uuid import UUID

import pytest

from mnemon.db.database import Connection, Database
from mnemon.errors import Conflict, InvalidRequest, NotAllowed, NotFound
from mnemon.log.events import Event, Scope
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.log.types.registry import Registry
from tests.conftest import make_tenant
from tests.log.conftest import SHOP, noted, order_placed
from tests.log.following import QUICK, WOKEN
from tests.log.shop_lenses import count_orders, fold_of, lens_tables, rows_of, totals, until_equal
from tests.patience import PATIENCE


@pytest.fixture(autouse=True, scope="module")
async def tables(database: Database) -> AsyncIterator[None]:
    async with lens_tables(database):
        yield


async def fill(log: EventLog, tenant: UUID, amount: int = 30) -> None:
    for name in ("main", "berlin"):
        events = [order_placed(f"{name}-{n}", scope=Scope(name)) for n in range(amount)]
        await log.append(tenant, [*events, noted(scope=Scope(name))])


@pytest.fixture
async def own_log(own_database: Database) -> AsyncIterator[EventLog]:
    """In a database of its own, as a running projector works for every tenant there is."""
    async with lens_tables(own_database), EventLog(own_database, registry=Registry(own_database, SHOP)) as opened:
        yield opened


async def test_an_inline_lens_is_there_when_the_append_returns(log: EventLog, tenant: UUID) -> None:
    Projector(log).add(totals(lifecycle="inline"))
    await fill(log, tenant, 3)
    assert await rows_of(log, tenant) == await fold_of(log, tenant) != {}


async def test_an_async_lens_follows_every_tenant_in_the_background(own_log: EventLog) -> None:
    tenants = [await make_tenant(own_log.database) for _ in range(3)]
    projector = Projector(own_log, WOKEN)
    projector.add(totals())
    async with projector:
        await asyncio.gather(*(fill(own_log, tenant) for tenant in tenants))
        for tenant in tenants:
            await until_equal(own_log, tenant)
        await own_log.append(tenants[0], [order_placed("late")])
        await until_equal(own_log, tenants[0])
    assert (await rows_of(own_log, tenants[0]))["main"][0] == 31


async def test_a_rebuild_gives_the_same_state_hash(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    projector.add(totals())
    await fill(log, tenant)
    await projector.catch_up(tenant)
    before = await projector.state_hash(tenant, "totals")
    progress: list[tuple[int, int]] = []
    rebuilt = await projector.rebuild(tenant, "totals", progress=lambda done, total: progress.append((done, total)))
    assert rebuilt.state_hash == before == await projector.state_hash(tenant, "totals")
    assert progress[-1] == (62, 62)
    assert await rows_of(log, tenant) == await fold_of(log, tenant)
    state = await projector.state(tenant, "totals")
    assert state is not None and (state.rebuilding, state.state_hash) == (False, before)


async def test_a_verification_compares_and_changes_nothing(log: EventLog, tenant: UUID) -> None:
    for lifecycle in ("async", "inline"):
        projector = Projector(log)
        projector.add(totals(lifecycle=lifecycle))
        await fill(log, tenant, 5)
        await projector.rebuild(tenant, "totals")
        # An async lens that is behind is compared with what it has looked at.
        await fill(log, tenant, 5)
        found = await projector.verify(tenant, "totals")
        assert found.matches and found.events > 0
        async with log.database.transaction(tenant) as connection:
            await connection.execute("UPDATE mnemon.test_totals SET orders = orders + 1 WHERE legal_entity = 'main'")
        wrong = await projector.state_hash(tenant, "totals")
        assert not (await projector.verify(tenant, "totals")).matches
        assert await projector.state_hash(tenant, "totals") == wrong
        await projector.rebuild(tenant, "totals", from_snapshot=False)
        assert (await projector.verify(tenant, "totals")).matches


async def test_the_lenses_are_listed_with_how_they_stand(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    projector.add(totals())
    assert [(one.lens.name, one.status) for one in await projector.list(tenant)] == [("totals", "empty")]
    await fill(log, tenant, 5)
    assert [(one.status, one.behind) for one in await projector.list(tenant)] == [("behind", 12)]
    await projector.catch_up(tenant)
    assert [(one.status, one.behind) for one in await projector.list(tenant)] == [("current", 0)]
    newer = Projector(log)
    newer.add(totals(version=2))
    assert [one.status for one in await newer.list(tenant)] == ["outdated"]


async def test_a_changed_row_changes_the_hash_and_a_rebuild_mends_it(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    projector.add(totals())
    await fill(log, tenant, 3)
    await projector.catch_up(tenant)
    before = await projector.state_hash(tenant, "totals")
    async with log.database.transaction(tenant) as connection:
        await connection.execute("UPDATE mnemon.test_totals SET amount = amount + 1 WHERE legal_entity = 'main'")
    assert await projector.state_hash(tenant, "totals") != before
    assert (await projector.rebuild(tenant, "totals")).state_hash == before


async def test_old_rows_serve_while_the_lens_is_rebuilt(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
        if "pg_temp" in tables["test_totals"]:
            reached.set()
            await go_on.wait()
        await count_orders(connection, events, tables)

    projector.add(totals(apply=slow))
    await fill(log, tenant, 600)
    await projector.catch_up(tenant)
    before = await rows_of(log, tenant)
    rebuilding = asyncio.create_task(projector.rebuild(tenant, "totals"))
    async with asyncio.timeout(PATIENCE):
        await reached.wait()
        assert await rows_of(log, tenant) == before
        state = await projector.state(tenant, "totals")
        assert state is not None and state.rebuilding and state.total == 1202
        with pytest.raises(Conflict):
            await projector.rebuild(tenant, "totals")
        await log.append(tenant, [order_placed("meanwhile")])
        await projector.catch_up(tenant)
        assert (await rows_of(log, tenant))["main"][0] == 601
        go_on.set()
        await rebuilding
    assert await rows_of(log, tenant) == await fold_of(log, tenant)


@pytest.mark.parametrize("lifecycle", ["inline", "async"])
async def test_appends_during_rebuilds_are_counted_once(own_log: EventLog, lifecycle: str) -> None:
    log, tenant = own_log, await make_tenant(own_log.database)
    projector = Projector(log, QUICK)
    projector.add(totals(lifecycle=lifecycle))
    done = asyncio.Event()

    async def write(name: str) -> None:
        for n in range(60):
            await log.append(tenant, [order_placed(f"{name}-{n}-{k}", scope=Scope(name)) for k in range(3)])

    async def rebuild() -> None:
        while not done.is_set():
            await projector.rebuild(tenant, "totals")

    await projector.catch_up(tenant)
    async with projector:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(rebuild())
            await asyncio.gather(write("main"), write("berlin"), write("rome"))
            done.set()
        await until_equal(log, tenant)
    assert {name: row[0] for name, row in (await rows_of(log, tenant)).items()} == dict.fromkeys(
        ("main", "berlin", "rome"), 180
    )


async def test_a_new_version_of_a_lens_rebuilds_by_itself(
    log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
) -> None:
    first = Projector(log)
    first.add(totals())
    await fill(log, tenant, 3)
    await first.catch_up(tenant)

    async def twice(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
        await count_orders(connection, events, tables)
        await connection.execute(f"UPDATE {tables['test_totals']} SET amount = orders * 100")

    async with fresh_log() as restarted:
        second = Projector(restarted)
        second.add(totals(apply=twice, version=2))
        await second.catch_up(tenant)
    assert (await rows_of(log, tenant))["main"][:2] == (3, 300)


async def test_an_inline_lens_that_comes_late_is_filled_from_the_log(log: EventLog, tenant: UUID) -> None:
    await fill(log, tenant, 3)
    projector = Projector(log)
    projector.add(totals(lifecycle="inline"))
    await projector.catch_up(tenant)
    await fill(log, tenant, 2)
    assert await rows_of(log, tenant) == await fold_of(log, tenant)


async def test_a_failing_event_stops_the_lens_before_it_and_the_rest_stays_right(log: EventLog, tenant: UUID) -> None:
    failing = True

    async def picky(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
        for event in events:
            await count_orders(connection, [event], tables)
            if failing and event.data["number"] == "main-7":
                raise ValueError("not this one")

    projector = Projector(log, DeliveryLimits(retry_seconds=0, failures=3))
    projector.add(totals(apply=picky))
    await fill(log, tenant, 20)
    await projector.catch_up(tenant)
    rows = await rows_of(log, tenant)
    assert rows["main"][2] == list(range(1, 8))
    stuck = await log.subscriptions.find(tenant, "lens:totals")
    assert (stuck.status, stuck.error_count, stuck.last_error) == ("broken", 3, "ValueError: not this one")
    failing = False
    await log.subscriptions.resume(tenant, "lens:totals")
    await projector.catch_up(tenant)
    assert await rows_of(log, tenant) == await fold_of(log, tenant)


async def test_a_rebuild_starts_from_the_last_snapshot(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    applied: list[int] = []

    async def watched(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
        if "pg_temp" in tables["test_totals"]:
            applied.extend(event.sequence for event in events)
        await count_orders(connection, events, tables)

    projector.add(totals(apply=watched, snapshot_every=10))
    await log.append(tenant, [order_placed(str(n)) for n in range(50)])
    await projector.catch_up(tenant)
    before = await projector.state_hash(tenant, "totals")
    assert (await projector.rebuild(tenant, "totals")).state_hash == before
    assert applied == []
    assert (await projector.rebuild(tenant, "totals", from_snapshot=False)).state_hash == before
    assert applied == list(range(1, 51))


async def test_coverage_is_what_every_lens_has_behind_it(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    projector.add(totals(snapshot_every=10))
    await log.append(tenant, [order_placed(str(n)) for n in range(30)])
    [partition] = await log.list_partitions(tenant)
    assert await projector.coverage(tenant, partition.partition_id) == 0
    await projector.catch_up(tenant)
    assert await projector.coverage(tenant, partition.partition_id) == 30
    await log.append(tenant, [order_placed("next")])
    await projector.catch_up(tenant)
    assert await projector.coverage(tenant, partition.partition_id) == 30


async def test_two_lenses_of_one_name_and_bad_names_are_refused(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    projector.add(totals())
    with pytest.raises(Conflict):
        projector.add(totals())
    with pytest.raises(InvalidRequest):
        Lens(name="x", tables=("public.users; DROP TABLE x",), apply=count_orders)
    with pytest.raises(NotFound):
        await projector.rebuild(tenant, "nobody")


async def test_nobody_but_the_lens_moves_its_cursor(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    projector.add(totals())
    await log.append(tenant, [order_placed("1")])
    await projector.catch_up(tenant)
    name = "lens:totals"
    with pytest.raises(NotAllowed, match="rebuild the lens"):
        await log.subscriptions.reset(tenant, name)
    with pytest.raises(NotAllowed):
        await log.subscriptions.remove(tenant, name)
    with pytest.raises(NotAllowed):
        await log.subscriptions.add(tenant, Subscription("lens:other"))
    [later] = await log.append(tenant, [order_placed("2")])
    with pytest.raises(NotAllowed):
        await log.pull.acknowledge(tenant, name, "main", later.sequence)
    with pytest.raises(NotAllowed):
        await log.pull.reject(tenant, name, later.id, later.sequence, "no")
    with pytest.raises(NotAllowed):
        await log.pull.claim(tenant, name, "someone")
    await projector.catch_up(tenant)
    assert await rows_of(log, tenant) == await fold_of(log, tenant)
