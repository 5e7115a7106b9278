"""What a user may ask of reports, declared once for all doors."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Protocol

from pydantic import Field

from mnemon.db.database import Connection, Database
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.inputs import FirstMoment, LastMoment, Maybe
from mnemon.mail.consensus.outputs import ConsensusShown
from mnemon.mail.consensus.shown import show_consensus
from mnemon.operations import Caller, Input, Output, operation
from mnemon.reports.checking import proven
from mnemon.reports.drafting import draft_report
from mnemon.reports.report import MailReport, ReportFormat, ReportKind
from mnemon.reports.writing import write_report

THREADS = """
SELECT t.thread_key FROM mnemon.mail_threads t
  JOIN mnemon.mail_consensus c ON c.tenant_id = t.tenant_id AND c.thread_key = t.thread_key
 WHERE t.tenant_id = mnemon.current_tenant()
   AND (%(list)s::text IS NULL OR t.list_name = %(list)s)
   AND (%(type)s::text IS NULL OR c.consensus_type = %(type)s)
   AND (%(since)s::timestamptz IS NULL OR t.last_message_date >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR t.first_message_date <= %(until)s)
   AND (%(draft)s::text IS NULL OR EXISTS (
        SELECT FROM unnest(t.draft_mentions) AS one
         WHERE one = %(draft)s OR (starts_with(one, %(draft)s || '-')
               AND substr(one, length(%(draft)s) + 2) ~ '^[0-9][0-9]$')))
 ORDER BY t.last_message_date DESC NULLS LAST, t.thread_key LIMIT %(limit)s
"""
WEEK = timedelta(days=7)
Name = Annotated[str, Field(min_length=1, max_length=600)]
TITLES: dict[ReportKind, str] = {
    "thread": "Summary of a thread", "weekly": "Weekly report", "consensus": "Consensus report",
    "draft-focused": "Report on a draft",
}  # fmt: skip


class ReportAsked(Input):
    """Which report, of what."""

    kind: ReportKind = Field("consensus", description="thread, weekly, consensus or draft-focused.")
    thread: Maybe[Name] = Field(None, description="For a report of kind thread: its id, its key or a Message-ID.")
    list_name: Maybe[Name] = Field(None, description="Threads of this list alone.")
    draft: Maybe[Name] = Field(None, description="Threads that speak of this draft or RFC.")
    consensus: Maybe[Annotated[str, Field(pattern="^(agreement|dissent|mixed|none)$")]] = Field(
        None, description="Threads that came to this: agreement, dissent, mixed or none."
    )
    since: Maybe[FirstMoment] = Field(None, description="Not before this; weekly: seven days before its end.")
    until: Maybe[LastMoment] = Field(None, description="Not after this.")
    form: ReportFormat = Field("markdown", description="markdown, html, or print (HTML that prints well).")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(50, description="How many threads at most.")


class CitationShown(Output):
    """Where the words stand that a line is proven by."""

    message_id: str
    doc_version_id: str
    start: int
    end: int
    quote: str


class ReportShown(Output):
    """A report. Every line of it cites places that were read again when it was made."""

    kind: str
    title: str
    form: str
    content: str
    threads: int
    citations: list[CitationShown]
    dropped: int = Field(description="Lines that had no proof that held.")


class ReportParts(Protocol):
    """What the operation needs of Mnemon."""

    @property
    def database(self) -> Database: ...


@operation(
    "reports.report", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound, InvalidRequest),
    example={"kind": "weekly", "list_name": "quic.ietf.org"},
)  # fmt: skip
async def report(mnemon: ReportParts, caller: Caller, asked: ReportAsked) -> ReportShown:
    """A report on mailing lists in others' words: what was agreed, what is disputed, by whom, with proof."""
    if (asked.kind == "thread") != (asked.thread is not None):
        raise InvalidRequest("A report of kind thread needs a thread, and no other kind takes one.")
    if asked.kind == "draft-focused" and asked.draft is None:
        raise InvalidRequest("A draft-focused report needs a draft, for example draft-ietf-quic-transport.")
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        made = await proven(tx, draft_report(asked.kind, _title(asked), await _threads(tx, asked)))
    return _shown(made, asked.form)


async def _threads(tx: Connection, asked: ReportAsked) -> list[ConsensusShown]:
    if asked.thread is not None:
        return [await show_consensus(tx, asked.thread)]
    since = asked.since
    if asked.kind == "weekly" and since is None:
        since = (asked.until or datetime.now(UTC)) - WEEK
    values = {
        "list": asked.list_name, "type": asked.consensus, "since": since, "until": asked.until,
        "draft": asked.draft.lower() if asked.draft else None, "limit": asked.limit,
    }  # fmt: skip
    rows = await (await tx.execute(THREADS, values)).fetchall()
    return [await show_consensus(tx, row["thread_key"]) for row in rows]


def _title(asked: ReportAsked) -> str:
    of = asked.draft if asked.kind == "draft-focused" else asked.list_name
    return f"{TITLES[asked.kind]}: {of}" if of else TITLES[asked.kind]


def _shown(made: MailReport, form: ReportFormat) -> ReportShown:
    citations = [
        CitationShown(
            message_id=one.message_id, doc_version_id=str(one.doc_version_id), start=one.start, end=one.end,
            quote=one.quote,
        )
        for one in made.citations
    ]  # fmt: skip
    return ReportShown(
        kind=made.kind, title=made.title, form=form, content=write_report(made, form), threads=len(made.sections),
        citations=citations, dropped=made.dropped,
    )  # fmt: skip
