"""Composes a report of what threads came to: chooses the threads, drafts, widens the quotes, proves every line."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest
from mnemon.mail.consensus.outputs import ConsensusShown
from mnemon.mail.consensus.shown import show_consensus
from mnemon.mail.reading import addresses_of
from mnemon.reports.checking import proven
from mnemon.reports.drafting import draft_report
from mnemon.reports.quoting import widened
from mnemon.reports.report import MailReport, ReportKind

THREADS = """
SELECT t.thread_key FROM mnemon.mail_threads t
  JOIN mnemon.mail_consensus c ON c.tenant_id = t.tenant_id AND c.thread_key = t.thread_key
 WHERE t.tenant_id = mnemon.current_tenant() AND mnemon.may_read(t.readers)
   AND (t.readers IS NULL OR NOT %(for_all)s::boolean)
   AND (%(list)s::text IS NULL OR t.list_name = %(list)s)
   AND (%(type)s::text IS NULL OR c.consensus_type = %(type)s)
   AND (%(since)s::timestamptz IS NULL OR t.last_message_date >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR t.first_message_date <= %(until)s)
   AND (%(draft)s::text IS NULL OR EXISTS (
        SELECT FROM unnest(t.draft_mentions) AS one
         WHERE one = %(draft)s OR (starts_with(one, %(draft)s || '-')
               AND substr(one, length(%(draft)s) + 2) ~ '^[0-9][0-9]$')))
   AND (%(people)s::text[] IS NULL OR t.participant_keys && %(people)s)
 ORDER BY t.last_message_date DESC NULLS LAST, t.thread_key LIMIT %(limit)s
"""
LISTS = """
SELECT DISTINCT t.list_name FROM mnemon.mail_threads t
 WHERE t.tenant_id = mnemon.current_tenant() AND mnemon.may_read(t.readers) ORDER BY t.list_name
"""
WEEK = timedelta(days=7)
TITLES: dict[ReportKind, str] = {
    "thread": "Summary of a thread", "weekly": "Weekly report", "consensus": "Consensus report",
    "draft-focused": "Report on a draft",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReportScope:
    """What a report is about."""

    kind: ReportKind
    thread: str | None = None
    list_name: str | None = None
    draft: str | None = None
    consensus: str | None = None
    person: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 50
    # Of what everybody may read alone: for reports that are kept.
    for_all: bool = False

    def checked(self) -> "ReportScope":
        """With the week of a weekly report, or a refusal."""
        if (self.kind == "thread") != (self.thread is not None):
            raise InvalidRequest("A report of kind thread needs a thread, and no other kind takes one.")
        if self.kind == "draft-focused" and self.draft is None:
            raise InvalidRequest("A draft-focused report needs a draft, for example draft-ietf-quic-transport.")
        if self.since and self.until and self.since > self.until:
            raise InvalidRequest(f"since ({self.since.isoformat()}) is after until ({self.until.isoformat()}).")
        return self

    @property
    def first_moment(self) -> datetime | None:
        if self.kind == "weekly" and self.since is None:
            return (self.until or datetime.now(UTC)) - WEEK
        return self.since

    @property
    def title(self) -> str:
        of = self.draft if self.kind == "draft-focused" else self.list_name
        return f"{TITLES[self.kind]}: {of}" if of else TITLES[self.kind]


async def draft_in(tx: Connection, scope: ReportScope) -> tuple[MailReport, list[ConsensusShown]]:
    """The report before it is proven, and what its threads came to."""
    threads = await _threads(tx, scope)
    return await widened(tx, draft_report(scope.kind, scope.title, threads)), threads


async def compose_in(tx: Connection, scope: ReportScope) -> MailReport:
    """The report in others' words."""
    drafted, _ = await draft_in(tx, scope)
    return await proven(tx, drafted)


async def lists_in(tx: Connection) -> list[str]:
    """The lists whose threads may be read, by name."""
    return [row["list_name"] for row in await (await tx.execute(LISTS)).fetchall()]


async def _threads(tx: Connection, scope: ReportScope) -> list[ConsensusShown]:
    if scope.thread is not None:
        return [await show_consensus(tx, scope.thread)]
    values = {
        "list": scope.list_name, "type": scope.consensus, "since": scope.first_moment, "until": scope.until,
        "draft": "".join(scope.draft.lower().split()) if scope.draft else None, "limit": scope.limit,
        "people": await addresses_of(tx, scope.person), "for_all": scope.for_all,
    }  # fmt: skip
    rows = await (await tx.execute(THREADS, values)).fetchall()
    return [await show_consensus(tx, row["thread_key"]) for row in rows]
