"""Following in this process: from now or from a position, woken by commits here and elsewhere."""

import asyncio
from collections.abc import Callable
from uuid import UUID

from mnemon.log.events import EntityReference, Scope
from mnemon.log.read.pattern import SCAN_WINDOW, Pattern
from mnemon.log.store import EventLog
from tests.log.conftest import invoice_submitted, noted, order_placed
from tests.log.following import first
from tests.patience import PATIENCE


async def test_following_from_now_leaves_out_what_was_there(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [order_placed("old")])
    waiting = asyncio.create_task(first(log.follow(tenant), 1))
    async with asyncio.timeout(PATIENCE):
        # When exactly "now" is, only the follower knows: whatever it sees first is new.
        while not waiting.done():
            await log.append(tenant, [order_placed("new")])
    [event] = await waiting
    assert event.data["number"] == "new"


async def test_following_from_a_position_goes_on_with_what_comes(
    log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
) -> None:
    await log.append(tenant, [order_placed("1"), order_placed("2")])
    async with fresh_log() as elsewhere:
        waiting = asyncio.create_task(first(log.follow(tenant, after={"main": 1}), 3))
        await elsewhere.append(tenant, [order_placed("3")])
        await elsewhere.append(tenant, [order_placed("b", scope=Scope("berlin"))])
        found = await waiting
    assert [event.data["number"] for event in found if event.legal_entity == "main"] == ["2", "3"]
    assert [event.sequence for event in found if event.legal_entity == "berlin"] == [1]


async def test_each_part_of_a_pattern_narrows(log: EventLog, tenant: UUID) -> None:
    site = Scope(site="s1", custom_scopes={"project": "p1"})
    await log.append(
        tenant,
        [
            order_placed("1"),
            invoice_submitted("2"),
            noted(scope=site),
            order_placed("4", entities=[EntityReference("order", "x")]),
        ],
    )
    await log.append(tenant, [order_placed("5", scope=Scope("berlin"))])
    cases = [
        (Pattern(types=["shop.order.noted", "ap.invoice.submitted"]), [("main", 2), ("main", 3)]),
        (Pattern(modules=["ap"]), [("main", 2)]),
        (Pattern(entities=[("order", "x"), ("order", "nobody")]), [("main", 4)]),
        (Pattern(scopes={"site": "s1", "project": "p1"}), [("main", 3)]),
        (Pattern(legal_entities=["berlin"]), [("berlin", 1)]),
        (Pattern(modules=["shop"], types=["shop.order.noted"]), [("main", 3)]),
    ]
    for pattern, expected in cases:
        found = await first(log.follow(tenant, pattern, after={}), len(expected))
        assert [(event.legal_entity, event.sequence) for event in found] == expected, pattern


async def test_a_rare_event_beyond_one_scan_is_found(log: EventLog, tenant: UUID) -> None:
    amount = SCAN_WINDOW + 10
    for start in range(0, amount, 1000):
        await log.append(tenant, [noted() for _ in range(min(1000, amount - start))])
    await log.append(tenant, [order_placed("rare")])
    [event] = await first(log.follow(tenant, Pattern(types=["shop.order.placed"]), after={}), 1)
    assert event.sequence == amount + 1
