"""Lineage: causes, consequences and processes, whatever shape they have."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mnemon.ids import new_ulid
from mnemon.log.errors import EventNotFound
from mnemon.log.events import Actor, EntityReference, Event, Scope
from mnemon.log.store import EventLog

from .conftest import noted


def texts(events: list[Event]) -> list[str]:
    return [event.data["text"] for event in events]


async def test_lineage_runs_from_the_first_cause_to_the_event(log: EventLog, tenant: UUID) -> None:
    [root] = await log.append(tenant, [noted("root")])
    [middle] = await log.append(tenant, [noted("middle", caused_by=root.id, scope=Scope("DE"))])
    [last] = await log.append(tenant, [noted("last", caused_by=middle.id)])
    assert texts(list(await log.read_lineage(tenant, last.id))) == ["root", "middle", "last"]
    assert texts(list(await log.read_lineage(tenant, root.id))) == ["root"]
    with pytest.raises(EventNotFound):
        await log.read_lineage(tenant, new_ulid())


async def test_descendants_are_all_that_followed(log: EventLog, tenant: UUID) -> None:
    [root] = await log.append(tenant, [noted("root")])
    left, _right = await log.append(tenant, [noted("left", caused_by=root.id), noted("right", caused_by=root.id)])
    await log.append(tenant, [noted("leaf", caused_by=left.id), noted("stranger")])
    assert texts(list(await log.read_descendants(tenant, root.id))) == ["left", "right", "leaf"]
    assert await log.read_descendants(tenant, new_ulid()) == []


async def test_depth_is_limited(log: EventLog, tenant: UUID) -> None:
    ids = [new_ulid() for _ in range(60)]
    await log.append(tenant, [noted(str(n), id=ids[n], caused_by=ids[n - 1] if n else None) for n in range(60)])
    assert len(await log.read_lineage(tenant, ids[-1])) == 51
    assert texts(list(await log.read_lineage(tenant, ids[-1], depth=2))) == ["57", "58", "59"]
    assert len(await log.read_descendants(tenant, ids[0])) == 50
    assert texts(list(await log.read_descendants(tenant, ids[0], depth=2))) == ["1", "2"]


async def test_a_cycle_ends_where_it_closes(log: EventLog, tenant: UUID) -> None:
    one, two = new_ulid(), new_ulid()
    await log.append(tenant, [noted("1", id=one, caused_by=two), noted("2", id=two, caused_by=one)])
    assert texts(list(await log.read_lineage(tenant, two))) == ["1", "2"]
    assert texts(list(await log.read_descendants(tenant, one))) == ["2"]


async def test_a_trace_tells_duration_actors_and_entities(log: EventLog, tenant: UUID) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    order, payment = EntityReference("order", "1"), EntityReference("payment", "9", "proof")
    await log.append(tenant, [noted("a", correlation_id="p", occurred_at=start, entities=[order])])
    await log.append(
        tenant,
        [
            noted(
                "b",
                correlation_id="p",
                occurred_at=start + timedelta(minutes=5),
                actor=Actor("system", "bank"),
                entities=[order, payment],
                scope=Scope("DE"),
            )
        ],
    )
    await log.append(tenant, [noted("other")])
    trace = await log.read_trace(tenant, "p")
    assert texts(list(trace.events)) == ["a", "b"]
    assert trace.duration == timedelta(minutes=5)
    assert trace.actors == ["bank", "u-1"]
    assert trace.entities == [order, payment]
    assert (await log.read_trace(tenant, "unknown")).duration == timedelta()
