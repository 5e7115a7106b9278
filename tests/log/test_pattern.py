"""Patterns: how they read and are refused, and that finding the next events is a walk along the primary key."""

from uuid import UUID

import pytest

from mnemon.errors import InvalidRequest
from mnemon.log.read.pattern import ALL_EVENTS, Pattern, _select, find_next
from mnemon.log.store import EventLog
from tests.log.conftest import noted, order_placed

PATTERNS = [
    ALL_EVENTS,
    Pattern(types=["shop.order.placed", "shop.order.noted"]),
    Pattern(modules=["shop"]),
    Pattern(entities=[("order", "A-1"), ("order", "A-2")]),
    Pattern(scopes={"region": "north", "project": "p"}),
]


def test_a_pattern_reads_back_as_it_was_written() -> None:
    pattern = Pattern(types=("a.b",), entities=(("order", "1"),), scopes={"site": "s"}, modules=("m",))
    assert Pattern.from_json(pattern.as_json()) == pattern
    assert Pattern.from_json({"event_types": None, "scopes": None}) == ALL_EVENTS


@pytest.mark.parametrize("given", [{"event_types": "a.b"}, {"entities": ["x"]}, {"scopes": ["x"]}, {"modules": 7}])
def test_a_malformed_pattern_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        Pattern.from_json(given)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: str(sorted(pattern.as_json())))
async def test_the_next_events_are_found_by_a_walk_in_order_over_one_partition(
    log: EventLog, tenant: UUID, pattern: Pattern
) -> None:
    await log.append(tenant, [order_placed("A-1"), noted()])
    [partition] = await log.list_partitions(tenant)
    number = partition.partition_id
    statement, values = _select(pattern)
    values |= {"tenant": tenant, "partition": number, "partitions": [number], "after": 0, "last": 2, "limit": 10}
    async with log.reader.transaction(tenant) as connection:
        rows = await (await connection.execute("EXPLAIN " + statement, values)).fetchall()
    plan = "\n".join(row["QUERY PLAN"] for row in rows)
    assert f"events_{number}" in plan
    assert "Seq Scan" not in plan and "Sort" not in plan and "Append" not in plan, plan


async def test_no_event_beyond_the_committed_head_is_looked_at(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [noted(), noted(), noted()])
    [partition] = await log.list_partitions(tenant)
    place = partition.partition_id, partition.legal_entity
    found = await find_next(log.reader, tenant, ALL_EVENTS, place, after=0, head=2, limit=10)
    assert ([event.sequence for event in found.events], found.searched_to) == ([1, 2], 2)
    nothing = await find_next(log.reader, tenant, Pattern(types=["x.y"]), place, after=1, head=3, limit=10)
    assert (list(nothing.events), nothing.searched_to) == ([], 3)
