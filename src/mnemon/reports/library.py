"""The stored summaries and reports: find them by what they are about, and read one from its event."""

from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import NotFound
from mnemon.inputs import from_cursor, to_cursor
from mnemon.log.store import EventLog
from mnemon.mail.reading import addresses_of
from mnemon.reports.composing import ReportScope
from mnemon.reports.report import MailReport
from mnemon.reports.stored import restored

# What tells of a list that is for few is for those few.
_MAY_READ = """
   AND NOT EXISTS (SELECT FROM mnemon.mail_threads p
                    WHERE p.tenant_id = s.tenant_id AND p.thread_key = ANY(s.thread_keys)
                      AND NOT mnemon.may_read(p.readers))
"""
_WANTED = """
   AND (%(type)s::text IS NULL OR s.summary_type = %(type)s)
   AND (%(list)s::text IS NULL OR s.list_name = %(list)s OR EXISTS (
        SELECT FROM mnemon.mail_threads t WHERE t.tenant_id = s.tenant_id AND t.thread_key = ANY(s.thread_keys)
           AND t.list_name = %(list)s))
   AND (%(thread)s::text IS NULL OR s.thread_keys @> ARRAY[%(thread)s::text])
   AND (%(consensus)s::text IS NULL OR %(consensus)s = ANY(s.consensus_types))
   AND (%(draft)s::text IS NULL OR s.draft = %(draft)s OR EXISTS (
        SELECT FROM mnemon.mail_threads t, unnest(t.draft_mentions) AS one
         WHERE t.tenant_id = s.tenant_id AND t.thread_key = ANY(s.thread_keys)
           AND (one = %(draft)s OR (starts_with(one, %(draft)s || '-')
                AND substr(one, length(%(draft)s) + 2) ~ '^[0-9][0-9]$'))))
   AND (%(people)s::text[] IS NULL OR EXISTS (
        SELECT FROM mnemon.mail_messages m
         WHERE m.tenant_id = s.tenant_id AND m.message_key = ANY(s.message_keys) AND m.purged_at IS NULL
           AND mnemon.may_read(m.readers)
           AND (m.sender_email = ANY(%(people)s) OR m.sender_key = ANY(%(people)s))))
"""
_COLUMNS = """s.summary_id, s.summary_type, s.list_name, s.draft, s.since, s.until, s.thread_keys, s.consensus_types,
       s.line_count, s.dropped, s.generated_by, s.generated_at, s.event_id"""
FIND_SUMMARIES = f"""
SELECT {_COLUMNS}, to_char(s.generated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
  FROM mnemon.mail_summaries s
 WHERE s.tenant_id = mnemon.current_tenant() {_MAY_READ} {_WANTED}
   AND (%(since)s::timestamptz IS NULL OR s.generated_at >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR s.generated_at <= %(until)s)
   AND (%(at)s::timestamptz IS NULL OR (s.generated_at, s.summary_id::text) < (%(at)s::timestamptz, %(key)s))
 ORDER BY s.generated_at DESC, s.summary_id::text DESC LIMIT %(limit)s
"""
FIND_REPORTS = f"""
SELECT {_COLUMNS}, r.report_id, r.delivery_channels, r.published_at,
       to_char(r.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
  FROM mnemon.mail_reports r
  JOIN mnemon.mail_summaries s ON s.tenant_id = r.tenant_id AND s.summary_id = r.summary_id
 WHERE r.tenant_id = mnemon.current_tenant() {_MAY_READ} {_WANTED}
   AND (%(since)s::timestamptz IS NULL OR r.published_at >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR r.published_at <= %(until)s)
   AND (%(at)s::timestamptz IS NULL OR (r.published_at, r.report_id) < (%(at)s::timestamptz, %(key)s))
 ORDER BY r.published_at DESC, r.report_id DESC LIMIT %(limit)s
"""
ONE_SUMMARY = f"""
SELECT {_COLUMNS} FROM mnemon.mail_summaries s
 WHERE s.tenant_id = mnemon.current_tenant() AND s.summary_id = %s {_MAY_READ}
"""
ONE_REPORT = f"""
SELECT {_COLUMNS}, r.report_id, r.delivery_channels, r.published_at FROM mnemon.mail_reports r
  JOIN mnemon.mail_summaries s ON s.tenant_id = r.tenant_id AND s.summary_id = r.summary_id
 WHERE r.tenant_id = mnemon.current_tenant() AND r.report_id = %s {_MAY_READ}
"""
MAKING = """
SELECT status, last_error_message FROM mnemon.jobs
 WHERE tenant_id = mnemon.current_tenant() AND kind = 'reports.summarize'
   AND (payload ->> 'report_id' = %(id)s OR payload ->> 'summary_id' = %(id)s)
 ORDER BY created_at DESC LIMIT 1
"""
StoredRow = dict[str, Any]


async def page_of_rows(
    tx: Connection, statement: str, asked: Any, key: str, thread: str | None
) -> tuple[list[StoredRow], str | None]:
    """Rows, newest first, and where the next page begins."""
    at, _, last = (from_cursor(asked.cursor) or "").partition("|")
    values = {
        "type": asked.kind, "list": asked.list_name, "thread": thread, "consensus": asked.consensus,
        "draft": "".join(asked.draft.lower().split()) if asked.draft else None,
        "people": await addresses_of(tx, asked.person), "since": asked.since, "until": asked.until,
        "at": at or None, "key": last, "limit": asked.limit + 1,
    }  # fmt: skip
    rows = await (await tx.execute(statement, values)).fetchall()
    if len(rows) <= asked.limit:
        return rows, None
    last_shown = rows[asked.limit - 1]
    return rows[: asked.limit], to_cursor(f"{last_shown['place']}|{last_shown[key]}")


async def find_stored(tx: Connection, statement: str, named: object) -> StoredRow:
    """The row, or a refusal that says whether it is still being made."""
    row = await (await tx.execute(statement, (named,))).fetchone()
    if row is not None:
        return row
    job = await (await tx.execute(MAKING, {"id": str(named)})).fetchone()
    if job is not None and job["status"] in ("PENDING", "PROCESSING"):
        raise NotFound(f"{named} is being made: ask again in a moment.", id=str(named), status=job["status"])
    if job is not None and job["status"] == "FAILED":
        raise NotFound(f"{named} could not be made: {job['last_error_message']}", id=str(named), status="FAILED")
    raise NotFound(f"There is no summary or report {named}.", id=str(named))


async def read_stored(log: EventLog, tx: Connection, tenant: UUID, row: StoredRow) -> MailReport:
    """What it says now: lines whose messages are gone are left out."""
    event = await log.read_event(tenant, row["event_id"])
    return await restored(tx, scope_of(row), event.data)


def scope_of(row: StoredRow) -> ReportScope:
    return ReportScope(
        row["summary_type"], row["thread_keys"][0] if row["summary_type"] == "thread" and row["thread_keys"] else None,
        row["list_name"], row["draft"], None, None, row["since"], row["until"],
    )  # fmt: skip
