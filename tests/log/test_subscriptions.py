"""Subscriptions: declared once, listed, reset within what they follow, removed with everything of theirs."""

from uuid import UUID

import pytest

from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.errors import DeadLetterNotFound, SubscriptionNotFound
from mnemon.log.events import Scope
from mnemon.log.read.pattern import Pattern
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.subscriptions import Subscription
from tests.log.conftest import order_placed
from tests.log.following import Recorder

PATTERN = Pattern(
    types=["shop.order.placed"],
    entities=[("order", "A-1")],
    legal_entities=["main"],
    scopes={"site": "x"},
    modules=["shop"],
)


async def test_a_subscription_reads_back_as_it_was_declared(log: EventLog, tenant: UUID) -> None:
    declared = Subscription("billing", "agent", "agent-7", PATTERN, "partition")
    await log.subscriptions.add(tenant, declared)
    [found] = await log.subscriptions.list(tenant)
    assert found == await log.subscriptions.find(tenant, "billing")
    assert (found.pattern.as_json(), found.subscriber_type, found.failure_holds, found.status) == (
        PATTERN.as_json(), "agent", "partition", "active",
    )  # fmt: skip


async def test_declaring_it_again_changes_nothing_and_differently_is_refused(log: EventLog, tenant: UUID) -> None:
    first = await log.subscriptions.add(tenant, Subscription("billing"))
    assert await log.subscriptions.add(tenant, Subscription("billing")) == first
    with pytest.raises(Conflict):
        await log.subscriptions.add(tenant, Subscription("billing", pattern=PATTERN))


@pytest.mark.parametrize("name", ["", "Upper", "a b", "x" * 101, "-dash"])
async def test_a_bad_name_is_refused(log: EventLog, tenant: UUID, name: str) -> None:
    with pytest.raises(InvalidRequest):
        await log.subscriptions.add(tenant, Subscription(name))


async def test_one_from_now_on_leaves_out_the_past(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [order_placed("old")])
    await log.subscriptions.add(tenant, Subscription("late"), start="now")
    await log.append(tenant, [order_placed("new")])
    recorder = Recorder()
    await Delivery(log, tenant, "late", recorder).catch_up()
    assert recorder.numbers == ["new"]


async def test_lag_counts_what_was_not_looked_at(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, Subscription("billing"))
    await log.append(tenant, [order_placed(str(n)) for n in range(3)])
    [position] = await log.subscriptions.positions(tenant, "billing")
    assert (position.lag, position.head, position.sequence) == (3, 3, 0)


async def test_a_reset_names_partitions_that_are_followed(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, Subscription("billing", pattern=Pattern(legal_entities=["main"])))
    await log.append(tenant, [order_placed("b", scope=Scope("berlin"))])
    with pytest.raises(InvalidRequest):
        await log.subscriptions.reset(tenant, "billing", {"berlin": 0})


async def test_a_removed_subscription_leaves_nothing(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, Subscription("billing"))
    await log.append(tenant, [order_placed()])
    failing = Recorder(lambda event: True)
    await Delivery(log, tenant, "billing", failing, limits=DeliveryLimits(failures=1)).catch_up()
    await log.subscriptions.remove(tenant, "billing")
    async with log.database.transaction(tenant) as connection:
        for table in ("subscriptions", "subscription_cursors", "parked_events"):
            row = await (await connection.execute(f"SELECT count(*) AS n FROM mnemon.{table}")).fetchone()
            assert row is not None and row["n"] == 0
    with pytest.raises(SubscriptionNotFound):
        await log.subscriptions.find(tenant, "billing")


async def test_a_dead_letter_that_is_not_there_is_not_found(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, Subscription("billing"))
    with pytest.raises(DeadLetterNotFound):
        await log.dead_letters.replay(tenant, "billing", ("main", 1))
