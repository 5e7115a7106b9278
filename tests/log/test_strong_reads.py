"""Strong reads: the fold of an entity's events, by snapshot where there is one, within the time there is."""

import time
from datetime import date
from typing import Any
from uuid import UUID

import pytest

from mnemon.errors import NotFound
from mnemon.log.events import EntityReference, Event, NewEvent
from mnemon.log.project.strong_reads import Fold, StrongReads
from mnemon.log.store import EventLog
from tests.log.conftest import order_placed

APPLIED: list[int] = []


def collect(state: dict[str, Any], event: Event) -> dict[str, Any]:
    APPLIED.append(event.sequence)
    return {"numbers": [*state["numbers"], event.data["number"]]}


FOLD = Fold(entity_type="order", initial=lambda: {"numbers": []}, apply=collect)


def step(number: str, day: str = "2026-03-10") -> NewEvent:
    return order_placed(number, entities=[EntityReference("order", "x")], effective_date=date.fromisoformat(day))


def strong(log: EventLog, **limits: Any) -> StrongReads:
    reads = StrongReads(log, **limits)
    reads.add(FOLD)
    return reads


async def snapshots(log: EventLog, tenant: UUID) -> list[tuple[int, str]]:
    async with log.database.transaction(tenant) as connection:
        rows = await (
            await connection.execute("SELECT as_of_sequence, status FROM mnemon.entity_snapshots ORDER BY 1")
        ).fetchall()
    return [(row["as_of_sequence"], row["status"]) for row in rows]


async def test_an_entity_without_events_is_at_version_0(log: EventLog, tenant: UUID) -> None:
    found = await strong(log).read(tenant, "order", "x")
    assert (found.state, found.version, found.consistency) == ({"numbers": []}, 0, "strong")


async def test_a_read_sees_every_committed_event(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [step("1"), order_placed("other"), step("2")])
    found = await strong(log).read(tenant, "order", "x")
    assert (found.state, found.version, found.as_of_sequence) == ({"numbers": ["1", "2"]}, 2, 3)


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
    def slow(state: dict[str, Any], event: Event) -> dict[str, Any]:
        until = time.monotonic() + 0.002
        while time.monotonic() < until:
            pass
        return collect(state, event)

    reads = StrongReads(log, snapshot_after=5, limit_seconds=0.1)
    reads.add(Fold(entity_type="order", initial=FOLD.initial, apply=slow))
    await log.append(tenant, [step(str(n)) for n in range(200)])
    first = await reads.read(tenant, "order", "x")
    assert first.consistency == "verified"
    assert first.state["numbers"] == [str(n) for n in range(first.version)] and 0 < first.version < 200
    versions = [first.version]
    while (found := await reads.read(tenant, "order", "x")).consistency == "verified":
        assert found.version > versions[-1]
        versions.append(found.version)
    assert found.state["numbers"] == [str(n) for n in range(200)]


async def test_another_fold_version_does_not_use_old_snapshots(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [step("1"), step("2")])
    await strong(log, snapshot_after=0).read(tenant, "order", "x")
    newer = StrongReads(log)
    newer.add(Fold(entity_type="order", initial=lambda: {"n": 0}, apply=lambda s, e: {"n": s["n"] + 1}, version=2))
    assert (await newer.read(tenant, "order", "x")).state == {"n": 2}


async def test_coverage_grows_with_the_snapshots(log: EventLog, tenant: UUID) -> None:
    reads = strong(log)
    await log.append(tenant, [step("1"), order_placed("y", entities=[EntityReference("order", "y")]), step("3")])
    [partition] = await log.list_partitions(tenant)
    number = partition.partition_id
    assert await reads.coverage(tenant, number) == 0
    assert await reads.cover(tenant, number, 1) == 1
    assert await reads.coverage(tenant, number) == 1
    assert await reads.cover(tenant, number, 3) == 1
    assert await reads.coverage(tenant, number) == 3
    await log.append(tenant, [step("back", "2026-01-01")])
    assert await reads.coverage(tenant, number) == 0, "a back-dated event takes the cover away"
    assert await reads.cover(tenant, number, 4) == 1
    assert await reads.coverage(tenant, number) == 4


async def test_an_entity_without_a_fold_is_refused(log: EventLog, tenant: UUID) -> None:
    with pytest.raises(NotFound):
        await StrongReads(log).read(tenant, "order", "x")
