"""Entity states: the fold of an entity's events by the rules of their types, by snapshot where there is one."""

from collections.abc import Iterator
from datetime import date
from typing import Any
from uuid import UUID

import pytest

from mnemon.errors import NotFound
from mnemon.log.events import SYSTEM, EntityReference, Event, NewEvent
from mnemon.log.project.entity_states import EntityStates
from mnemon.log.project.state_fold import StateFold
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import DataMigration, EventType
from mnemon.log.types.state_rules import FoldState, StateRule
from tests.log.conftest import noted, order_placed

APPLIED: list[int] = []


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Which events a read folds."""
    apply = StateFold.apply

    def counting(self: StateFold, state: FoldState, event: Event, entity_id: str) -> FoldState:
        APPLIED.append(event.sequence)
        return apply(self, state, event, entity_id)

    monkeypatch.setattr(StateFold, "apply", counting)
    yield
    APPLIED.clear()


def step(number: str, day: str = "2026-03-10") -> NewEvent:
    return order_placed(number, entities=[EntityReference("order", "x")], effective_date=date.fromisoformat(day))


def strong(log: EventLog, **limits: Any) -> EntityStates:
    return EntityStates(log, **{"limit_seconds": 60} | limits)


async def snapshots(log: EventLog, tenant: UUID) -> list[tuple[int, str]]:
    async with log.database.transaction(tenant) as connection:
        rows = await (
            await connection.execute("SELECT as_of_sequence, status FROM mnemon.entity_snapshots ORDER BY 1")
        ).fetchall()
    return [(row["as_of_sequence"], row["status"]) for row in rows]


async def test_an_entity_without_events_is_at_version_0(log: EventLog, tenant: UUID) -> None:
    found = await strong(log).read(tenant, "order", "x")
    assert (found.state, found.version, found.consistency) == ({}, 0, "strong")


async def test_a_read_sees_every_committed_event(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [step("1"), order_placed("other"), step("2")])
    found = await strong(log).read(tenant, "order", "x")
    assert (found.version, found.as_of_sequence) == (2, 3)
    assert found.state == {"status": "placed", "number": "2", "amount": 20, "numbers": ["1", "2"]}


async def test_a_snapshot_is_taken_once_the_stream_has_grown_by_more_than_100(log: EventLog, tenant: UUID) -> None:
    reads = strong(log)
    await log.append(tenant, [step(str(n)) for n in range(100)])
    await reads.read(tenant, "order", "x")
    assert await snapshots(log, tenant) == []
    await log.append(tenant, [step("100")])
    full = await reads.read(tenant, "order", "x")
    assert await snapshots(log, tenant) == [(101, "valid")]
    await log.append(tenant, [step("101")])
    APPLIED.clear()
    found = await reads.read(tenant, "order", "x")
    assert APPLIED == [102]
    assert found.state["numbers"] == [*full.state["numbers"], "101"] and found.version == 102


async def test_a_back_dated_event_makes_the_snapshot_stale_and_takes_its_place_in_order(
    log: EventLog, tenant: UUID
) -> None:
    reads = strong(log, snapshot_after=1)
    await log.append(tenant, [step("a", "2026-03-01"), step("b", "2026-03-05")])
    await reads.read(tenant, "order", "x")
    await log.append(tenant, [step("c", "2026-03-10"), step("d", "2026-03-20")])
    await reads.read(tenant, "order", "x")
    assert await snapshots(log, tenant) == [(2, "valid"), (4, "valid")]
    await log.append(tenant, [step("late", "2026-03-07")])
    APPLIED.clear()
    found = await reads.read(tenant, "order", "x")
    assert found.state["numbers"] == ["a", "b", "late", "c", "d"]
    assert {1, 2}.isdisjoint(APPLIED), "the earlier snapshot is still good"
    assert (4, "valid") not in await snapshots(log, tenant)
    assert (await reads.read(tenant, "order", "x")).state == found.state


async def test_a_read_that_takes_too_long_degrades_and_later_ones_get_there(log: EventLog, tenant: UUID) -> None:
    reads = strong(log, snapshot_after=5, limit_seconds=0)
    await log.append(tenant, [step(str(n)) for n in range(20)])
    for version in range(1, 20):
        found = await reads.read(tenant, "order", "x")
        assert (found.consistency, found.version) == ("verified", version), "one event further each time"
        assert found.state["numbers"] == [str(n) for n in range(version)]
    found = await reads.read(tenant, "order", "x")
    assert (found.consistency, found.version) == ("strong", 20)


async def test_an_entity_as_of_a_sequence_or_a_moment_is_as_it_was(log: EventLog, tenant: UUID) -> None:
    reads = strong(log, snapshot_after=0)
    made = [(await log.append(tenant, [step(str(n))]))[0] for n in range(4)]
    assert (await reads.read(tenant, "order", "x")).version == 4
    for version, one in enumerate(made, 1):
        for as_of in (one.sequence, one.recorded_at):
            found = await reads.read(tenant, "order", "x", as_of=as_of)
            assert (found.version, found.as_of_sequence) == (version, one.sequence)
            assert found.state["number"] == str(version - 1)
    assert (await reads.read(tenant, "order", "x", as_of=0)).version == 0
    # An event that was recorded later, though dated before, is not known yet.
    await log.append(tenant, [step("early", "2026-01-01")])
    assert (await reads.read(tenant, "order", "x", as_of=made[1].sequence)).state["numbers"] == ["0", "1"]
    assert (await reads.read(tenant, "order", "x")).state["numbers"] == ["early", "0", "1", "2", "3"]


async def test_rules_come_with_the_types_and_other_rules_do_not_use_old_snapshots(log: EventLog, tenant: UUID) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    rule = StateRule(entity_type="ship", set={"name": "$.name"}, count=("names",))
    named = EventType(type="port.ship.named", data_schema=schema, state=(rule,))
    await log.register_type(tenant, named, SYSTEM)
    ship = [EntityReference("ship", "s")]
    await log.append(tenant, [NewEvent(type="port.ship.named", data={"name": name}, entities=ship) for name in "AB"])
    reads = strong(log, snapshot_after=0)
    assert (await reads.read(tenant, "ship", "s")).state == {"name": "B", "names": 2}
    assert await snapshots(log, tenant) == [(3, "valid")], "after that of the type's registration"

    title = {"type": "object", "properties": {"title": {"type": "string"}}}
    other = StateRule(entity_type="ship", append={"titles": "$.title"})
    await log.register_type(
        tenant,
        EventType(
            type="port.ship.named", schema_version=2, data_schema=title, state=(other,),
            upcast=DataMigration(renames={"name": "title"}),
        ),
        SYSTEM,
    )  # fmt: skip
    assert (await reads.read(tenant, "ship", "s")).state == {"titles": ["A", "B"]}, "old data in the newest form"


async def test_a_rule_may_be_about_one_role_only(log: EventLog, tenant: UUID) -> None:
    rule = StateRule(entity_type="person", role="seller", count=("sold",))
    await log.register_type(tenant, EventType(type="shop.sale.made", data_schema={}, state=(rule,)), SYSTEM)
    sale = [EntityReference("person", "ann", "seller"), EntityReference("person", "bob", "buyer")]
    await log.append(tenant, [NewEvent(type="shop.sale.made", data={}, entities=sale)])
    reads = strong(log)
    assert (await reads.read(tenant, "person", "ann")).state == {"sold": 1}
    bob = await reads.read(tenant, "person", "bob")
    assert (bob.state, bob.version) == ({}, 1)


async def test_events_without_a_rule_count_as_versions_only(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [step("1"), noted("a", entities=[EntityReference("order", "x")])])
    found = await strong(log).read(tenant, "order", "x")
    assert (found.state["numbers"], found.version) == (["1"], 2)


async def test_coverage_is_what_snapshots_hold_and_missing_ones_are_taken(log: EventLog, tenant: UUID) -> None:
    reads = strong(log)
    await log.append(tenant, [step("1"), order_placed("y", entities=[EntityReference("order", "y")]), step("3")])
    [partition] = await log.list_partitions(tenant)
    assert await reads.cover(tenant, partition.partition_id, 1) == 1
    assert await snapshots(log, tenant) == [(3, "valid")]
    assert await reads.coverage(tenant, partition.partition_id) == 3
    assert await snapshots(log, tenant) == [(2, "valid"), (3, "valid")]
    await log.append(tenant, [step("back", "2026-01-01")])
    assert await reads.coverage(tenant, partition.partition_id) == 4
    assert (3, "valid") not in await snapshots(log, tenant), "a back-dated event takes the cover away"


async def test_an_entity_of_which_no_type_says_anything_is_refused(log: EventLog, tenant: UUID) -> None:
    with pytest.raises(NotFound, match="declare `state`"):
        await strong(log).read(tenant, "unheard_of", "x")
