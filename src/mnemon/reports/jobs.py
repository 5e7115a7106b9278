"""What a worker does for reports: ask for summaries of threads that were read anew, and make them."""

import time
from datetime import UTC, datetime
from typing import Any, Protocol, cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.ids import new_ulid, new_uuid
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import SYSTEM, Actor
from mnemon.log.store import EventLog
from mnemon.mail.consensus.job import THREADS_WERE_READ
from mnemon.models.language import LanguageModel, Usage
from mnemon.reports import catalogue as happened
from mnemon.reports.abstracting import TEMPLATE, VERSION, abstracted
from mnemon.reports.checking import proven
from mnemon.reports.composing import ReportScope, draft_in
from mnemon.reports.delivery.delivering import ways_of_report
from mnemon.reports.report import MailReport, ReportKind
from mnemon.reports.stored import recorded_lines
from mnemon.settings import Settings
from mnemon.telemetry import counter
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind, NoPayload
from mnemon.work.schedule import Schedule

# Threads for everybody in which somebody took a stance, and of which there is no summary of the last reading.
UNTOLD = """
SELECT c.thread_key, c.event_id FROM mnemon.mail_consensus c
  JOIN mnemon.mail_threads t ON t.tenant_id = c.tenant_id AND t.thread_key = c.thread_key AND t.readers IS NULL
 WHERE c.tenant_id = mnemon.current_tenant()
   AND (jsonb_array_length(c.found -> 'statements') > 0 OR jsonb_array_length(c.found -> 'votes') > 0)
   AND NOT EXISTS (SELECT FROM mnemon.mail_summaries s
                    WHERE s.tenant_id = c.tenant_id AND s.based_on = c.event_id)
   AND NOT EXISTS (SELECT FROM mnemon.jobs j
                    WHERE j.tenant_id = c.tenant_id AND j.kind = 'reports.summarize'
                      AND j.payload ->> 'based_on' = c.event_id)
 ORDER BY c.thread_key LIMIT %s
"""
MADE = "SELECT event_id FROM mnemon.mail_summaries WHERE tenant_id = mnemon.current_tenant() AND summary_id = %s"
AT_ONCE = 100
SUMMARIES = counter("mnemon_mail_summaries", "Summaries of mailing lists that this process made, by kind.", ["kind"])
DROPPED = counter("mnemon_mail_summary_lines_dropped", "Lines that had no proof that held, and were left out.")


class SummaryToMake(BaseModel):
    """Of what, and under which names."""

    summary_id: UUID
    report_id: str
    requested_as: str
    kind: ReportKind
    thread: str | None = None
    based_on: str | None = None
    list_name: str | None = None
    draft: str | None = None
    consensus: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 50

    @property
    def scope(self) -> ReportScope:
        return ReportScope(
            self.kind,
            self.thread,
            self.list_name,
            self.draft,
            self.consensus,
            None,
            self.since,
            self.until,
            self.limit,
            for_all=True,
        )


class ReportContext(Protocol):
    """What the worker hands to the handlers, as far as they need it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def language_model(self) -> LanguageModel: ...


SUMMARIZE = JobKind("reports.summarize", SummaryToMake, attempts=4, time_limit=1800, backoff=Backoff(15, 600))
WEEKLY = JobKind("reports.weekly", NoPayload, attempts=3)


async def request_summary(
    transaction: LogTransaction, settings: Settings, scope: ReportScope, *, actor: Actor = SYSTEM,
    based_on: str | None = None, caused_by: str | None = None,
) -> tuple[SummaryToMake, UUID]:  # fmt: skip
    """Ask for a summary, in the log and in the queue at once; what will be made, and the job that makes it."""
    summary, report = new_uuid(), f"rpt-{new_ulid()}"
    by_model = settings.summary_engine == "llm"
    data = {
        "summary_id": str(summary), "summary_type": scope.kind,
        "thread_keys": [scope.thread] if scope.thread and based_on else [],
        **_of_what(scope), "llm_backend": "language_model" if by_model else "none",
        "llm_model": (settings.language_model or "none") if by_model else "extract",
        "prompt_template": f"{TEMPLATE}-v{VERSION}" if by_model else "extract-v1", "top_k": scope.limit,
        "context_window_tokens": settings.language_model_max_tokens if by_model else 0,
    }  # fmt: skip
    asked = happened.summary_happening(happened.REQUESTED, str(summary), data, actor=actor, caused_by=caused_by)
    [recorded] = await transaction.append([asked])
    wanted = SummaryToMake(
        summary_id=summary, report_id=report, requested_as=recorded.id, kind=scope.kind, thread=scope.thread,
        based_on=based_on, list_name=scope.list_name, draft=scope.draft, consensus=scope.consensus,
        since=scope.first_moment, until=scope.until, limit=scope.limit,
    )  # fmt: skip
    queued = await enqueue(transaction.connection, SUMMARIZE, wanted, dedupe_key=based_on, priority=-3)
    return wanted, queued.job_id


def _of_what(scope: ReportScope) -> dict[str, Any]:
    moments = {"since": scope.first_moment, "until": scope.until}
    told = {name: moment.isoformat() if moment else None for name, moment in moments.items()}
    return {"list_name": scope.list_name, "draft": scope.draft, **told}


@THREADS_WERE_READ.handler
async def orchestrate(job: Job[NoPayload]) -> dict[str, int]:
    """Which threads were read anew is looked up, so that a second attempt asks for what the first one did not."""
    context, asked = cast(ReportContext, job.context), 0
    while True:
        async with context.log.transaction(job.tenant_id) as transaction:
            rows = await (await transaction.connection.execute(UNTOLD, (AT_ONCE,))).fetchall()
            for row in rows:
                scope = ReportScope("thread", row["thread_key"])
                event = row["event_id"]
                await request_summary(transaction, context.settings, scope, based_on=event, caused_by=event)
            asked += len(rows)
            if not rows:
                await job.finish(transaction.connection, {"summaries": asked})
                return {"summaries": asked}


@SUMMARIZE.handler
async def summarize(job: Job[SummaryToMake]) -> dict[str, str]:
    """What is slow comes first; then the summary, its report and the end of this job are one transaction."""
    context, wanted = cast(ReportContext, job.context), job.payload
    began = time.perf_counter()
    async with job.transaction() as tx:
        known = await (await tx.execute(MADE, (wanted.summary_id,))).fetchone()
        drafted, threads = await draft_in(tx, wanted.scope)
    usage = Usage()
    result = {"summary_id": str(wanted.summary_id), "report_id": wanted.report_id}
    if known is None and context.settings.summary_engine == "llm":
        told = await abstracted(context.language_model, job.tenant_id, drafted, threads)
        drafted, usage = told.report, told.usage
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        if known is None:
            made = await proven(tx, drafted)
            milliseconds = round(1000 * (time.perf_counter() - began))
            await _record(transaction, context.settings, wanted, made, usage, milliseconds)
            SUMMARIES.labels(made.kind).inc()
            DROPPED.inc(made.dropped)
        await job.finish(tx, result)
    return result


async def _record(
    transaction: LogTransaction, settings: Settings, wanted: SummaryToMake, made: MailReport, usage: Usage,
    milliseconds: int,
) -> None:  # fmt: skip
    summary, keys = str(wanted.summary_id), [section.thread_key for section in made.sections]
    data = {
        "summary_id": summary, "summary_type": made.kind, "thread_keys": keys, **_of_what(wanted.scope),
        "based_on": wanted.based_on, **await recorded_lines(transaction.connection, made), "dropped": made.dropped,
        "llm_backend": "none" if made.generated_by == "extract" else "language_model", "llm_model": made.generated_by,
        "tokens_prompt": usage.input_tokens, "tokens_completion": usage.output_tokens, "latency_ms": milliseconds,
    }  # fmt: skip
    complete = happened.summary_happening(happened.COMPLETE, summary, data, caused_by=wanted.requested_as)
    [recorded] = await transaction.append([complete])
    channels = await ways_of_report(transaction.connection, made.kind)
    report = {
        "report_id": wanted.report_id, "summary_id": summary, "thread_keys": keys, "format": "markdown",
        "notified": bool(channels), "delivery_channels": channels,
        "summary_url": f"/v1/reports/{wanted.report_id}",
    }  # fmt: skip
    await transaction.append([happened.summary_happening(happened.PUBLISHED, summary, report, caused_by=recorded.id)])


@WEEKLY.handler
async def weekly(job: Job[NoPayload]) -> dict[str, str]:
    """By the clock, for each tenant that has lists: what they discussed in the week that ends now."""
    context = cast(ReportContext, job.context)
    async with context.log.transaction(job.tenant_id) as transaction:
        if not await _has_lists(transaction.connection):
            return {}
        scope = ReportScope("weekly", until=datetime.now(UTC))
        wanted, _ = await request_summary(transaction, context.settings, scope)
        await job.finish(transaction.connection, {"report_id": wanted.report_id})
    return {"report_id": wanted.report_id}


async def _has_lists(tx: Connection) -> bool:
    statement = "SELECT FROM mnemon.mail_threads WHERE tenant_id = mnemon.current_tenant() LIMIT 1"
    return await (await tx.execute(statement)).fetchone() is not None


def report_schedules(settings: Settings) -> list[Schedule]:
    rule = settings.weekly_report_schedule
    return [] if rule == "off" else [Schedule("reports.weekly", WEEKLY, rule, every_tenant=True)]
