"""The job that looks at a source: keeps what is new there and begins its import; retries, and says how it went."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import orjson
from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.errors import MnemonError, NotFound
from mnemon.identity.roles import has_credential
from mnemon.ids import new_uuid
from mnemon.mail import catalogue as happened
from mnemon.mail.errors import SourceRefused
from mnemon.mail.message.ids import audience_of
from mnemon.mail.sources import files, remote
from mnemon.mail.sources.imap import look_at_imap
from mnemon.mail.sources.kinds import Brought, BroughtArchive, local_path
from mnemon.mail.sources.mirror import hollow_out
from mnemon.mail.sources.reach import refuse_from_afar
from mnemon.mail.storing.blanking import blank_again
from mnemon.mail.storing.failures import NO_ARCHIVE
from mnemon.mail.storing.importing import IMPORT_JOB, ImportContext, ImportToDo, initiator
from mnemon.mail.storing.packs import KeptArchive, Packs
from mnemon.settings import Settings
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind, NoPayload
from mnemon.work.schedule import Schedule

SOURCE = "SELECT * FROM mnemon.mail_sources WHERE tenant_id = mnemon.current_tenant() AND source_id = %s"
DUE = """
SELECT source_id, readers FROM mnemon.mail_sources
 WHERE tenant_id = mnemon.current_tenant() AND NOT paused AND next_check_at <= now() ORDER BY next_check_at LIMIT 100
"""
LOOKED = """
UPDATE mnemon.mail_sources
   SET cursor = %(cursor)s::text::jsonb, status = 'ok', failures = 0, last_error = NULL,
       last_checked_at = clock_timestamp(), next_check_at = clock_timestamp() + make_interval(mins => every_minutes)
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %(source)s
"""
FAILED = """
UPDATE mnemon.mail_sources
   SET status = 'failing', failures = failures + 1, last_error = %(error)s, last_checked_at = clock_timestamp(),
       next_check_at = clock_timestamp() + make_interval(mins => every_minutes)
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %(source)s
"""
KNOWN_ARCHIVE = """
SELECT status, start_offset FROM mnemon.mail_archives WHERE tenant_id = mnemon.current_tenant() AND archive_id = %s
"""
ADD_KEPT = """
INSERT INTO mnemon.mail_imports
       (tenant_id, import_id, source, source_type, source_url, source_id, initiated_by, archive_id, ingested_as,
        position, total, readers)
VALUES (mnemon.current_tenant(), %(import_id)s, %(source)s, %(source_type)s, %(url)s, %(source_id)s, %(by)s,
        %(archive)s, %(event)s, %(start)s, %(total)s, %(readers)s)
"""


class SourceToLookAt(BaseModel):
    """Which source."""

    source_id: UUID


LOOK = JobKind("mail.look", SourceToLookAt, attempts=4, time_limit=4 * 3600, backoff=Backoff(30, 600))
LOOK_DUE = JobKind("mail.look_due", NoPayload, attempts=3)


async def enqueue_look(tx: Connection, source_id: UUID, readers: list[str] | None) -> UUID:
    """One look at a time: whoever asks meanwhile shares it. What goes wrong names the place, for its readers alone."""
    wanted = SourceToLookAt(source_id=source_id)
    queued = await enqueue(tx, LOOK, wanted, dedupe_key=str(source_id), readers=readers)
    return queued.job_id


@LOOK_DUE.handler
async def look_at_due(job: Job[NoPayload]) -> dict[str, int]:
    """By the clock, for each tenant: the sources whose time has come."""
    async with job.transaction() as tx:
        rows = await (await tx.execute(DUE)).fetchall()
        for row in rows:
            await enqueue_look(tx, row["source_id"], row["readers"])
    return {"sources": len(rows)}


@LOOK.handler
async def look(job: Job[SourceToLookAt]) -> dict[str, Any]:
    """The bytes are kept before the transaction that says so: a second look finds the same and names it once."""
    context = cast(ImportContext, job.context)
    async with job.transaction() as tx:
        source = await (await tx.execute(SOURCE, (job.payload.source_id,))).fetchone()
    if source is None:
        raise NotFound(f"There is no source {job.payload.source_id}.")
    try:
        if has_credential(source["created_by"]):
            # Asked again at each look: a name may lead elsewhere by now, and sources outlive the rules of their time.
            await asyncio.to_thread(refuse_from_afar, source["source_type"], source["location"])
        brought = await asyncio.to_thread(_bring, context, job.tenant_id, source)
    except Exception as failure:  # Whatever it is, whoever looks at the source is told.
        await _note_failure(job, context, source, failure)
        raise
    begun: list[str] = []
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        cursor = orjson.dumps(brought.cursor).decode()
        for archive in brought.archives:
            known = await (await tx.execute(KNOWN_ARCHIVE, (archive.kept.archive_id,))).fetchone()
            if known is not None and not archive.kept.was_here:
                await blank_again(tx, archive.kept.archive_id)
            if known is not None and archive.kept.was_here:
                archive = replace(archive, kept=_as_it_is_here(archive.kept, known["start_offset"]))
            if known is None or known["status"] != "processed":
                import_id = new_uuid()
                [recorded] = await transaction.append([_ingested(source, archive, import_id)])
                await _begin(tx, source, archive, import_id, recorded.id)
                begun.append(str(import_id))
        await tx.execute(LOOKED, {"cursor": cursor, "source": source["source_id"]})
        await job.finish(tx, {"imports": begun})
    if source["source_type"] == "rsync":
        await asyncio.to_thread(hollow_out, _beside(context, job.tenant_id, source), brought.cursor)
    return {"imports": begun}


def _as_it_is_here(kept: KeptArchive, start: int) -> KeptArchive:
    """Of an archive that came as what was added to another, only that is in its pack."""
    return replace(kept, start=start, kept=max(kept.start + kept.kept - start, 0))


def _beside(context: ImportContext, tenant: UUID, source: dict[str, Any]) -> Path:
    """Where what was fetched from a source stands until it is read."""
    return context.settings.home / "mail" / str(tenant) / str(source["source_id"])


def _bring(context: ImportContext, tenant: UUID, source: dict[str, Any]) -> Brought:
    packs = Packs(context.files, audience_of(source["readers"]))
    place, cursor = source["location"], source["cursor"]
    beside = _beside(context, tenant, source)
    match source["source_type"]:
        case "file":
            return files.look_at_file(packs, tenant, local_path(place), cursor, place)
        case "folder":
            return files.look_at_folder(packs, tenant, local_path(place), cursor, place)
        case "http":
            return remote.look_at_web(packs, tenant, place, cursor, beside)
        case "rsync":
            return remote.look_by_rsync(packs, tenant, place, cursor, beside)
        case _:
            return look_at_imap(packs, tenant, place, cursor, _password(context.settings))


def _password(settings: Settings) -> str:
    if settings.mail_imap_password is None:
        raise SourceRefused("No password for IMAP is set: give it in MNEMON_MAIL_IMAP_PASSWORD.")
    return settings.mail_imap_password.get_secret_value()


async def _begin(
    tx: Connection, source: dict[str, Any], archive: BroughtArchive, import_id: UUID, event_id: str
) -> None:
    kept = archive.kept
    values = {
        "import_id": import_id, "source": source["name"], "source_type": source["source_type"], "url": archive.url,
        "source_id": source["source_id"], "by": source["created_by"], "archive": kept.archive_id, "event": event_id,
        "start": kept.start, "total": kept.start + kept.kept, "readers": source["readers"],
    }  # fmt: skip
    await tx.execute(ADD_KEPT, values)
    await enqueue(tx, IMPORT_JOB, ImportToDo(import_id=import_id), readers=source["readers"])


def _ingested(source: dict[str, Any], archive: BroughtArchive, import_id: UUID) -> Any:
    kept, now = archive.kept, datetime.now(UTC).isoformat()
    return happened.mail_event(
        happened.ARCHIVE_INGESTED, kept.archive_id, str(import_id), initiator(source["created_by"]),
        archive_id=kept.archive_id, source_type=source["source_type"], file_hash_sha256=kept.file_hash,
        file_size_bytes=kept.size, format=kept.format, start_offset=kept.start, continues=archive.continues,
        ingestion_started_at=now, ingestion_completed_at=now, source_name=source["name"], source_url=archive.url,
        file_path=f"packs/{kept.archive_id}", readers=source["readers"],
    )  # fmt: skip


async def _note_failure(
    job: Job[SourceToLookAt], context: ImportContext, source: dict[str, Any], failure: Exception
) -> None:
    """On the source at once; in the log when it is not tried again."""
    words = failure.message if isinstance(failure, MnemonError) else str(failure)
    async with context.log.transaction(job.tenant_id) as transaction:
        await transaction.connection.execute(FAILED, {"error": words[:1000], "source": source["source_id"]})
        is_last = job.attempt >= job.max_attempts or not getattr(failure, "retry", True)
        if is_last:
            event = happened.mail_event(
                happened.ARCHIVE_FAILED, NO_ARCHIVE, str(job.job_id), initiator(source["created_by"]),
                source_name=source["name"], source_type=source["source_type"], source_url=source["location"],
                error_type=getattr(failure, "code", type(failure).__name__), error_message=words,
                retry_count=job.attempt, failed_at=datetime.now(UTC).isoformat(), readers=source["readers"],
            )  # fmt: skip
            await transaction.append([event])


def mail_schedules(settings: Settings) -> list[Schedule]:
    """Every five minutes somebody asks which sources are due."""
    return [Schedule("mail.look_due", LOOK_DUE, "*/5 * * * *", every_tenant=True)]
