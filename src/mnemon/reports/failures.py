"""Stages that failed for good enter the log: whoever ended the job left another to record it."""

from typing import Any, cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.errors import MnemonError
from mnemon.log.events import NewEvent
from mnemon.log.moments import now, written
from mnemon.mail import catalogue as mail_happened
from mnemon.mail.storing.passages import PASSAGES
from mnemon.reports import catalogue as happened
from mnemon.reports.delivery.delivering import DELIVER
from mnemon.reports.jobs import SUMMARIZE, ReportContext
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind

FAILED = """
SELECT job_id, kind, payload, attempts, last_error_code, last_error_message, finished_at FROM mnemon.jobs
 WHERE tenant_id = mnemon.current_tenant() AND job_id = %s AND status = 'FAILED'
"""
KEYS_OF = """
SELECT message_key FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = ANY(%s) AND purged_at IS NULL ORDER BY message_key
"""


class FailedStage(BaseModel):
    """Which job it is about."""

    job_id: UUID


# The database enqueues it, with limits of its own: see leave_failure_to_record.
RECORD_STAGE_FAILURE = JobKind("reports.record_failure", FailedStage, attempts=20)


@RECORD_STAGE_FAILURE.handler
async def record_stage_failure(job: Job[FailedStage]) -> None:
    """Append it once, with the end of this job. A stage that was retried meanwhile has nothing to record."""
    context = cast(ReportContext, job.context)
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        row = await (await tx.execute(FAILED, (job.payload.job_id,))).fetchone()
        if row is not None:
            told = await _delivery(context, job, row) if row["kind"] == DELIVER.name else await _event(tx, row)
            if told is not None:
                await transaction.append([told])
        await job.finish(tx)


async def _delivery(context: ReportContext, job: Job[FailedStage], row: dict[str, Any]) -> NewEvent | None:
    """That a report did not arrive is a fact; of other events the dead job tells, or each failure would be told of."""
    about = row["payload"]
    if about["event_type"] != happened.PUBLISHED.type:
        return None
    report = (await context.log.read_event(job.tenant_id, about["event_id"])).data
    data = {
        "report_id": report["report_id"], "summary_id": report["summary_id"], "thread_keys": [],
        "delivery_channel": about["way"], **_why(row),
    }  # fmt: skip
    return happened.summary_happening(happened.DELIVERY_FAILED, report["summary_id"], data)


def _why(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "error_type": row["last_error_code"] or MnemonError.code,
        "error_message": (row["last_error_message"] or "No reason was given.")[:2_000],
        "retry_count": row["attempts"],
    }


async def _event(tx: Connection, row: dict[str, Any]) -> NewEvent:
    why, about = _why(row), row["payload"]
    if row["kind"] == PASSAGES.name:
        keys = await (await tx.execute(KEYS_OF, ([UUID(one) for one in about["revisions"]],))).fetchall()
        failed_at = written(row["finished_at"] or now())
        return mail_happened.mail_event(
            mail_happened.CHUNKS_FAILED, about["archive_id"], about["import_id"],
            message_keys=[one["message_key"] for one in keys], failed_at=failed_at, **why,
        )  # fmt: skip
    if row["kind"] == SUMMARIZE.name:
        data = {"summary_id": about["summary_id"], "summary_type": about["kind"], "thread_keys": _threads(about), **why}
        return happened.summary_happening(
            happened.SUMMARY_FAILED, about["summary_id"], data, caused_by=about["requested_as"]
        )
    data = {"thread_keys": [], **why}
    return happened.summary_happening(happened.ORCHESTRATION_FAILED, str(row["job_id"]), data)


def _threads(about: dict[str, Any]) -> list[str]:
    return [about["thread"]] if about.get("based_on") else []
