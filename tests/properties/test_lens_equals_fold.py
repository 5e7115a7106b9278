"""Whatever is appended, rebuilt, reset or projected in whatever order: a lens is the fold of the log."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import make_tenant
from tests.log.conftest import SHOP, noted, order_placed
from tests.log.shop_lenses import fold_of, lens_tables, rows_of, totals

from mnemon.db.database import Database
from mnemon.log.events import EntityReference, Scope
from mnemon.log.project.projector import Projector
from mnemon.log.read.pattern import Pattern, find_next
from mnemon.log.store import EventLog
from mnemon.log.types.registry import Registry

PLACES = st.sampled_from(["main", "berlin", "rome"])
STEPS = st.one_of(
    st.tuples(st.just("append"), PLACES, st.integers(1, 5)),
    st.tuples(st.just("note"), PLACES, st.integers(1, 3)),
    st.tuples(st.sampled_from(["catch_up", "rebuild", "rebuild_fully", "another_process"]), st.just(""), st.just(0)),
)
PATTERNS = st.builds(
    Pattern,
    types=st.lists(st.sampled_from(["shop.order.placed", "shop.order.noted", "ap.x"]), max_size=2),
    modules=st.lists(st.sampled_from(["shop", "ap"]), max_size=1),
    entities=st.lists(st.tuples(st.just("order"), st.sampled_from(["x", "y"])), max_size=2),
    scopes=st.dictionaries(st.sampled_from(["region", "project"]), st.sampled_from(["north", "p1"]), max_size=2),
)
EVENTS = st.lists(
    st.tuples(
        st.booleans(), st.sampled_from(["x", "y", "z"]), st.sampled_from([None, "north", "south"]),
        st.sampled_from([{}, {"project": "p1"}, {"project": "north"}]),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
async def tables(database: Database) -> AsyncIterator[None]:
    async with lens_tables(database):
        yield


def a_log(database: Database) -> EventLog:
    return EventLog(database, registry=Registry(database, SHOP))


@pytest.mark.parametrize("lifecycle", ["inline", "async"])
@given(steps=st.lists(STEPS, max_size=12), interval=st.sampled_from([None, 1, 5]))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
async def test_a_lens_is_the_fold_of_the_log(
    database: Database, lifecycle: str, steps: list[tuple[str, str, int]], interval: int | None
) -> None:
    tenant = await make_tenant(database)
    log = a_log(database)
    projector = Projector(log)
    projector.add(totals(lifecycle=lifecycle, snapshot_every=interval))
    await projector.catch_up(tenant)
    for step, place, amount in steps:
        if step == "append":
            events = [order_placed(str(n), scope=Scope(place)) for n in range(amount)]
            await log.append(tenant, events)
        elif step == "note":
            await log.append(tenant, [noted(scope=Scope(place)) for _ in range(amount)])
        elif step == "catch_up":
            await projector.catch_up(tenant)
        elif step == "another_process":
            await log.close()
            log = a_log(database)
            projector = Projector(log)
            projector.add(totals(lifecycle=lifecycle, snapshot_every=interval))
        else:
            await projector.rebuild(tenant, "totals", from_snapshot=step == "rebuild")
    await projector.catch_up(tenant)
    assert await rows_of(log, tenant) == await fold_of(log, tenant)
    projected = await projector.state_hash(tenant, "totals")
    assert (await projector.rebuild(tenant, "totals", from_snapshot=False)).state_hash == projected
    await log.close()


@given(pattern=PATTERNS, events=EVENTS)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
async def test_a_pattern_means_the_same_in_sql_and_in_python(
    database: Database, pattern: Pattern, events: list[tuple[bool, str, str | None, dict[str, str]]]
) -> None:
    tenant = await make_tenant(database)
    async with a_log(database) as log:
        made = [
            (order_placed if placed else noted)(
                "1", entities=[EntityReference("order", order)], scope=Scope(region=region, custom_scopes=custom)
            )
            for placed, order, region, custom in events
        ]
        await log.append(tenant, made)
        [partition] = await log.list_partitions(tenant)
        place = partition.partition_id, partition.legal_entity
        found = await find_next(log.reader, tenant, pattern, place, after=0, head=len(events), limit=100)
        everything = [event async for event in log.scan(tenant)]
        expected = [event.sequence for event in everything if pattern.fits(event)]
        assert [event.sequence for event in found.events] == expected
