"""Failed imports enter the log: whoever ended the job left another to record it."""

from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.log.events import NewEvent
from mnemon.mail import catalogue as happened
from mnemon.mail.storing.importing import ImportContext
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind

FAILED = """
SELECT import_id, source, source_type, source_url, archive_id, counts, error_code, error, attempts, finished_at, readers
  FROM mnemon.mail_imports
 WHERE tenant_id = mnemon.current_tenant() AND import_id = %s AND status = 'failed'
"""
# An import without an archive has no name but its own.
NO_ARCHIVE = "0" * 16


class FailedImport(BaseModel):
    """Which import it is about."""

    import_id: UUID


# The database enqueues it, with limits of its own: see move_import_with_job.
RECORD_MAIL_FAILURE = JobKind("mail.record_failure", FailedImport, attempts=20)


@RECORD_MAIL_FAILURE.handler
async def record_failure(job: Job[FailedImport]) -> None:
    """Append it once, with the end of this job. An import that was retried meanwhile has nothing to record."""
    context = cast(ImportContext, job.context)
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        row = await (await tx.execute(FAILED, (job.payload.import_id,))).fetchone()
        if row is not None:
            await transaction.append([_event(row)])
        await job.finish(tx)


def _event(row: dict[str, Any]) -> NewEvent:
    why: dict[str, Any] = {
        "error_type": row["error_code"] or "UNKNOWN", "error_message": row["error"], "retry_count": row["attempts"],
        "failed_at": (row["finished_at"] or datetime.now(UTC)).isoformat(),
    }  # fmt: skip
    archive, correlation = row["archive_id"], str(row["import_id"])
    if archive is None:
        origin = {"source_name": row["source"], "source_type": row["source_type"], "source_url": row["source_url"]}
        return happened.mail_event(
            happened.ARCHIVE_FAILED, NO_ARCHIVE, correlation, **origin, **why, readers=row["readers"]
        )
    read = row["counts"].get("messages", 0)
    return happened.mail_event(
        happened.PARSING_FAILED, str(archive), correlation, archive_id=archive,
        messages_parsed_before_failure=read, **why,
    )  # fmt: skip
