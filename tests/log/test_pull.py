"""Pulling: fetch, acknowledge, wait for what is to come."""

import asyncio
from collections.abc import Callable
from uuid import UUID

import pytest

from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.errors import SubscriptionMoved, SubscriptionNotFound
from mnemon.log.events import Scope
from mnemon.log.pattern import Pattern
from mnemon.log.pull import Batch
from mnemon.log.store import EventLog
from mnemon.log.subscriptions import Subscription
from tests.log.conftest import noted, order_placed
from tests.log.following import cursor_of, first

S = Subscription("pull")


def numbers(batch: Batch) -> list[str]:
    return [event.data["number"] for event in batch.events]


async def test_what_is_not_acknowledged_comes_again(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed(str(n)) for n in range(1, 4)])
    batch = await log.pull.fetch(tenant, "pull", limit=2)
    assert (numbers(batch), batch.has_more) == (["1", "2"], True)
    assert numbers(await log.pull.fetch(tenant, "pull", limit=2)) == ["1", "2"]
    last = batch.events[-1]
    assert await log.pull.acknowledge_event(tenant, "pull", last.id, last.sequence) == 2
    rest = await log.pull.fetch(tenant, "pull")
    assert (numbers(rest), rest.has_more) == (["3"], False)


async def test_a_batch_may_span_partitions_and_each_is_acknowledged(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed("a")])
    await log.append(tenant, [order_placed("b", scope=Scope("berlin"))])
    batch = await log.pull.fetch(tenant, "pull")
    assert sorted(numbers(batch)) == ["a", "b"]
    for event in batch.events:
        await log.pull.acknowledge(tenant, "pull", event.legal_entity, event.sequence)
    assert numbers(await log.pull.fetch(tenant, "pull")) == []


async def test_an_acknowledgement_never_moves_the_cursor_back(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed(str(n)) for n in range(3)])
    await log.pull.acknowledge(tenant, "pull", "main", 3)
    assert await log.pull.acknowledge(tenant, "pull", "main", 1) == 3


async def test_an_acknowledgement_beyond_the_head_or_of_another_event_is_refused(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    [appended] = await log.append(tenant, [order_placed()])
    with pytest.raises(InvalidRequest):
        await log.pull.acknowledge(tenant, "pull", "main", 2)
    with pytest.raises(Conflict):
        await log.pull.acknowledge_event(tenant, "pull", appended.id, 7)


async def test_an_acknowledgement_from_before_a_reset_does_not_undo_it(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed("1"), order_placed("2")])
    batch = await log.pull.fetch(tenant, "pull")
    await log.subscriptions.reset(tenant, "pull")
    with pytest.raises(SubscriptionMoved):
        await log.pull.acknowledge(tenant, "pull", "main", 2, token=batch.tokens["main"])
    assert await cursor_of(log, tenant, "pull") == 0
    again = await log.pull.fetch(tenant, "pull")
    assert await log.pull.acknowledge(tenant, "pull", "main", 2, token=again.tokens["main"]) == 2


async def test_a_waiting_fetch_answers_as_soon_as_something_is_committed(
    log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
) -> None:
    await log.subscriptions.add(tenant, S)
    async with fresh_log() as elsewhere:
        waiting = asyncio.create_task(log.pull.fetch(tenant, "pull", wait_seconds=30))
        await elsewhere.append(tenant, [order_placed("1")])
        async with asyncio.timeout(5):
            assert numbers(await waiting) == ["1"]


async def test_a_waiting_fetch_gives_up_in_time(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    async with asyncio.timeout(5):
        assert (await log.pull.fetch(tenant, "pull", wait_seconds=0.05)).events == []


async def test_a_fetch_moves_the_cursor_over_what_does_not_fit(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, Subscription("pull", pattern=Pattern(types=["shop.order.placed"])))
    await log.append(tenant, [noted() for _ in range(5)])
    assert (await log.pull.fetch(tenant, "pull")).events == []
    assert await cursor_of(log, tenant, "pull") == 5


async def test_a_stream_goes_on_with_new_events_without_being_acknowledged(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed("1")])
    waiting = asyncio.create_task(first(log.pull.stream(tenant, "pull"), 2))
    await log.append(tenant, [order_placed("2")])
    assert [event.data["number"] for event in await waiting] == ["1", "2"]
    assert await cursor_of(log, tenant, "pull") == 0


async def test_a_subscription_of_another_tenant_does_not_exist(log: EventLog, tenant: UUID, other_tenant: UUID) -> None:
    await log.subscriptions.add(other_tenant, S)
    with pytest.raises(SubscriptionNotFound):
        await log.pull.fetch(tenant, "pull")
