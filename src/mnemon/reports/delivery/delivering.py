"""The job that tells one recipient of one event: it waits longer after each failure, is dead after the last, and can be
done again."""

import asyncio
from typing import Any, Protocol, cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.bus.envelope import outward
from mnemon.db.database import Connection
from mnemon.errors import MnemonError
from mnemon.log.events import Event
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.store import EventLog
from mnemon.reports.catalogue import PUBLISHED
from mnemon.reports.delivery.errors import DeliveryRefused
from mnemon.reports.delivery.letters import post_letter, report_letter
from mnemon.reports.delivery.recipients import BY_ID, WANTING, Recipient, Way, open_recipients, wants
from mnemon.reports.delivery.webhook import call_webhook
from mnemon.reports.library import ONE_REPORT, find_stored, read_stored
from mnemon.reports.report import MailReport
from mnemon.reports.writing import write_report
from mnemon.settings import Settings
from mnemon.telemetry import counter
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind

KIND = "SELECT summary_type FROM mnemon.mail_summaries WHERE tenant_id = mnemon.current_tenant() AND summary_id = %s"
TOLD = """
SELECT FROM mnemon.deliveries
 WHERE tenant_id = mnemon.current_tenant() AND recipient_id = %s AND event_id = %s
"""
TELL = """
INSERT INTO mnemon.deliveries (tenant_id, recipient_id, event_id, event_type, job_id)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s)
"""
DELIVERIES = counter(
    "mnemon_deliveries", "What was sent to recipients, by webhook or e-mail and by what came of it.", ["way", "outcome"]
)


class DeliveryToMake(BaseModel):
    """Who is told of which event. Where they are stays sealed."""

    recipient_id: UUID
    way: Way
    event_id: str
    event_type: str


class DeliveryContext(Protocol):
    """What the worker hands to the handler, as far as it needs it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def privacy(self) -> Privacy: ...


DELIVER = JobKind("reports.deliver", DeliveryToMake, attempts=8, time_limit=300, backoff=Backoff(30, 3600))


async def ways_of_report(tx: Connection, report_kind: str) -> list[Way]:
    """By which ways somebody will be told of a report of this kind."""
    rows = await (await tx.execute(WANTING)).fetchall()
    return sorted({row["way"] for row in rows if wants(row, PUBLISHED.type, report_kind)})


async def enqueue_deliveries(tx: Connection, event: Event) -> int:
    """A job for each recipient who wants to be told of the event and has none yet."""
    rows = await (await tx.execute(WANTING)).fetchall()
    kind = await _report_kind(tx, event) if event.type == PUBLISHED.type else None
    told = 0
    for row in rows:
        if not wants(row, event.type, kind):
            continue
        if await (await tx.execute(TOLD, (row["recipient_id"], event.id))).fetchone() is not None:
            continue
        wanted = DeliveryToMake(
            recipient_id=row["recipient_id"], way=row["way"], event_id=event.id, event_type=event.type
        )
        queued = await enqueue(tx, DELIVER, wanted)
        await tx.execute(TELL, (row["recipient_id"], event.id, event.type, queued.job_id))
        told += 1
    return told


async def _report_kind(tx: Connection, event: Event) -> str | None:
    row = await (await tx.execute(KIND, (event.data["summary_id"],))).fetchone()
    return row["summary_type"] if row else None


@DELIVER.handler
async def deliver(job: Job[DeliveryToMake]) -> dict[str, str]:
    """Whoever was removed meanwhile gets nothing."""
    context, wanted = cast(DeliveryContext, job.context), job.payload
    async with job.transaction() as tx:
        rows = await (await tx.execute(BY_ID, (wanted.recipient_id,))).fetchall()
    opened = await open_recipients(context.privacy.keys, job.tenant_id, rows)
    if not opened:
        return {"outcome": "not wanted any more"}
    event = await context.log.read_event(job.tenant_id, wanted.event_id)
    try:
        await WAYS[wanted.way](context, job, opened[0], event)
    except MnemonError:
        DELIVERIES.labels(wanted.way, "failed").inc()
        raise
    DELIVERIES.labels(wanted.way, "sent").inc()
    return {"outcome": "sent"}


async def _by_webhook(context: DeliveryContext, job: Job[Any], recipient: Recipient, event: Event) -> None:
    """The envelope as on the bus, without personal fields; a report with what it says."""
    compiled = await context.log.registry.find(event.tenant_id, event.type, event.data_version)
    envelope = outward(event, compiled.declaration)
    if event.type == PUBLISHED.type:
        report, _ = await _report(context, job, event)
        envelope |= {"content_markdown": write_report(report, "markdown")}
    private = context.settings.webhook_private
    await call_webhook(recipient.place, recipient.secret, envelope, private=private)


async def _by_mail(context: DeliveryContext, job: Job[Any], recipient: Recipient, event: Event) -> None:
    settings = context.settings
    if settings.smtp_url is None:
        raise DeliveryRefused("There is no mail server: set MNEMON_SMTP_URL, then replay the digest.")
    report, row = await _report(context, job, event)
    letter = report_letter(report, row["report_id"], row["published_at"], settings.smtp_from, recipient.place)
    await asyncio.to_thread(post_letter, settings.smtp_url.get_secret_value(), letter)


async def _report(context: DeliveryContext, job: Job[Any], event: Event) -> tuple[MailReport, dict[str, Any]]:
    async with job.transaction() as tx:
        row = await find_stored(tx, ONE_REPORT, event.data["report_id"])
        return await read_stored(context.log, tx, job.tenant_id, row), row


WAYS = {"webhook": _by_webhook, "e-mail": _by_mail}
