"""The log's own jobs: run by a worker, on what is really there."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.append.requests import AppendLimits
from mnemon.log.store import EventLog
from mnemon.log.types.registry import Registry
from mnemon.settings import Settings
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import NoPayload
from mnemon.work.log_jobs import FORGET_KEYS, log_schedules

from ..log.conftest import SHOP, noted
from .conftest import RunWorker


async def keys_of(database: Database, tenant: UUID) -> int:
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT FROM mnemon.event_keys")).fetchall()
    return len(rows)


async def test_the_clock_drops_keys_whose_time_is_over(
    database: Database, tenant: UUID, run_worker: RunWorker, job_reaches: Callable[..., Awaitable[dict[str, Any]]]
) -> None:
    for key, life in (("gone", timedelta(0)), ("kept", timedelta(hours=1))):
        async with EventLog(database, registry=Registry(database, SHOP), limits=AppendLimits(key_life=life)) as log:
            await log.append(tenant, [noted(idempotency_key=key)])
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, FORGET_KEYS, NoPayload())
    await run_worker(FORGET_KEYS)
    await job_reaches(job.job_id, "DONE")
    assert await keys_of(database, tenant) == 1


def test_checkpoints_and_keys_have_their_schedules() -> None:
    assert {schedule.name for schedule in log_schedules(Settings())} == {
        "log.checkpoint",
        "log.forget_keys",
        "log.retention",
    }
