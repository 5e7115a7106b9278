"""The retry helper: a writer that loses a race reads again and wins the next one."""

import asyncio
from uuid import UUID

import pytest

from mnemon.log.append.refusals import version_conflict
from mnemon.log.append.transaction import WAITS, retry_on_conflict
from mnemon.log.errors import VersionConflict
from mnemon.log.store import EventLog

from .conftest import order_placed


async def test_writers_that_race_all_succeed_in_the_end(log: EventLog, tenant: UUID) -> None:
    async def attempt() -> None:
        version = await log.entity_version(tenant, "order", "A-1")
        await log.append(tenant, [order_placed(expected_versions={("order", "A-1"): version})])

    waits = [0.001 * step for step in range(1, 12)]
    await asyncio.gather(*(retry_on_conflict(attempt, waits) for _ in range(6)))
    assert await log.entity_version(tenant, "order", "A-1") == 6


async def test_the_last_conflict_is_the_callers() -> None:
    attempts = 0

    async def attempt() -> None:
        nonlocal attempts
        attempts += 1
        raise version_conflict(("order", "A-1"), 1, 2)

    with pytest.raises(VersionConflict):
        await retry_on_conflict(attempt, [0, 0, 0])
    assert attempts == 4
    assert WAITS == (0.05, 0.2, 0.8)
