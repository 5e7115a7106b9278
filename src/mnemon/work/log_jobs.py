"""Jobs about the log: verify, archive and restore on demand; checkpoints, old keys and terms by the clock."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import psycopg
from pydantic import BaseModel

from mnemon.errors import BadSettings
from mnemon.log.append.keys import forget_expired_keys
from mnemon.log.events import MAIN, Actor
from mnemon.log.privacy.archive import Archive, Archived
from mnemon.log.privacy.erasure import Erasure
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.retention import Retention
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.verify import ChainReport
from mnemon.settings import Settings
from mnemon.telemetry import logger
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind, NoPayload
from mnemon.work.schedule import Schedule


class Verification(BaseModel):
    """Which partition, and from where."""

    legal_entity: str = MAIN
    since_checkpoint: bool = False


class Archiving(BaseModel):
    """Whose payloads move, and on whose word."""

    legal_entity: str = MAIN
    before: datetime
    actor: Actor


class Restoring(BaseModel):
    """Which payloads come back, and on whose word."""

    legal_entity: str = MAIN
    first: int = 1
    last: int | None = None
    actor: Actor


TENANTS = "SELECT tenant_id FROM mnemon.tenants ORDER BY tenant_id"

# How often a running job says how far it is.
REPORT_SECONDS = 0.5

# Fifty thousand events per second and more: six hours are enough for a thousand million.
VERIFY = JobKind("log.verify", Verification, attempts=3, time_limit=6 * 3600, at_once=2)
ARCHIVE = JobKind("log.archive", Archiving, attempts=3, time_limit=6 * 3600, at_once=1)
RESTORE = JobKind("log.restore", Restoring, attempts=3, time_limit=6 * 3600, at_once=1)
FORGET_KEYS = JobKind("log.forget_keys", NoPayload, attempts=3, time_limit=3600, at_once=1)
NOTE_ERASURES = JobKind("log.note_erasures", NoPayload, attempts=3, time_limit=3600, at_once=1)
RETENTION = JobKind("log.retention", NoPayload, attempts=5, time_limit=6 * 3600, at_once=1)
CHECKPOINT = JobKind("log.checkpoint", NoPayload, attempts=3, time_limit=3600, at_once=1)

log = logger(__name__)


@VERIFY.handler
async def verify_partition(job: Job[Verification]) -> dict[str, Any]:
    wanted = job.payload
    async with reporting(job) as progress:
        report = await _integrity(job).verify(
            job.tenant_id,
            wanted.legal_entity,
            since_checkpoint=wanted.since_checkpoint,
            progress=lambda report: progress(_how_far(report)),
        )
    return {"legal_entity": wanted.legal_entity} | report.as_json()


def _how_far(report: ChainReport) -> dict[str, str]:
    return {
        "checked": str(report.checked),
        "sequence": str(report.position.sequence),
        "total": str(report.total),
        "faults": str(len(report.faults)),
    }


@asynccontextmanager
async def reporting(job: Job[Any]) -> AsyncIterator[Callable[[dict[str, str]], None]]:
    """Passes on the latest of what it is told, now and then; that it could not is no reason to stop the work."""
    told: list[dict[str, str]] = []
    news = asyncio.Event()

    def tell(progress: dict[str, str]) -> None:
        told[:] = [progress]
        news.set()

    async def pass_on() -> None:
        while True:
            await news.wait()
            news.clear()
            with suppress(psycopg.OperationalError):
                await job.report(told[0])
            await asyncio.sleep(REPORT_SECONDS)

    passing = asyncio.create_task(pass_on())
    try:
        yield tell
    finally:
        passing.cancel()
        await asyncio.gather(passing, return_exceptions=True)


@ARCHIVE.handler
async def archive_payloads(job: Job[Archiving]) -> dict[str, Any]:
    wanted = job.payload
    moved = await _archive(job).archive(
        job.tenant_id, wanted.before, actor=wanted.actor, legal_entity=wanted.legal_entity
    )
    return _moved(wanted.legal_entity, moved)


@RESTORE.handler
async def restore_payloads(job: Job[Restoring]) -> dict[str, Any]:
    wanted = job.payload
    moved = await _archive(job).restore(
        job.tenant_id, actor=wanted.actor, legal_entity=wanted.legal_entity, first=wanted.first, last=wanted.last
    )
    return _moved(wanted.legal_entity, moved)


def _moved(legal_entity: str, objects: list[Archived]) -> dict[str, Any]:
    payloads = sum(one.last_sequence - one.first_sequence + 1 for one in objects)
    return {"legal_entity": legal_entity, "payloads": payloads, "objects": [one.object_key for one in objects]}


@CHECKPOINT.handler
async def sign_checkpoints(job: Job[NoPayload]) -> dict[str, int]:
    return {"partitions": len(await _integrity(job).checkpoint_all())}


@RETENTION.handler
async def enforce_retention(job: Job[NoPayload]) -> dict[str, int]:
    """Of all tenants. Each erasure stands by itself: what a crash leaves undone is found again. A tenant for whom it
    fails holds up no other, and fails the job in the end."""
    terms: Retention = job.context.privacy.retention
    async with job.database.owner() as owner:
        tenants = [row["tenant_id"] for row in await (await owner.execute(TENANTS)).fetchall()]
    changed, failures = list[Erasure](), list[Exception]()
    for tenant in tenants:
        try:
            changed += await terms.enforce(tenant, datetime.now(UTC))
        except Exception as failure:
            log.error("retention_not_enforced", tenant_id=str(tenant), error=str(failure))
            failures.append(failure)
    if failures:
        raise failures[0]
    asked = sum(one.status == "requested" for one in changed)
    return {"asked": asked, "erased": len(changed) - asked}


@FORGET_KEYS.handler
async def forget_old_keys(job: Job[NoPayload]) -> dict[str, int]:
    return {"forgotten": await forget_expired_keys(job.database)}


@NOTE_ERASURES.handler
async def note_erasures(job: Job[NoPayload]) -> None:
    privacy: Privacy = job.context.privacy
    await privacy.note_erasures()


def _integrity(job: Job[Any]) -> Integrity:
    integrity: Integrity = job.context.integrity
    return integrity


def _archive(job: Job[Any]) -> Archive:
    archive: Archive = job.context.privacy.archive
    return archive


def log_schedules(settings: Settings) -> list[Schedule]:
    try:
        return [
            Schedule("log.checkpoint", CHECKPOINT, settings.log_checkpoint_schedule),
            Schedule("log.forget_keys", FORGET_KEYS, "41 * * * *"),
            Schedule("log.note_erasures", NOTE_ERASURES, "29 * * * *"),
            Schedule("log.retention", RETENTION, "17 3 * * *"),
        ]
    except ValueError as failure:
        raise BadSettings(f"MNEMON_LOG_CHECKPOINT_SCHEDULE: {failure}") from None
