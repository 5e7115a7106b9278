"""The sweep: files that no run and no revision needs any more, found on disk and compared with the database.

Files of tenants that are not here are left alone: another installation may keep them in the same bucket.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar, cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection, Database
from mnemon.documents.errors import FileGone
from mnemon.documents.ingest.job import IngestContext
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.locks import lock_blob
from mnemon.errors import NotFound, TenantMoved, TenantMoving
from mnemon.identity.tenants import own_tenant
from mnemon.telemetry import counter
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind

HOUR = 3600.0
BATCH = 500

NEEDED_UPLOADS = """
SELECT run_id FROM mnemon.ingestion_runs
 WHERE tenant_id = mnemon.current_tenant() AND run_id = ANY(%(runs)s)
   AND (status IN ('queued', 'running')
        OR status = 'failed' AND finished_at > now() - make_interval(hours => %(failed_hours)s))
"""
KNOWN_RUNS = "SELECT run_id FROM mnemon.ingestion_runs WHERE tenant_id = mnemon.current_tenant() AND run_id = ANY(%s)"
# Blobs are a revision's, or that of a run which has yet to read it again.
NEEDED_BLOBS = """
SELECT content_hash FROM mnemon.document_revisions
 WHERE tenant_id = mnemon.current_tenant() AND content_hash = ANY(%(hashes)s)
UNION
SELECT config ->> 'content_hash' FROM mnemon.ingestion_runs
 WHERE tenant_id = mnemon.current_tenant() AND status IN ('queued', 'running')
   AND config ->> 'content_hash' = ANY(%(hashes)s)
"""

REMOVED = counter("mnemon_files_removed", "Files that nobody needed any more, by what they were.", ["what"])

Swept = TypeVar("Swept", bound=tuple[UUID, Any, float])


class Ages(BaseModel):
    """How long files are kept that belong to no run, and those of failed runs."""

    orphan_hours: int
    failed_hours: int


SWEEP = JobKind("documents.sweep", Ages, attempts=3, time_limit=3600, at_once=1)


@SWEEP.handler
async def sweep(job: Job[Ages]) -> dict[str, int]:
    """Cross tenants by the folders on disk; each is compared inside its own tenant."""
    files = cast(IngestContext, job.context).files
    uploads = await sweep_uploads(job.database, files, job.payload)
    blobs = await sweep_blobs(job.database, files, job.payload.orphan_hours)
    spared = []
    for tenant in await asyncio.to_thread(files.tenants_with_copies):
        if await _lives_here(job.database, tenant):
            await share_files(job.database, files, tenant)
        elif await _has_files_here_alone(job.database, files, tenant):
            spared.append(tenant)
    # Not before that: what is removed here must be elsewhere.
    await asyncio.to_thread(files.discard_parts, time.time() - job.payload.orphan_hours * HOUR, spared)
    return {"uploads": uploads, "blobs": blobs}


async def sweep_uploads(database: Database, files: Files, ages: Ages) -> int:
    """Remove uploads of runs that ended, and of failed ones and of none at all once they are old."""
    removed = 0
    found = await asyncio.to_thread(lambda: sorted(files.uploads_of_tenants()))
    now = time.time()
    async for tenant, batch in _by_tenant(database, found):
        runs = [run_id for _, run_id, _ in batch]
        async with database.transaction(tenant) as tx:
            values = {"runs": runs, "failed_hours": ages.failed_hours}
            needed = {row["run_id"] for row in await (await tx.execute(NEEDED_UPLOADS, values)).fetchall()}
            known = {row["run_id"] for row in await (await tx.execute(KNOWN_RUNS, (runs,))).fetchall()}
        for _, run_id, written in batch:
            young = run_id not in known and now - written < ages.orphan_hours * HOUR
            if run_id not in needed and not young:
                await asyncio.to_thread(files.discard_upload, tenant, run_id)
                REMOVED.labels("upload").inc()
                removed += 1
    return removed


async def sweep_blobs(database: Database, files: Files, orphan_hours: int) -> int:
    """Remove blobs that a crash left before their revision was committed."""
    found = await asyncio.to_thread(lambda: sorted(files.blobs_of_tenants()))
    now, removed = time.time(), 0
    async for tenant, batch in _by_tenant(database, found):
        old = [content for _, content, written in batch if now - written >= orphan_hours * HOUR]
        removed += await discard_unneeded_blobs(database, files, tenant, old)
    return removed


async def discard_unneeded_blobs(database: Database, files: Files, tenant: UUID, hashes: Sequence[str]) -> int:
    """Remove those of these blobs that no revision and no run needs; how many."""
    removed = 0
    for at in range(0, len(hashes), BATCH):
        batch = list(hashes[at : at + BATCH])
        async with database.transaction(tenant) as tx:
            needed = await _needed(tx, batch)
        for content_hash in batch:
            if content_hash not in needed:
                removed += await _discard(database, files, tenant, content_hash)
    return removed


async def _discard(database: Database, files: Files, tenant: UUID, content_hash: str) -> int:
    """Whoever makes this blob a revision's holds the same lock: after it, the question has a final answer."""
    async with database.transaction(tenant) as tx:
        await lock_blob(tx, content_hash)
        if await _needed(tx, [content_hash]):
            return 0
        try:
            await asyncio.to_thread(files.discard_blob, tenant, content_hash)
        except FileGone:
            return 0
    REMOVED.labels("blob").inc()
    return 1


async def share_files(database: Database, files: Files, tenant: UUID) -> int:
    """What was kept on this machine before there was a bucket is brought there; how many blobs. One that nobody needs
    was purged by another machine, and is not."""
    shared = 0
    for content_hash in await asyncio.to_thread(files.unshared_blobs, tenant):
        async with database.transaction(tenant) as tx:
            await lock_blob(tx, content_hash)
            if await _needed(tx, [content_hash]):
                await asyncio.to_thread(files.share_blob, tenant, content_hash)
                shared += 1
    await asyncio.to_thread(files.share_packs, tenant)
    return shared


async def _needed(tx: Connection, hashes: Sequence[str]) -> set[str]:
    rows = await (await tx.execute(NEEDED_BLOBS, {"hashes": list(hashes)})).fetchall()
    return {row["content_hash"] for row in rows}


async def _by_tenant(database: Database, found: Sequence[Swept]) -> AsyncIterator[tuple[UUID, list[Swept]]]:
    for tenant, group in groupby(found, key=itemgetter(0)):
        whole = list(group) if await _lives_here(database, tenant) else []
        for at in range(0, len(whole), BATCH):
            yield tenant, whole[at : at + BATCH]


async def _has_files_here_alone(database: Database, files: Files, tenant: UUID) -> bool:
    """What another installation keeps on the same disk may be nowhere else. One that has moved with the bucket has it
    all there."""
    try:
        await _enter(database, tenant)
    except TenantMoved:
        return await asyncio.to_thread(lambda: next(iter(files.blobs_of(tenant)), None) is None)
    except (NotFound, TenantMoving):
        return True
    return True


async def _lives_here(database: Database, tenant: UUID) -> bool:
    try:
        await _enter(database, tenant)
    except (NotFound, TenantMoved, TenantMoving):
        return False
    return True


async def _enter(database: Database, tenant: UUID) -> None:
    async with database.transaction(tenant) as tx:
        await own_tenant(tx, tenant)
