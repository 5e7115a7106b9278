"""The import job: keeps an archive's bytes, then stores its messages part by part. Any of it may be killed.

What was recorded stands in the log together with how far the import is, so a second attempt goes on where the first
one ended, and an archive that is known already is not read again.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.documents.intake.files import Files
from mnemon.log.events import SYSTEM, Actor, NewEvent
from mnemon.log.store import EventLog
from mnemon.mail import catalogue as happened
from mnemon.mail.archives.ranges import ArchiveRange
from mnemon.mail.errors import ImportGone
from mnemon.mail.message.ids import audience_of
from mnemon.mail.storing.batch import MailBatch, read_batch
from mnemon.mail.storing.blanking import blank_again
from mnemon.mail.storing.packs import KeptArchive, Packs
from mnemon.mail.storing.recording import ImportOrder, record_batch
from mnemon.settings import Settings
from mnemon.telemetry import counter, logger
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind

IMPORT = """
SELECT i.*, a.status AS archive_status, a.start_offset FROM mnemon.mail_imports i
  LEFT JOIN mnemon.mail_archives a ON a.tenant_id = i.tenant_id AND a.archive_id = i.archive_id
 WHERE i.tenant_id = mnemon.current_tenant() AND i.import_id = %s
"""
ADD_IMPORT = """
INSERT INTO mnemon.mail_imports
       (tenant_id, import_id, source, source_type, source_url, source_id, initiated_by, readers)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s, %s, %s, %s)
"""
KNOWN_ARCHIVE = """
SELECT status, start_offset FROM mnemon.mail_archives
 WHERE tenant_id = mnemon.current_tenant() AND archive_id = %s
"""
ARCHIVE_IS = """
UPDATE mnemon.mail_imports
   SET archive_id = %(archive)s, ingested_as = %(event)s, position = %(start)s, total = %(total)s, stage = %(stage)s,
       updated_at = clock_timestamp()
 WHERE tenant_id = mnemon.current_tenant() AND import_id = %(import_id)s
"""

MESSAGES = counter(
    "mnemon_mail_messages", "Messages of archives that this process stored, by what they were.", ["what"]
)

log = logger(__name__)


class ImportContext(Protocol):
    """What the worker hands to the handlers, as far as they need it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def files(self) -> Files: ...


class ImportToDo(BaseModel):
    """Which import; what is known of it stands in its row."""

    import_id: UUID


IMPORT_JOB = JobKind("mail.import", ImportToDo, attempts=5, time_limit=6 * 3600, backoff=Backoff(10, 300))


async def add_import(
    tx: Connection, import_id: UUID, source: str, source_type: str, source_url: str, actor: Actor,
    source_id: UUID | None = None, readers: list[str] | None = None,
) -> UUID:  # fmt: skip
    """The import and its job, in the caller's transaction. Its bytes wait in the upload of the same id."""
    await tx.execute(ADD_IMPORT, (import_id, source, source_type, source_url, source_id, actor.id, readers))
    queued = await enqueue(tx, IMPORT_JOB, ImportToDo(import_id=import_id), readers=readers)
    return queued.job_id


@IMPORT_JOB.handler
async def import_archive(job: Job[ImportToDo]) -> dict[str, Any]:
    context = cast(ImportContext, job.context)
    row = await _row(job)
    packs = Packs(context.files, audience_of(row["readers"]))
    if row["archive_id"] is None:
        kept = await asyncio.to_thread(_keep, packs, context.files, job.tenant_id, row["import_id"])
        if await _settle(job, context, row, kept):
            await asyncio.to_thread(context.files.discard_upload, job.tenant_id, row["import_id"])
            return {"archive_id": kept.archive_id, "unchanged": True}
        row = await _row(job)
    await asyncio.to_thread(context.files.discard_upload, job.tenant_id, row["import_id"])
    counts = await _store(job, context, packs, row)
    return {"archive_id": row["archive_id"], **counts}


async def _row(job: Job[ImportToDo]) -> dict[str, Any]:
    async with job.transaction() as tx:
        row = await (await tx.execute(IMPORT, (job.payload.import_id,))).fetchone()
    if row is None:
        raise ImportGone(f"There is no import {job.payload.import_id}.")
    return row


def _keep(packs: Packs, files: Files, tenant: UUID, import_id: UUID) -> KeptArchive:
    upload = files.upload(tenant, import_id)
    if upload is None:
        raise ImportGone(f"The archive of import {import_id} is gone: import it again.")
    return packs.keep_file(tenant, Path(upload))


async def _settle(job: Job[ImportToDo], context: ImportContext, row: dict[str, Any], kept: KeptArchive) -> bool:
    """Whether the archive is known to its end. Otherwise it is recorded, once, and its messages are next."""
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        known = await (await tx.execute(KNOWN_ARCHIVE, (kept.archive_id,))).fetchone()
        values = {
            "archive": kept.archive_id, "start": kept.start, "total": kept.start + kept.kept, "stage": "parse",
            "import_id": row["import_id"], "event": None,
        }  # fmt: skip
        if known is not None and not kept.was_here:
            await blank_again(tx, kept.archive_id)
        if known is not None and known["status"] == "processed":
            await tx.execute(ARCHIVE_IS, values | {"position": kept.start})
            await job.finish(tx, {"archive_id": kept.archive_id, "unchanged": True})
            return True
        await job.report_in(tx, {"stage": "parse"})
        [recorded] = await transaction.append([_ingested(row, kept)])
        await tx.execute(ARCHIVE_IS, values | {"event": recorded.id})
    return False


def _ingested(row: dict[str, Any], kept: KeptArchive) -> NewEvent:
    now = datetime.now(UTC).isoformat()
    return happened.mail_event(
        happened.ARCHIVE_INGESTED, kept.archive_id, str(row["import_id"]), initiator(row["initiated_by"]),
        archive_id=kept.archive_id, source_type=row["source_type"], file_hash_sha256=kept.file_hash,
        file_size_bytes=kept.size, format=kept.format, start_offset=kept.start,
        ingestion_started_at=(row["started_at"] or row["created_at"]).isoformat(), ingestion_completed_at=now,
        source_name=row["source"], source_url=row["source_url"], file_path=f"packs/{kept.archive_id}",
        readers=row["readers"],
    )  # fmt: skip


async def _store(job: Job[ImportToDo], context: ImportContext, packs: Packs, row: dict[str, Any]) -> dict[str, int]:
    order = ImportOrder(
        job.tenant_id, row["import_id"], row["archive_id"], row["source"], initiator(row["initiated_by"]),
        row["ingested_as"], row["readers"],
    )  # fmt: skip
    counts: dict[str, int] = dict(row["counts"])
    position = row["position"]
    ranges = packs.ranges(job.tenant_id, order.archive_id, position, row["start_offset"] or 0)
    # One more event tells what the messages of a batch are.
    most = max(context.settings.log_batch_events - 1, 1)
    following = _next(ranges, order, position, most)
    while True:
        batch = await following
        if not batch.is_last:
            # The next part is read while this one is written.
            following = _next(ranges, order, batch.position, most)
        try:
            async with context.log.transaction(job.tenant_id) as transaction:
                counts = await record_batch(transaction, order, batch, counts)
                if batch.is_last:
                    await job.finish(transaction.connection, {"archive_id": order.archive_id, **counts})
                else:
                    await job.report_in(transaction.connection, {"position": batch.position, **counts})
        except BaseException:
            following.cancel()
            raise
        MESSAGES.labels("stored").inc(len(batch.copies))
        MESSAGES.labels("defect").inc(len(batch.defects))
        if batch.is_last:
            break
    log.info("mail_imported", import_id=order.import_id, archive_id=order.archive_id, **counts)
    return counts


def initiator(actor_id: str) -> Actor:
    """Who began an import, as whoever does the work for them may tell."""
    return Actor("human", actor_id) if actor_id.startswith("user:") else SYSTEM


def _next(ranges: Iterator[ArchiveRange], order: ImportOrder, position: int, most: int) -> "asyncio.Task[MailBatch]":
    reading = asyncio.to_thread(read_batch, ranges, order.archive_id, position, order.audience, most)
    return asyncio.create_task(reading)
