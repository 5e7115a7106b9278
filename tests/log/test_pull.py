"""Pulling: fetch, acknowledge, wait for what is to come."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.errors import SubscriptionMoved, SubscriptionNotFound
from mnemon.log.events import EntityReference, Scope
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.read.pattern import Pattern
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.gathering import Batch
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.pull import LONGEST_WAIT
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.log.types.registry import Registry
from mnemon.telemetry import REGISTRY
from tests.log.conftest import SHOP, joined, noted, order_placed
from tests.log.following import QUICK, Recorder, cursor_of, first
from tests.patience import PATIENCE

S = Subscription("pull")


def failures_counted() -> tuple[float, float]:
    """Failures and dead letters of the subscription, as the metrics have them."""
    names = ("mnemon_subscription_failures_total", "mnemon_subscription_dead_letters_total")
    failures, dead = (REGISTRY.get_sample_value(name, {"subscription": "others"}) or 0.0 for name in names)
    return failures, dead


async def make_due(database: Database, tenant: UUID) -> None:
    """Let what waits to come again come now."""
    async with database.transaction(tenant) as tx:
        await tx.execute("UPDATE mnemon.parked_events SET due_at = '-infinity' WHERE state = 'retrying'")


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
        waiting = asyncio.create_task(log.pull.fetch(tenant, "pull", wait_seconds=LONGEST_WAIT))
        await elsewhere.append(tenant, [order_placed("1")])
        async with asyncio.timeout(PATIENCE):
            assert numbers(await waiting) == ["1"]


async def test_a_waiting_fetch_gives_up_in_time(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    async with asyncio.timeout(PATIENCE):
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


class TestClaims:
    """Two consumers of one subscription share the work instead of doing it twice."""

    async def test_a_claimed_batch_is_given_to_nobody_else(self, log: EventLog, tenant: UUID) -> None:
        await log.subscriptions.add(tenant, S)
        await log.append(tenant, [order_placed("1"), order_placed("2")])
        mine = await log.pull.claim(tenant, "pull", "a")
        assert numbers(mine) == ["1", "2"]
        assert mine.claimed_until is not None
        for other in (await log.pull.claim(tenant, "pull", "b"), await log.pull.fetch(tenant, "pull")):
            assert (numbers(other), other.held, other.tokens) == ([], {"main": "a"}, {})
        assert numbers(await log.pull.claim(tenant, "pull", "a")) == ["1", "2"]

    async def test_two_that_claim_at_once_never_get_the_same(
        self, log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
    ) -> None:
        await log.subscriptions.add(tenant, S)
        await log.append(tenant, [order_placed(str(n)) for n in range(40)])
        seen: list[str] = []

        async def consume(name: str, its: EventLog) -> None:
            while len(seen) < 40:
                batch = await its.pull.claim(tenant, "pull", name, limit=3, wait_seconds=0.05)
                seen.extend(numbers(batch))
                if batch.events:
                    last = batch.events[-1].sequence
                    await its.pull.acknowledge(tenant, "pull", "main", last, token=batch.tokens["main"])

        async with fresh_log() as other, asyncio.timeout(PATIENCE):
            await asyncio.gather(consume("a", log), consume("b", other), consume("c", other))
        assert sorted(seen, key=int) == [str(n) for n in range(40)]

    async def test_other_partitions_are_free(self, log: EventLog, tenant: UUID) -> None:
        await log.subscriptions.add(tenant, S)
        await log.append(tenant, [order_placed("m")])
        await log.pull.claim(tenant, "pull", "a")
        await log.append(tenant, [order_placed("b", scope=Scope("berlin"))])
        assert numbers(await log.pull.claim(tenant, "pull", "b")) == ["b"]

    async def test_the_claim_ends_with_the_last_acknowledgement(self, log: EventLog, tenant: UUID) -> None:
        await log.subscriptions.add(tenant, S)
        await log.append(tenant, [order_placed(str(n)) for n in range(1, 5)])
        mine = await log.pull.claim(tenant, "pull", "a", limit=2)
        await log.pull.acknowledge(tenant, "pull", "main", 1, token=mine.tokens["main"])
        assert numbers(await log.pull.claim(tenant, "pull", "b")) == []
        await log.pull.acknowledge(tenant, "pull", "main", 2, token=mine.tokens["main"])
        assert numbers(await log.pull.claim(tenant, "pull", "b")) == ["3", "4"]

    async def test_a_claim_that_ran_out_goes_to_another_and_its_holder_settles_nothing_more(
        self, log: EventLog, tenant: UUID
    ) -> None:
        await log.subscriptions.add(tenant, S)
        [one] = await log.append(tenant, [order_placed("1")])
        late = await log.pull.claim(tenant, "pull", "a", seconds=0.001)
        await asyncio.sleep(0.01)
        other = await log.pull.claim(tenant, "pull", "b")
        assert numbers(other) == ["1"]
        for token in (late.tokens["main"], None):
            with pytest.raises(SubscriptionMoved):
                await log.pull.acknowledge(tenant, "pull", "main", 1, token=token)
            with pytest.raises(SubscriptionMoved):
                await log.pull.reject(tenant, "pull", one.id, 1, "no", token=token)
        assert await log.pull.acknowledge(tenant, "pull", "main", 1, token=other.tokens["main"]) == 1

    async def test_a_claim_that_finds_nothing_holds_nothing(self, log: EventLog, tenant: UUID) -> None:
        await log.subscriptions.add(tenant, Subscription("pull", pattern=Pattern(types=["shop.order.placed"])))
        await log.append(tenant, [noted()])
        assert (await log.pull.claim(tenant, "pull", "a")).events == []
        await log.append(tenant, [order_placed("1")])
        assert numbers(await log.pull.claim(tenant, "pull", "b")) == ["1"]

    async def test_a_delivery_and_a_claim_keep_out_of_each_others_way(self, log: EventLog, tenant: UUID) -> None:
        await log.subscriptions.add(tenant, S)
        await log.append(tenant, [order_placed("1")])
        mine = await log.pull.claim(tenant, "pull", "a")
        handler = Recorder()
        delivery = Delivery(log, tenant, "pull", handler, limits=QUICK)
        assert not await delivery.catch_up()
        await log.pull.acknowledge(tenant, "pull", "main", 1, token=mine.tokens["main"])
        await log.append(tenant, [order_placed("2")])
        await delivery.catch_up()
        assert handler.numbers == ["2"]

    @pytest.mark.parametrize("seconds", [0, -1, 3601, float("nan")])
    async def test_a_claim_has_a_sensible_length(self, log: EventLog, tenant: UUID, seconds: float) -> None:
        await log.subscriptions.add(tenant, S)
        with pytest.raises(InvalidRequest):
            await log.pull.claim(tenant, "pull", "a", seconds=seconds)


class TestRejections:
    """What a subscriber could not handle comes again, and is a dead letter after the fifth time."""

    @pytest.fixture
    async def quick(self, database: Database) -> AsyncIterator[EventLog]:
        """A log that lets failed events come again at once."""
        async with EventLog(database, registry=Registry(database, SHOP), delivery=QUICK) as opened:
            yield opened

    @pytest.fixture
    async def patient(self, database: Database) -> AsyncIterator[EventLog]:
        """A log whose failed events come again after ten minutes, or when a test says so."""
        limits = replace(QUICK, retry_seconds=600)
        async with EventLog(database, registry=Registry(database, SHOP), delivery=limits) as opened:
            yield opened

    async def test_an_event_that_is_rejected_five_times_is_a_dead_letter(self, quick: EventLog, tenant: UUID) -> None:
        await quick.subscriptions.add(tenant, S)
        [bad, _] = await quick.append(tenant, [order_placed("bad"), order_placed("good")])
        counted = failures_counted()
        for failures in range(5):
            batch = await quick.pull.fetch(tenant, "pull")
            assert numbers(batch) == ["bad", "good"]
            assert batch.failures == ({bad.id: failures} if failures else {})
            rejected = await quick.pull.reject(tenant, "pull", bad.id, bad.sequence, f"failure {failures + 1}")
            assert rejected.attempts == failures + 1
        assert rejected.state == "dead"
        assert failures_counted() == (counted[0] + 5, counted[1] + 1)
        assert numbers(await quick.pull.fetch(tenant, "pull")) == ["good"]
        [letter] = await quick.dead_letters.list(tenant, "pull")
        assert (letter.event_id, letter.attempts, letter.error) == (bad.id, 5, "failure 5")
        assert (await quick.subscriptions.find(tenant, "pull")).error_count == 5
        await quick.pull.acknowledge(tenant, "pull", "main", bad.sequence)
        assert len(await quick.dead_letters.list(tenant, "pull")) == 1, "only a replay or a discard ends it"
        await quick.dead_letters.replay(tenant, "pull")
        assert numbers(await quick.pull.fetch(tenant, "pull")) == ["bad", "good"]

    async def test_a_rejected_event_waits_before_it_comes_again(
        self, patient: EventLog, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        await log.subscriptions.add(tenant, S)
        [bad, other] = await log.append(tenant, [order_placed("bad"), order_placed("other")])
        await patient.pull.reject(tenant, "pull", bad.id, 1, "no")
        assert numbers(await patient.pull.fetch(tenant, "pull")) == ["other"]
        await patient.pull.acknowledge(tenant, "pull", "main", other.sequence)
        await make_due(database, tenant)
        assert numbers(await patient.pull.fetch(tenant, "pull")) == ["bad"]
        await log.pull.reject(tenant, "pull", bad.id, 1, "no, after a moment")
        async with asyncio.timeout(PATIENCE):
            assert numbers(await log.pull.fetch(tenant, "pull", wait_seconds=LONGEST_WAIT)) == ["bad"]

    async def test_later_events_of_its_entities_wait_behind_it_and_none_is_lost(
        self, patient: EventLog, database: Database, tenant: UUID
    ) -> None:
        log = patient
        await log.subscriptions.add(tenant, S)
        events = await log.append(tenant, [order_placed(number) for number in ("a", "b", "a", "c", "a")])
        await log.pull.reject(tenant, "pull", events[0].id, 1, "no")
        batch = await log.pull.fetch(tenant, "pull")
        assert [event.sequence for event in batch.events] == [2, 4]
        await log.pull.acknowledge(tenant, "pull", "main", 4)
        await make_due(database, tenant)
        again = await log.pull.fetch(tenant, "pull")
        assert [event.sequence for event in again.events] == [1, 3, 5]
        for event in again.events:
            await log.pull.acknowledge_event(tenant, "pull", event.id, event.sequence)
        assert numbers(await log.pull.fetch(tenant, "pull")) == []
        assert (await log.subscriptions.positions(tenant, "pull"))[0].parked == 0

    async def test_who_waits_holds_up_its_other_entities_too(self, patient: EventLog, tenant: UUID) -> None:
        log = patient
        await log.subscriptions.add(tenant, S)
        named = [["a"], ["a", "b"], ["b"], ["c"]]
        events = await log.append(
            tenant, [noted(entities=[EntityReference("thing", one) for one in names]) for names in named]
        )
        await log.pull.reject(tenant, "pull", events[0].id, 1, "no")
        assert [event.sequence for event in (await log.pull.fetch(tenant, "pull")).events] == [4]

    async def test_a_rejection_stands_for_all_before_it_and_voids_the_rest(
        self, patient: EventLog, tenant: UUID
    ) -> None:
        log = patient
        await log.subscriptions.add(tenant, S)
        events = await log.append(tenant, [order_placed(str(n)) for n in range(1, 5)])
        mine = await log.pull.claim(tenant, "pull", "a")
        await log.pull.reject(tenant, "pull", events[1].id, 2, "no", token=mine.tokens["main"])
        with pytest.raises(SubscriptionMoved):
            await log.pull.acknowledge(tenant, "pull", "main", 4, token=mine.tokens["main"])
        assert numbers(await log.pull.claim(tenant, "pull", "b")) == ["3", "4"]

    async def test_what_is_settled_cannot_be_rejected(self, quick: EventLog, tenant: UUID) -> None:
        await quick.subscriptions.add(tenant, Subscription("pull", pattern=Pattern(types=["shop.order.placed"])))
        one, other, foreign = await quick.append(tenant, [order_placed("1"), order_placed("2"), noted()])
        await quick.pull.acknowledge(tenant, "pull", "main", 1)
        with pytest.raises(Conflict, match="acknowledged already"):
            await quick.pull.reject(tenant, "pull", one.id, 1, "no")
        for _ in range(5):
            await quick.pull.reject(tenant, "pull", other.id, 2, "no")
        with pytest.raises(Conflict, match="dead letter"):
            await quick.pull.reject(tenant, "pull", other.id, 2, "no")
        with pytest.raises(InvalidRequest, match="does not follow"):
            await quick.pull.reject(tenant, "pull", foreign.id, 3, "no")
        with pytest.raises(Conflict):
            await quick.pull.reject(tenant, "pull", other.id, 1, "no")

    async def test_with_a_partition_that_waits_nothing_passes_and_the_circuit_breaks(
        self, quick: EventLog, tenant: UUID
    ) -> None:
        await quick.subscriptions.add(tenant, Subscription("pull", failure_holds="partition"))
        events = await quick.append(tenant, [order_placed("1"), order_placed("2"), order_placed("3")])
        for failures in range(1, 6):
            rejected = await quick.pull.reject(tenant, "pull", events[1].id, 2, "no")
            assert (rejected.attempts, rejected.state) == (failures, "retrying")
            assert await cursor_of(quick, tenant, "pull") == 1
        assert rejected.status == "broken"
        assert numbers(await quick.pull.fetch(tenant, "pull")) == []
        await quick.subscriptions.resume(tenant, "pull")
        assert numbers(await quick.pull.fetch(tenant, "pull")) == ["2", "3"]
        await quick.pull.acknowledge(tenant, "pull", "main", 3)
        assert (await quick.subscriptions.find(tenant, "pull")).failures_in_a_row == 0

    async def test_a_broken_circuit_lets_one_event_through_and_is_whole_when_that_is_handled(
        self, database: Database, tenant: UUID
    ) -> None:
        limits = DeliveryLimits(retry_seconds=0, breaker_failures=1, breaker_seconds=0)
        async with EventLog(database, registry=Registry(database, SHOP), delivery=limits) as log:
            await log.subscriptions.add(tenant, S)
            [bad, *_] = await log.append(tenant, [order_placed("1"), order_placed("2"), order_placed("3")])
            assert (await log.pull.reject(tenant, "pull", bad.id, 1, "no")).status == "broken"
            probe = await log.pull.fetch(tenant, "pull")
            assert numbers(probe) == ["1"]
            await log.pull.acknowledge(tenant, "pull", "main", 1)
            assert (await log.subscriptions.find(tenant, "pull")).status == "active"
            assert numbers(await log.pull.fetch(tenant, "pull")) == ["2", "3"]

    async def test_a_stream_brings_a_rejected_event_once_more_for_each_failure(
        self, quick: EventLog, tenant: UUID
    ) -> None:
        await quick.subscriptions.add(tenant, S)
        [bad] = await quick.append(tenant, [order_placed("bad")])
        stream = quick.pull.stream(tenant, "pull")
        async with asyncio.timeout(PATIENCE):
            assert (await anext(stream)).id == bad.id
            await quick.pull.reject(tenant, "pull", bad.id, 1, "no")
            await quick.append(tenant, [order_placed("next")])
            assert [(await anext(stream)).data["number"] for _ in range(2)] == ["bad", "next"]
            await quick.append(tenant, [order_placed("last")])
            assert (await anext(stream)).data["number"] == "last"
        await stream.aclose()  # type: ignore[attr-defined]

    async def test_the_error_is_kept_without_what_is_personal(self, privacy: Privacy, tenant: UUID) -> None:
        log = privacy.log
        await log.subscriptions.add(tenant, S)
        [one] = await log.append(tenant, [joined("c-1", "Grace Hopper")])
        await log.pull.reject(tenant, "pull", one.id, 1, "no mail for Grace Hopper")
        assert (await log.subscriptions.find(tenant, "pull")).last_error == "no mail for [personal]"
