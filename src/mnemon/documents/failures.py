"""Failed runs enter the log: whoever ended the job, a worker, a rescue or a cancellation, left a job to record it."""

from typing import cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.documents import events as happened
from mnemon.documents.ingest.job import RUNS, IngestContext
from mnemon.log.events import SYSTEM
from mnemon.telemetry import logger
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind

# The lock keeps a purge from coming between this and the append that would then name a destroyed key.
FAILED_RUN = """
SELECT r.doc_id, r.error_code, r.error, r.started_at, r.created_at, r.finished_at, d.purged_at
  FROM mnemon.ingestion_runs r JOIN mnemon.documents d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
 WHERE r.tenant_id = mnemon.current_tenant() AND r.run_id = %s AND r.status = 'failed'
   FOR SHARE OF d
"""

log = logger(__name__)


class FailedRun(BaseModel):
    """Which run it is about."""

    run_id: UUID


# The database enqueues it, with limits of its own: see move_run_with_job.
RECORD_FAILURE = JobKind("documents.record_failure", FailedRun, attempts=20)


@RECORD_FAILURE.handler
async def record_failure(job: Job[FailedRun]) -> None:
    """Append it once, with the end of this job. A run that was retried meanwhile has nothing to record any more."""
    context = cast(IngestContext, job.context)
    run_id = job.payload.run_id
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        row = await (await tx.execute(FAILED_RUN, (run_id,))).fetchone()
        if row is not None:
            reason = {} if row["purged_at"] else {"error": row["error"]}
            event = happened.about(
                happened.FAILED, row["doc_id"], SYSTEM, run_id, error_code=row["error_code"], **reason
            )
            await transaction.append([event])
        await job.finish(tx)
    if row is None:
        return
    RUNS.labels("failed").inc()
    took = row["finished_at"] - (row["started_at"] or row["finished_at"])
    waited = (row["started_at"] or row["finished_at"]) - row["created_at"]
    log.warning(
        "ingest_job_complete",
        run_id=run_id,
        tenant_id=job.tenant_id,
        doc_id=row["doc_id"],
        status="failed",
        error_code=row["error_code"],
        error=row["error"],
        duration_ms=round(took.total_seconds() * 1000),
        queue_wait_ms=round(waited.total_seconds() * 1000),
    )
