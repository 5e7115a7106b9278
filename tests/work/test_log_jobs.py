"""The log's own jobs: run by a worker, on what is really there."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.append.requests import AppendLimits
from mnemon.log.store import EventLog
from mnemon.log.types.registry import Registry
from mnemon.settings import Settings
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import NoPayload
from mnemon.work.log_jobs import FORGET_KEYS, RETENTION, log_schedules

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
        "log.note_erasures",
        "log.retention",
    }


async def test_a_tenant_whose_terms_cannot_be_enforced_holds_up_no_other(
    database: Database, tenant: UUID, other_tenant: UUID, run_worker: RunWorker,
    job_reaches: Callable[..., Awaitable[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    seen = set[UUID]()
    broken = min(tenant, other_tenant)

    async def enforce(one: UUID, now: datetime) -> list[Any]:
        seen.add(one)
        if one == broken:
            raise ValueError("its store is away")
        return []

    monkeypatch.setattr(RETENTION, "attempts", 1)
    context = SimpleNamespace(privacy=SimpleNamespace(retention=SimpleNamespace(enforce=enforce)))
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, RETENTION, NoPayload())
    await run_worker(RETENTION, context=context)
    failed = await job_reaches(job.job_id, "FAILED")
    assert seen >= {tenant, other_tenant} and "its store is away" in failed["last_error_message"]
