"""Speed that callers can count on, with much room for a slow machine; `make bench-log` has the real figures."""

import asyncio
import time
from uuid import UUID

from mnemon.log.events import EntityReference, Scope
from mnemon.log.store import EventLog

from .conftest import noted, order_placed


async def test_a_thousand_events_are_appended_within_a_second_and_read_within_half_of_one(
    log: EventLog, tenant: UUID
) -> None:
    await log.append(tenant, [noted()])
    began = time.perf_counter()
    await log.append(tenant, [order_placed(str(number)) for number in range(1000)])
    appended = time.perf_counter()
    page = await log.read_page(tenant, limit=1000)
    read = time.perf_counter()
    assert len(page.events) == 1000
    assert appended - began < 1
    assert read - appended < 0.5


async def test_appends_to_different_partitions_do_not_wait_for_each_other(log: EventLog, tenant: UUID) -> None:
    for name in ("A", "B"):
        await log.append(tenant, [noted(scope=Scope(name))])
    async with asyncio.timeout(10), log.transaction(tenant) as held:
        await held.append([noted(scope=Scope("A"), entities=[EntityReference("order", "1")])])
        [appended] = await log.append(tenant, [noted(scope=Scope("B"), entities=[EntityReference("order", "1")])])
    assert appended.sequence == 2
