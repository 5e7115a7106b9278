"""How the extraction of a revision stands, and its repetition on demand."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as, readers_of_revision
from mnemon.documents.artifact_names import job_name
from mnemon.documents.ingest.extract_job import EXTRACT, enqueue_extraction
from mnemon.errors import NotFound
from mnemon.semantics.artifact_reading import find_artifact, find_revision
from mnemon.semantics.shapes import Shape, moment
from mnemon.work.jobs import retry_job

JOB = """
SELECT job_id, status, attempts, max_attempts, created_at, updated_at, locked_by, locked_at, last_error_code,
       last_error_message, next_run_at
  FROM mnemon.jobs
 WHERE tenant_id = mnemon.current_tenant() AND kind = 'semantics.extract' AND dedupe_key = ANY(%s)
 ORDER BY created_at DESC, job_id DESC LIMIT 1
"""
# Finished jobs are cleaned up one day; what they did stays known.
LAST = """
SELECT extraction_id AS job_id, extracted_at FROM mnemon.extractions
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s ORDER BY extracted_at DESC LIMIT 1
"""
# Not those that pause after a failure: that may take long, and is told by the job's status.
UNREAD = """
SELECT count(DISTINCT r.doc_id) AS documents
  FROM mnemon.document_revisions r
  JOIN mnemon.jobs j ON j.tenant_id = r.tenant_id AND j.kind IN ('semantics.extract', 'semantics.refine')
   AND j.dedupe_key IN (r.doc_version_id::text, r.doc_version_id || '+')
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_id = ANY(%s)
   AND (j.status = 'PROCESSING' OR (j.status = 'PENDING' AND j.attempts = 0))
"""
NEVER_READ = """
SELECT r.doc_id FROM mnemon.document_revisions r
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_id = ANY(%s) AND r.is_active
   AND NOT EXISTS (SELECT FROM mnemon.extractions x
                    WHERE x.tenant_id = r.tenant_id AND x.doc_version_id = r.doc_version_id)
"""


async def unread(database: Database, tenant: UUID, documents: Collection[UUID]) -> int:
    """How many of these documents still wait for their first attempt to read events from them, or for the reader's
    look at what the rules found: a command that works for itself leaves nobody who would take it."""
    async with database.transaction(tenant) as tx:
        row = await (await tx.execute(UNREAD, (list(documents),))).fetchone()
    return int(row["documents"]) if row else 0


async def never_read(database: Database, tenant: UUID, documents: Collection[UUID]) -> set[UUID]:
    """Those of these documents whose latest revision nobody has read for events: it waits, or reading it failed."""
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute(NEVER_READ, (list(documents),))).fetchall()
    return {row["doc_id"] for row in rows}


async def job_status(
    database: Database, tenant: UUID, reader: Reader, artifact_uid: str, revision_id: str | None = None
) -> Shape:
    """The last extraction job of a revision, the latest unless told."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        revision = await find_revision(tx, await find_artifact(tx, artifact_uid), revision_id)
        job = await _job_of(tx, revision.doc_version_id)
    if job is None:
        raise NotFound(f"No job found for artifact {artifact_uid}", artifact_uid=artifact_uid)
    return _shape(job, artifact_uid, revision.revision_id)


async def event_reextract(
    database: Database, tenant: UUID, reader: Reader, artifact_uid: str, revision_id: str | None = None, *,
    force: bool = False,
) -> Shape:  # fmt: skip
    """Read a revision again. What was read before stays until the new events take its place, all at once."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        revision = await find_revision(tx, await find_artifact(tx, artifact_uid), revision_id)
        job = await _job_of(tx, revision.doc_version_id)
        job_id, status, message = await _again(tx, revision.doc_version_id, job, force)
    return {
        "job_id": job_name(job_id),
        "artifact_uid": artifact_uid,
        "revision_id": revision.revision_id,
        "status": status,
        "message": message,
    }


async def _again(tx: Connection, revision: UUID, job: dict[str, Any] | None, force: bool) -> tuple[UUID, str, str]:
    state = job["status"] if job else None
    if job and state in ("PENDING", "PROCESSING") and not force:
        return job["job_id"], job["status"], "Job already in progress (use force=true to override)"
    if job and state == "DONE" and not force:
        return job["job_id"], "DONE", "Events were extracted already (use force=true to extract again)"
    if job and state == "PENDING":
        # It may wait for the end of a pause that a model's server asked for.
        await retry_job(tx, job["job_id"], reader=None)
    enqueued = await enqueue_extraction(
        tx, revision, again=state == "PROCESSING", readers=await readers_of_revision(tx, revision)
    )
    message = "Job reset and re-enqueued (force=true)" if force and job else "Re-extraction job enqueued"
    return enqueued.job_id, "PENDING", message


async def _job_of(tx: Connection, revision: UUID) -> dict[str, Any] | None:
    job = await (await tx.execute(JOB, ([str(revision), f"{revision}+"],))).fetchone()
    if job is not None:
        return job
    last = await (await tx.execute(LAST, (revision,))).fetchone()
    if last is None:
        return None
    at = last["extracted_at"]
    gone = dict.fromkeys(("locked_by", "locked_at", "last_error_code", "last_error_message", "next_run_at"))
    ended = {"status": "DONE", "attempts": 1, "max_attempts": EXTRACT.max_attempts, "created_at": at, "updated_at": at}
    return {"job_id": last["job_id"], **ended, **gone}


def _shape(job: dict[str, Any], artifact_uid: str, revision_id: str) -> Shape:
    shape = {
        "job_id": job_name(job["job_id"]),
        "artifact_uid": artifact_uid,
        "revision_id": revision_id,
        "status": job["status"],
        "attempts": job["attempts"],
        "max_attempts": job["max_attempts"],
        "created_at": moment(job["created_at"]),
        "updated_at": moment(job["updated_at"]),
        "locked_by": job["locked_by"],
        "last_error_code": job["last_error_code"],
        "last_error_message": job["last_error_message"],
        "next_run_at": moment(job["next_run_at"]),
    }
    if job["status"] == "PROCESSING":
        shape["locked_at"] = moment(job["locked_at"])
    return shape
