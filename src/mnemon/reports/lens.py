"""The lens of summaries and reports: which there are, of what. What they say is read from their events."""

from collections.abc import Sequence
from typing import Any

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern
from mnemon.reports.catalogue import COMPLETE, PUBLISHED

PUT_SUMMARY = """
INSERT INTO {mail_summaries}
       (tenant_id, summary_id, summary_type, list_name, draft, since, until, based_on, thread_keys, message_keys,
        consensus_types, line_count, dropped, generated_by, generated_at, event_id)
VALUES (%(tenant)s, %(summary_id)s, %(summary_type)s, %(list_name)s, %(draft)s, %(since)s, %(until)s, %(based_on)s,
        %(thread_keys)s, %(message_keys)s, %(consensus_types)s, %(line_count)s, %(dropped)s, %(llm_model)s, %(at)s,
        %(event_id)s)
ON CONFLICT (tenant_id, summary_id) DO NOTHING
"""
PUT_REPORT = """
INSERT INTO {mail_reports} (tenant_id, report_id, summary_id, delivery_channels, published_at, event_id)
VALUES (%(tenant)s, %(report_id)s, %(summary_id)s, %(delivery_channels)s, %(at)s, %(event_id)s)
ON CONFLICT (tenant_id, report_id) DO NOTHING
"""
OF_SUMMARY = ("summary_id", "summary_type", "list_name", "draft", "since", "until", "based_on", "thread_keys",
              "dropped", "llm_model")  # fmt: skip
OF_REPORT = ("report_id", "summary_id", "delivery_channels")


async def apply(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    for event in events:
        common = {"tenant": event.tenant_id, "at": event.recorded_at, "event_id": event.id}
        if event.type == COMPLETE.type:
            await connection.execute(PUT_SUMMARY.format(**tables), common | _summary(event.data))
        else:
            values = {name: event.data[name] for name in OF_REPORT}
            await connection.execute(PUT_REPORT.format(**tables), common | values)


def _summary(data: dict[str, Any]) -> dict[str, Any]:
    lines = [line for section in data["sections"] for line in section["lines"]]
    return {name: data[name] for name in OF_SUMMARY} | {
        "message_keys": sorted({place["message_key"] for line in lines for place in line["places"]}),
        "consensus_types": sorted({section["consensus_type"] for section in data["sections"]}),
        "line_count": len(lines),
    }


MAIL_SUMMARIES = Lens(
    name="mail_summaries",
    tables=("mnemon.mail_summaries", "mnemon.mail_reports"),
    apply=apply,
    lifecycle="inline",
    pattern=Pattern(types=(COMPLETE.type, PUBLISHED.type)),
    personal=False,
)
