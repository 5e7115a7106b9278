"""Delivery: at least once, in order per partition, soon after the commit, by one process at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from prometheus_client import generate_latest

from mnemon.db.database import Database
from mnemon.log.events import EntityReference, Event, Scope
from mnemon.log.read.pattern import Pattern
from mnemon.log.store import EventLog
from mnemon.log.subscribe.cursors import RENEW, Cursor, CursorLost, take
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.log.types.registry import Registry
from mnemon.telemetry import REGISTRY
from tests.conftest import make_tenant
from tests.log.conftest import SHOP, noted, order_placed
from tests.log.following import POLLING, QUICK, WOKEN, Recorder, cursor_of
from tests.patience import PATIENCE

S = Subscription("tests")


def of_order(order: str, number: str) -> object:
    return order_placed(number, entities=[EntityReference("order", order)])


async def test_events_come_in_order_and_the_cursor_follows(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed(f"A-{n}") for n in range(250)])
    recorder = Recorder()
    await Delivery(log, tenant, "tests", recorder, limits=QUICK).catch_up()
    assert [event.sequence for event in recorder.handled] == list(range(1, 251))
    assert await cursor_of(log, tenant, "tests") == 250


async def test_a_new_event_is_delivered_by_the_wake_up_not_the_poll(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    recorder = Recorder()
    async with Delivery(log, tenant, "tests", recorder, limits=WOKEN):
        for n in range(20):
            await log.append(tenant, [order_placed(f"A-{n}")])
            await recorder.until(n + 1)


async def test_a_commit_of_another_process_wakes_too(
    log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
) -> None:
    await log.subscriptions.add(tenant, S)
    recorder = Recorder()
    async with fresh_log() as elsewhere, Delivery(log, tenant, "tests", recorder, limits=WOKEN):
        assert await log.arrivals.listening(PATIENCE)
        await elsewhere.append(tenant, [order_placed()])
        await recorder.until(1)


async def test_an_event_that_nobody_announced_is_found_by_polling(
    log: EventLog, database: Database, tenant: UUID
) -> None:
    await log.subscriptions.add(tenant, S)
    recorder = Recorder()
    async with Delivery(log, tenant, "tests", recorder, limits=POLLING):
        async with database.transaction(tenant) as connection:
            await log.append_in(connection, tenant, [order_placed()])
        await recorder.until(1)


async def test_a_restarted_subscriber_goes_on_where_it_stopped(
    log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed("A-1"), order_placed("A-2")])
    first = Recorder()
    await Delivery(log, tenant, "tests", first).catch_up()
    await log.append(tenant, [order_placed("A-3")])
    async with fresh_log() as restarted:
        second = Recorder()
        await Delivery(restarted, tenant, "tests", second).catch_up()
    assert (first.numbers, second.numbers) == (["A-1", "A-2"], ["A-3"])


async def test_a_partition_that_appears_later_is_followed_from_its_first_event(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S, start="now")
    recorder = Recorder()
    async with Delivery(log, tenant, "tests", recorder, limits=WOKEN):
        await log.append(tenant, [order_placed("B-1", scope=Scope("berlin"))])
        await recorder.until(1)
    assert recorder.handled[0].legal_entity == "berlin"


async def test_only_what_fits_the_pattern_is_delivered_and_the_cursor_passes_the_rest(
    log: EventLog, tenant: UUID
) -> None:
    pattern = Pattern(types=["shop.order.placed"], scopes={"region": "north"})
    await log.subscriptions.add(tenant, Subscription("tests", pattern=pattern))
    north = Scope(region="north")
    await log.append(
        tenant, [order_placed("A-1"), order_placed("A-2", scope=north), noted(scope=north), order_placed("A-3")]
    )
    recorder = Recorder()
    await Delivery(log, tenant, "tests", recorder).catch_up()
    assert recorder.numbers == ["A-2"]
    assert await cursor_of(log, tenant, "tests") == 4


async def test_later_events_of_a_failing_entity_wait_and_others_go_on(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [of_order("x", "1"), of_order("x", "2"), of_order("y", "3"), of_order("x", "4")])
    recorder = Recorder(lambda event: event.data["number"] == "1")
    delivery = Delivery(log, tenant, "tests", recorder, limits=QUICK)
    await delivery.catch_up()
    assert recorder.numbers == ["3"]
    assert sum(event.data["number"] == "1" for event in recorder.seen) == 5
    [letter] = await log.dead_letters.list(tenant, "tests")
    assert (letter.sequence, letter.attempts, letter.error) == (1, 5, "ValueError: cannot handle 1")
    assert letter.waiting == 2
    assert await cursor_of(log, tenant, "tests") == 4


async def test_a_replayed_dead_letter_lets_those_behind_it_follow_in_order(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [of_order("x", "1"), of_order("x", "2"), of_order("x", "3")])
    recorder = Recorder(lambda event: event.data["number"] == "1")
    delivery = Delivery(log, tenant, "tests", recorder, limits=QUICK)
    await delivery.catch_up()
    recorder.fails = lambda event: False
    assert await log.dead_letters.replay(tenant, "tests", ("main", 1)) == 1
    await delivery.catch_up()
    assert recorder.numbers == ["1", "2", "3"]
    assert await log.dead_letters.list(tenant, "tests") == []
    assert (await log.subscriptions.positions(tenant, "tests"))[0].parked == 0


async def test_a_discarded_dead_letter_lets_those_behind_it_go(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [of_order("x", "1"), of_order("x", "2")])
    recorder = Recorder(lambda event: event.data["number"] == "1")
    delivery = Delivery(log, tenant, "tests", recorder, limits=QUICK)
    await delivery.catch_up()
    assert await log.dead_letters.discard(tenant, "tests") == 1
    await delivery.catch_up()
    assert recorder.numbers == ["2"]


async def test_an_event_that_fails_and_then_succeeds_is_no_dead_letter(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [of_order("x", "1"), of_order("x", "2")])
    tries = 0

    def twice(event: Event) -> bool:
        nonlocal tries
        tries += event.data["number"] == "1"
        return event.data["number"] == "1" and tries <= 2

    recorder = Recorder(twice)
    await Delivery(log, tenant, "tests", recorder, limits=QUICK).catch_up()
    assert recorder.numbers == ["1", "2"]
    subscription = await log.subscriptions.find(tenant, "tests")
    assert (subscription.error_count, subscription.failures_in_a_row) == (2, 0)


async def test_a_handler_that_takes_too_long_has_failed(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed()])

    async def hang(event: Event) -> None:
        await asyncio.Event().wait()

    limits = DeliveryLimits(event_seconds=0.01, failures=1)
    await Delivery(log, tenant, "tests", hang, limits=limits).catch_up()
    [letter] = await log.dead_letters.list(tenant, "tests")
    assert letter.error == "TookTooLong: not done within 0.01 s"


async def test_a_strict_subscription_stops_at_the_failing_event_and_breaks(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, Subscription("tests", failure_holds="partition"))
    await log.append(tenant, [order_placed("1"), order_placed("2"), order_placed("3")])
    recorder = Recorder(lambda event: event.data["number"] == "2")
    delivery = Delivery(log, tenant, "tests", recorder, limits=QUICK)
    await delivery.catch_up()
    assert recorder.numbers == ["1"]
    assert await cursor_of(log, tenant, "tests") == 1
    broken = await log.subscriptions.find(tenant, "tests")
    assert (broken.status, broken.error_count) == ("broken", 5)
    recorder.fails = lambda event: False
    await log.subscriptions.resume(tenant, "tests")
    await delivery.catch_up()
    assert recorder.numbers == ["1", "2", "3"]


async def test_the_circuit_breaks_after_many_failures_in_a_row_and_one_probe_mends_it(
    log: EventLog, tenant: UUID
) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed(str(n)) for n in range(10)])
    limits = DeliveryLimits(breaker_failures=3, breaker_seconds=0, retry_seconds=0)
    recorder = Recorder(lambda event: True)
    delivery = Delivery(log, tenant, "tests", recorder, limits=DeliveryLimits(breaker_failures=3, retry_seconds=0))
    await delivery.catch_up()
    assert (await log.subscriptions.find(tenant, "tests")).status == "broken"
    assert len(recorder.seen) == 3
    await delivery.catch_up()
    assert len(recorder.seen) == 3, "a broken circuit delivers nothing before its time"
    async with log.database.transaction(tenant) as connection:
        await connection.execute("UPDATE mnemon.subscriptions SET probe_at = now() WHERE tenant_id = %s", (tenant,))
    await Delivery(log, tenant, "tests", recorder, limits=DeliveryLimits(breaker_failures=3)).catch_up()
    assert len(recorder.seen) == 4, "a probe is one event"
    async with log.database.transaction(tenant) as connection:
        await connection.execute("UPDATE mnemon.subscriptions SET probe_at = now() WHERE tenant_id = %s", (tenant,))
        await connection.execute(
            "UPDATE mnemon.parked_events SET due_at = now() WHERE tenant_id = %s AND state = 'retrying'", (tenant,)
        )
    recorder.fails = lambda event: False
    await Delivery(log, tenant, "tests", recorder, limits=limits).catch_up()
    assert sorted(recorder.numbers) == [str(n) for n in range(10)]
    assert (await log.subscriptions.find(tenant, "tests")).status == "active"


async def test_a_paused_subscription_is_given_nothing_until_it_is_resumed(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.subscriptions.pause(tenant, "tests")
    await log.append(tenant, [order_placed("1")])
    recorder = Recorder()
    delivery = Delivery(log, tenant, "tests", recorder)
    await delivery.catch_up()
    assert recorder.seen == []
    await log.subscriptions.resume(tenant, "tests")
    await delivery.catch_up()
    assert recorder.numbers == ["1"]


async def test_a_reset_delivers_again_from_any_position(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed(str(n)) for n in range(1, 5)])
    recorder = Recorder()
    delivery = Delivery(log, tenant, "tests", recorder)
    await delivery.catch_up()
    await log.subscriptions.reset(tenant, "tests", {"main": 2})
    await delivery.catch_up()
    assert recorder.numbers == ["1", "2", "3", "4", "3", "4"]


async def test_two_processes_share_partitions_and_never_one_partition(
    log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
) -> None:
    await log.subscriptions.add(tenant, S)
    inside: set[str] = set()
    clashes: list[str] = []
    handled: list[tuple[str, int]] = []
    done = asyncio.Event()

    async def handle(event: Event) -> None:
        if event.legal_entity in inside:
            clashes.append(event.legal_entity)
        inside.add(event.legal_entity)
        await asyncio.sleep(0)
        inside.discard(event.legal_entity)
        handled.append((event.legal_entity, event.sequence))
        if len(handled) == 120:
            done.set()

    async with (
        fresh_log() as other,
        Delivery(log, tenant, "tests", handle, limits=POLLING),
        Delivery(other, tenant, "tests", handle, limits=POLLING),
    ):
        for n in range(20):
            for name in ("a", "b", "c"):
                await log.append(tenant, [order_placed(f"{name}{n}-{k}", scope=Scope(name)) for k in range(2)])
        async with asyncio.timeout(PATIENCE):
            await done.wait()
    assert clashes == []
    for name in ("a", "b", "c"):
        assert [sequence for where, sequence in handled if where == name] == list(range(1, 41))


async def test_a_stale_holder_can_neither_move_the_cursor_nor_renew(
    log: EventLog, database: Database, tenant: UUID
) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed(str(n)) for n in range(5)])
    [partition] = await log.list_partitions(tenant)
    cursor = Cursor(tenant, "tests", partition.partition_id)
    stale = await take(database, cursor, 0)
    fresh = await take(database, cursor, 60)
    assert stale is not None and fresh is not None
    assert await take(database, cursor, 60) is None
    for to in (1, 5):
        with pytest.raises(CursorLost):
            async with database.transaction(tenant) as connection:
                await stale.advance_in(connection, to)
    async with database.transaction(tenant) as connection:
        await fresh.advance_in(connection, 3)
    assert (fresh.sequence, await cursor_of(log, tenant, "tests")) == (3, 3)
    async with database.transaction(tenant) as connection:
        await fresh.advance_in(connection, 2)
        row = await (await connection.execute(RENEW, stale._values)).fetchone()
        await stale.release_in(connection)
    assert (fresh.sequence, await cursor_of(log, tenant, "tests")) == (3, 3), "only forward"
    assert row is None
    assert await take(database, cursor, 60) is None, "what the stale one gives back is not its own"


async def test_a_reset_fences_whoever_is_delivering(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed(str(n)) for n in range(1, 4)])
    seen: list[str] = []

    async def handle(event: Event) -> None:
        seen.append(event.data["number"])
        if seen == ["1", "2"]:
            await log.subscriptions.reset(tenant, "tests")

    await Delivery(log, tenant, "tests", handle).catch_up()
    # It finds out when it next writes its cursor: at the end of the batch, or sooner where that takes long.
    assert seen in (["1", "2", "3", "1", "2", "3"], ["1", "2", "1", "2", "3"])


async def test_an_error_text_holds_no_personal_value(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed("A-1")])

    async def handle(event: Event) -> None:
        raise ValueError(f"no account for {event.payload['actor']['name']} at {event.payload['actor']['ip_address']}")

    await Delivery(log, tenant, "tests", handle, limits=DeliveryLimits(failures=1)).catch_up()
    [letter] = await log.dead_letters.list(tenant, "tests")
    assert letter.error == "ValueError: no account for [personal] at [personal]"
    assert (await log.subscriptions.find(tenant, "tests")).last_error == letter.error


async def test_subscribers_of_one_tenant_never_see_the_other(log: EventLog, tenant: UUID, other_tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(other_tenant, [order_placed("theirs")])
    await log.append(tenant, [order_placed("ours")])
    recorder = Recorder()
    await Delivery(log, tenant, "tests", recorder).catch_up()
    assert recorder.numbers == ["ours"]


async def test_delivery_goes_on_after_every_connection_was_cut(own_database: Database) -> None:
    tenant = await make_tenant(own_database)
    async with EventLog(own_database, registry=Registry(own_database, SHOP)) as log:
        await log.subscriptions.add(tenant, S)
        recorder = Recorder()
        # A lease that could not be given back runs out; being alone, nobody can be overtaken.
        async with Delivery(log, tenant, "tests", recorder, limits=replace(POLLING, lease_seconds=0.5)):
            for n in range(1, 6):
                await log.append(tenant, [order_placed(f"{n}-{k}") for k in range(30)])
                async with own_database.owner() as owner:
                    await owner.execute(
                        # Wait until they are gone: one that dies in the middle of the next append fails that append.
                        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                async with asyncio.timeout(PATIENCE):
                    while len({event.id for event in recorder.handled}) < 30 * n:
                        await recorder.until(len(recorder.handled) + 1)
    first_times = list(dict.fromkeys(event.sequence for event in recorder.handled))
    assert first_times == list(range(1, 151))


async def test_stopping_lets_the_event_at_hand_finish(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, S)
    await log.append(tenant, [order_placed("1"), order_placed("2")])
    began, go_on = asyncio.Event(), asyncio.Event()
    handled: list[str] = []

    async def handle(event: Event) -> None:
        began.set()
        await go_on.wait()
        handled.append(event.data["number"])

    delivery = Delivery(log, tenant, "tests", handle, limits=DeliveryLimits(batch_events=1))
    async with delivery:
        async with asyncio.timeout(PATIENCE):
            await began.wait()
        stopping = asyncio.create_task(delivery.stop(PATIENCE))
        await asyncio.sleep(0)
        go_on.set()
        await stopping
    assert handled == ["1"]
    assert await cursor_of(log, tenant, "tests") == 1


async def test_metrics_name_no_tenant_and_no_subscription_of_theirs(log: EventLog, tenant: UUID) -> None:
    await log.subscriptions.add(tenant, Subscription("takeover-of-acme"))
    await log.append(tenant, [order_placed("1")])
    recorder = Recorder()
    delivery = Delivery(log, tenant, "takeover-of-acme", recorder, limits=QUICK)
    await delivery.catch_up()
    assert recorder.seen, "it was delivered, and counted"
    shown = generate_latest(REGISTRY).decode()
    assert "mnemon_subscription_lag_events" in shown
    assert str(tenant) not in shown
    assert "takeover-of-acme" not in shown
