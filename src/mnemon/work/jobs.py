"""Jobs as people see them: list, look, retry, cancel, count. Row-level security decides whose they are."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import class_row
from pydantic import BaseModel, Field

from mnemon.db.database import Connection
from mnemon.errors import NotFound
from mnemon.work.errors import JobNotCancellable, JobNotRetriable

SUMMARY = """tenant_id, job_id, kind, status, priority, attempts, max_attempts, next_run_at, locked_by, locked_at,
       last_error_code, last_error_message, created_at, updated_at, finished_at"""
# What is done with something that is not for the reader is not shown to them, nor counted.
VISIBLE = "(%(reader)s::text IS NULL OR readers IS NULL OR %(reader)s = ANY (readers))"
PAGE = f"""
SELECT {SUMMARY} FROM mnemon.jobs
 WHERE {VISIBLE} AND (%(status)s::text IS NULL OR status = %(status)s) AND (%(kind)s::text IS NULL OR kind = %(kind)s)
   AND (%(before)s::uuid IS NULL OR job_id < %(before)s)
 ORDER BY job_id DESC LIMIT %(limit)s
"""
ONE = f"""
SELECT {SUMMARY}, payload, dedupe_key, lease_until, errors, progress, result FROM mnemon.jobs
 WHERE job_id = %(job)s AND {VISIBLE}
"""
COUNTS = f"""
SELECT kind,
       count(*) FILTER (WHERE status = 'PENDING' AND next_run_at <= now()) AS waiting,
       count(*) FILTER (WHERE status = 'PENDING' AND next_run_at > now()) AS delayed,
       count(*) FILTER (WHERE status = 'PROCESSING') AS running,
       count(*) FILTER (WHERE status = 'FAILED') AS dead,
       coalesce(extract(epoch FROM now() - min(next_run_at) FILTER (
           WHERE status = 'PENDING' AND next_run_at <= now())), 0)::double precision AS oldest_waiting_seconds
  FROM mnemon.jobs WHERE status <> 'DONE' AND {VISIBLE} GROUP BY kind ORDER BY kind
"""
WORKERS = """
SELECT worker_id, host, process_id, slots, kinds, started_at, heartbeat_at,
       stopped_at IS NULL AND heartbeat_at > now() - interval '1 minute' AS alive, stopped_at IS NOT NULL AS stopped
  FROM mnemon.workers ORDER BY heartbeat_at DESC LIMIT 1000
"""


class JobStatus(StrEnum):
    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    DONE = "DONE"
    FAILED = "FAILED"


class JobSummary(BaseModel):
    """A job on a list."""

    tenant_id: UUID
    job_id: UUID
    kind: str
    status: JobStatus
    priority: int
    attempts: int
    max_attempts: int
    next_run_at: datetime | None
    locked_by: str | None
    locked_at: datetime | None
    last_error_code: str | None
    last_error_message: str | None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None


class JobDetail(JobSummary):
    """A job with all that is known of it."""

    payload: dict[str, Any]
    dedupe_key: str | None
    lease_until: datetime | None = Field(description="When another worker may take the job, unless heartbeats go on.")
    errors: list[dict[str, Any]] = Field(description="One entry for each attempt that failed, the last twenty.")
    progress: dict[str, Any] | None = Field(description="How far a long job says it is.")
    result: dict[str, Any] | None


class KindCounts(BaseModel):
    """The unfinished and failed jobs of one kind."""

    kind: str
    waiting: int
    delayed: int
    running: int
    dead: int
    oldest_waiting_seconds: float


class WorkerState(BaseModel):
    """A worker on the register; alive if it gave a sign within the last minute."""

    worker_id: str
    host: str
    process_id: int
    slots: int
    kinds: list[str]
    started_at: datetime
    heartbeat_at: datetime
    alive: bool
    # By itself, as when a command has done its work; one that is neither has died.
    stopped: bool = False


async def page_of_jobs(
    tx: Connection,
    limit: int,
    before: UUID | None = None,
    *,
    status: JobStatus | None = None,
    kind: str | None = None,
    reader: str | None,
) -> list[JobSummary]:
    """Newest first. A tenant's transaction sees its own jobs, the owner's connection all: of these the ones that this
    reader may know of, or without one all."""
    values = {"reader": reader, "status": status, "kind": kind, "before": before, "limit": limit}
    return await (await tx.cursor(row_factory=class_row(JobSummary)).execute(PAGE, values)).fetchall()


async def job_by_id(tx: Connection, job_id: UUID, *, reader: str | None) -> JobDetail:
    values = {"job": job_id, "reader": reader}
    job = await (await tx.cursor(row_factory=class_row(JobDetail)).execute(ONE, values)).fetchone()
    if job is None:
        raise NotFound(f"There is no job {job_id}.", job_id=str(job_id))
    return job


async def retry_job(tx: Connection, job_id: UUID, *, reader: str | None) -> JobDetail:
    """Start a failed job over with all its attempts, or a waiting one now."""
    before = await job_by_id(tx, job_id, reader=reader)
    try:
        async with tx.transaction():
            row = await (await tx.execute("SELECT mnemon.retry_job(%s) AS done", (job_id,))).fetchone()
    except psycopg.errors.UniqueViolation:
        raise JobNotRetriable(
            f"An unfinished job of the kind {before.kind} has the same dedupe key {before.dedupe_key!r}.",
            job_id=str(job_id),
        ) from None
    if row is None or not row["done"]:
        raise JobNotRetriable(
            f"Job {job_id} is {before.status}: only failed and waiting jobs can be retried.",
            job_id=str(job_id),
            status=before.status,
        )
    return await job_by_id(tx, job_id, reader=reader)


async def cancel_job(tx: Connection, job_id: UUID, *, reader: str | None) -> JobDetail:
    """End a job that waits or runs. Its worker stops it, and could not write any more in any case."""
    before = await job_by_id(tx, job_id, reader=reader)
    row = await (await tx.execute("SELECT mnemon.cancel_job(%s) AS done", (job_id,))).fetchone()
    if row is None or not row["done"]:
        raise JobNotCancellable(
            f"Job {job_id} is {before.status}: it has ended already.", job_id=str(job_id), status=before.status
        )
    return await job_by_id(tx, job_id, reader=reader)


async def count_jobs(tx: Connection, *, reader: str | None) -> list[KindCounts]:
    cursor = tx.cursor(row_factory=class_row(KindCounts))
    return await (await cursor.execute(COUNTS, {"reader": reader})).fetchall()


async def list_workers(tx: Connection) -> list[WorkerState]:
    return await (await tx.cursor(row_factory=class_row(WorkerState)).execute(WORKERS)).fetchall()
