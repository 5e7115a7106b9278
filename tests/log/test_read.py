"""Reading: streams, filters, cursors, both directions, and states of the past."""

import contextlib
import re
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.errors import InvalidRequest
from mnemon.ids import new_ulid
from mnemon.log.errors import BadCursor, EventNotFound
from mnemon.log.events import Actor, EntityReference, Scope
from mnemon.log.read.select import select_stream
from mnemon.log.read.streams import EVERYTHING, NO_FILTER, Filter, Stream
from mnemon.log.store import EventLog
from mnemon.log.types.registry import Registry

from .conftest import SHOP, noted, order_placed

MARCH = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def texts(log: EventLog, tenant: UUID, stream: Stream = EVERYTHING, wanted: Filter = NO_FILTER) -> list[str]:
    page = await log.read_page(tenant, stream, wanted)
    return [event.data["text"] for event in page.events]


async def test_by_id_finds_an_event_in_any_legal_entity(log: EventLog, tenant: UUID, other_tenant: UUID) -> None:
    [appended] = await log.append(tenant, [noted("here", scope=Scope("DE"))])
    assert (await log.read_event(tenant, appended.id)).data == {"text": "here"}
    assert (await log.read_event(tenant, appended.id, "DE")).legal_entity == "DE"
    with pytest.raises(EventNotFound):
        await log.read_event(tenant, appended.id, "main")
    with pytest.raises(EventNotFound):
        await log.read_event(other_tenant, appended.id)
    with pytest.raises(EventNotFound, match="There is no event"):
        await log.read_event(tenant, new_ulid())


async def test_each_stream_gives_its_own_events_in_order(log: EventLog, tenant: UUID) -> None:
    robot = Actor("agent", "bot-1")
    await log.append(
        tenant,
        [
            noted("a", entities=[EntityReference("order", "1")], correlation_id="p1", tags=["red"]),
            noted("b", entities=[EntityReference("customer", "1")], correlation_id="p1", actor=robot),
            noted("c", entities=[EntityReference("order", "1"), EntityReference("customer", "1")], tags=["red", "x"]),
            noted("d", scope=Scope(division="retail", custom_scopes={"till": "7"}), intent_id="i1"),
            order_placed("1"),
        ],
    )
    assert await texts(log, tenant, Stream.of_entity("customer", "1")) == ["b", "c"]
    assert await texts(log, tenant, Stream.of_correlation("p1")) == ["a", "b"]
    assert await texts(log, tenant, Stream.of_actor("bot-1")) == ["b"]
    assert await texts(log, tenant, Stream.of_tag("red")) == ["a", "c"]
    assert await texts(log, tenant, Stream.of_scope("division", "retail")) == ["d"]
    assert await texts(log, tenant, Stream.of_scope("till", "7")) == ["d"]
    assert await texts(log, tenant, Stream("intent", "i1")) == ["d"]
    assert await texts(log, tenant, Stream.of_type("shop.order.noted")) == ["a", "b", "c", "d"]
    both = await log.read_page(tenant, Stream.of_entity("order", "1"))
    assert [event.sequence for event in both.events] == [1, 3, 5]
    assert [event.sequence for event in (await log.read_page(tenant)).events] == [1, 2, 3, 4, 5]
    assert (await log.read_page(tenant, legal_entity="nowhere")).events == []


async def test_an_entity_stream_without_a_type_follows_the_id(log: EventLog, tenant: UUID) -> None:
    await log.append(
        tenant,
        [noted("a", entities=[EntityReference("order", "1")]), noted("b", entities=[EntityReference("note", "1")])],
    )
    assert await texts(log, tenant, Stream.of_entity(None, "1")) == ["a", "b"]


async def test_filters_narrow_a_stream(log: EventLog, tenant: UUID) -> None:
    for day in range(4):
        moment = MARCH + timedelta(days=day)
        await log.append(tenant, [noted(str(day), occurred_at=moment, dimensions={"team": f"t{day % 2}", "x": "y"})])
    await log.append(tenant, [order_placed(occurred_at=MARCH)])
    day_one, day_two = MARCH + timedelta(days=1), MARCH + timedelta(days=2)
    only = Filter(types=["shop.order.noted"])
    assert await texts(log, tenant, wanted=only) == ["0", "1", "2", "3"]
    assert await texts(log, tenant, wanted=Filter(occurred_from=day_one, occurred_to=day_two)) == ["1", "2"]
    assert await texts(log, tenant, wanted=Filter(effective_from=date(2026, 3, 3))) == ["2", "3"]
    assert await texts(log, tenant, wanted=Filter(effective_to=date(2026, 3, 1), types=only.types)) == ["0"]
    assert await texts(log, tenant, wanted=Filter(from_sequence=2, to_sequence=3)) == ["1", "2"]
    assert await texts(log, tenant, wanted=Filter(dimensions={"team": "t1", "x": "y"})) == ["1", "3"]
    assert await texts(log, tenant, wanted=Filter(dimensions={"team": "t1", "x": "z"})) == []


async def test_as_of_shows_the_log_as_it_was(log: EventLog, tenant: UUID) -> None:
    entity = [EntityReference("order", "1")]
    moments = []
    for number in range(7):
        [appended] = await log.append(tenant, [noted(str(number), entities=entity)])
        moments.append(appended.recorded_at)
    assert await texts(log, tenant, wanted=Filter(as_of=2)) == ["0", "1"]
    for number, moment in enumerate(moments):
        expected = [str(one) for one in range(number + 1)]
        assert await texts(log, tenant, Stream.of_entity("order", "1"), Filter(as_of=moment)) == expected
    assert await texts(log, tenant, wanted=Filter(as_of=moments[0] - timedelta(seconds=1))) == []
    between = Filter(recorded_from=moments[2], recorded_to=moments[3])
    assert await texts(log, tenant, wanted=between) == ["2", "3"]


@pytest.mark.parametrize("direction", ["forward", "backward"])
async def test_pages_cover_a_stream_once_even_while_it_grows(log: EventLog, tenant: UUID, direction: str) -> None:
    await log.append(tenant, [noted(str(number), tags=["t"]) for number in range(25)])
    seen: list[int] = []
    cursor = None
    while True:
        page = await log.read_page(tenant, Stream.of_tag("t"), direction=direction, cursor=cursor, limit=10)  # type: ignore[arg-type]
        seen += [event.sequence for event in page.events]
        if not page.has_more:
            break
        cursor = page.next_cursor
        if direction == "backward":
            await log.append(tenant, [noted("later", tags=["t"])])
    assert seen == list(range(1, 26) if direction == "forward" else range(25, 0, -1))


async def test_a_full_last_page_has_no_cursor(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [noted(), noted()])
    assert not (await log.read_page(tenant, limit=2)).has_more


async def test_a_cursor_of_another_stream_or_a_made_up_one_is_refused(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [noted(tags=["t"]), noted(tags=["t"])])
    page = await log.read_page(tenant, Stream.of_tag("t"), limit=1)
    with pytest.raises(BadCursor, match="another stream"):
        await log.read_page(tenant, Stream.of_tag("u"), cursor=page.next_cursor)
    for made_up in ("12", "äöü", "e30", "W10", "!!!!"):
        with pytest.raises(BadCursor):
            await log.read_page(tenant, Stream.of_tag("t"), cursor=made_up)


async def test_a_page_size_out_of_range_or_an_unknown_stream_is_refused(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [noted()])
    for limit in (0, 1001):
        with pytest.raises(InvalidRequest, match="1 to 1000"):
            await log.read_page(tenant, limit=limit)
    with pytest.raises(InvalidRequest, match="is not a stream"):
        await log.read_page(tenant, Stream("1=1; --", "x"))


async def test_a_scan_goes_through_a_range_in_order(log: EventLog, tenant: UUID) -> None:
    for _ in range(3):
        await log.append(tenant, [noted() for _ in range(700)])
    assert [event.sequence async for event in log.scan(tenant)] == list(range(1, 2101))
    assert [event.sequence async for event in log.scan(tenant, after=5, to=8)] == [6, 7, 8]


class TestPlans:
    """Each stream is read along an index, as the application role sees it."""

    @pytest.mark.parametrize(
        ("stream", "index"),
        [
            (EVERYTHING, "events_[0-9]+_pkey"),
            (Stream.of_type("shop.order.noted"), "type_sequence"),
            (Stream.of_correlation("p1"), "correlation_id_sequence"),
            (Stream.of_actor("u-1"), "actor_id_sequence"),
            (Stream.of_entity("order", "1"), "event_entities_pkey"),
            (Stream.of_tag("red"), "event_labels_pkey"),
        ],
    )
    async def test_a_stream_is_an_index_scan_of_one_partition(
        self, log: EventLog, database: Database, tenant: UUID, stream: Stream, index: str
    ) -> None:
        events = [noted(entities=[EntityReference("order", str(n % 90))], tags=["red"]) for n in range(900)]
        for name in ("main", "DE"):
            await log.append(tenant, [noted(scope=Scope(name))])
        await log.append(tenant, events)
        async with database.owner() as owner:
            await owner.execute("ANALYZE mnemon.event_entities, mnemon.event_labels, mnemon.events")
        selection = select_stream(stream, NO_FILTER, direction="forward", start=400, limit=50)
        async with log.reader.transaction(tenant) as connection:
            partition_id = await log.partitions.number_in(connection, tenant, "main")
            values = selection.values | {"tenant": tenant, "partition": partition_id, "partitions": [partition_id]}
            rows = await (await connection.execute("EXPLAIN " + selection.statement, values)).fetchall()
        plan = "\n".join(row["QUERY PLAN"] for row in rows)
        assert re.search(index, plan), plan
        assert "Sort" not in plan, plan
        assert "Seq Scan" not in plan, plan
        assert "Append" not in plan, plan
        assert plan.count("Index Cond: ((tenant_id") >= 1
        assert "Join Filter" not in plan, plan


async def test_a_replay_that_is_left_in_the_middle_leaves_no_connection_behind(
    database: Database, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemon.log.read.reader.SCAN_BATCH", 3)
    async with EventLog(database, registry=Registry(database, SHOP)) as log:
        await log.append(tenant, [noted(str(number)) for number in range(10)])
        assert [event.sequence async for event in log.scan(tenant)] == list(range(1, 11))
        for _ in range(20):
            async with contextlib.aclosing(log.scan(tenant)) as replay:
                async for event in replay:
                    if event.sequence == 4:
                        break
        assert [event.sequence async for event in log.scan(tenant, after=7, to=9)] == [8, 9]
