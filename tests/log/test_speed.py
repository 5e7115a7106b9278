"""Speed that callers can count on, with much room for a slow machine; `make bench-log` has the real figures."""

import asyncio
from uuid import UUID

from mnemon.log.events import EntityReference, Scope
from mnemon.log.store import EventLog
from tests.patience import PATIENCE
from tests.promptness import takes_less_than

from .conftest import noted, order_placed


async def test_a_thousand_events_are_appended_within_a_second_and_read_within_half_of_one(
    log: EventLog, tenant: UUID
) -> None:
    await log.append(tenant, [noted()])
    await takes_less_than(1, lambda: log.append(tenant, [order_placed(str(number)) for number in range(1000)]))
    assert len((await log.read_page(tenant, limit=1000)).events) == 1000
    await takes_less_than(0.5, lambda: log.read_page(tenant, limit=1000))


async def test_appends_to_different_partitions_do_not_wait_for_each_other(log: EventLog, tenant: UUID) -> None:
    for name in ("A", "B"):
        await log.append(tenant, [noted(scope=Scope(name))])
    async with asyncio.timeout(PATIENCE), log.transaction(tenant) as held:
        await held.append([noted(scope=Scope("A"), entities=[EntityReference("order", "1")])])
        [appended] = await log.append(tenant, [noted(scope=Scope("B"), entities=[EntityReference("order", "1")])])
    assert appended.sequence == 2
