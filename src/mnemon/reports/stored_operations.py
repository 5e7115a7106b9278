"""What a user may do with stored summaries and reports, declared once for all doors."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Literal, Protocol
from uuid import UUID

from pydantic import Field

from mnemon.db.database import Database
from mnemon.documents.access import Reader, read_as
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.inputs import Cursor, FirstMoment, LastMoment, Maybe
from mnemon.log.store import EventLog
from mnemon.mail.reading import one_thread
from mnemon.operations import Caller, Door, Input, Output, operation
from mnemon.reports import library
from mnemon.reports.composing import ReportScope
from mnemon.reports.jobs import request_summary
from mnemon.reports.operations import FORM, Name, ReportShown, ReportWanted, shown_report
from mnemon.reports.report import MailReport, ReportFormat, ReportKind
from mnemon.settings import Settings

FOR_ALL = """
SELECT FROM mnemon.mail_threads
 WHERE tenant_id = mnemon.current_tenant() AND thread_key = %s AND readers IS NULL
"""
NAMED_FOR_ALL = """
SELECT FROM mnemon.mail_threads
 WHERE tenant_id = mnemon.current_tenant() AND list_name = %s AND readers IS NULL LIMIT 1
"""
REPORT_ID = Annotated[str, Field(pattern="^rpt-[0-9A-HJKMNP-TV-Z]{26}$", description="The report.")]
REPORT = "rpt-01JD0000000000000000000000"
SUMMARY = "3f2b8a4e-6c1d-4e0f-9a7b-1c2d3e4f5a6b"
FEW_TOOLS: Mapping[Door, str] = {"mcp": "mail_report gives agents the report of the moment."}


class StoredAsked(Input):
    """Stored summaries or reports, newest first."""

    kind: Maybe[ReportKind] = Field(None, description="thread, weekly, consensus or draft-focused.")
    thread: Maybe[Name] = Field(None, description="That tell of this thread: its id, its key or a Message-ID.")
    list_name: Maybe[Name] = Field(None, description="Of this list.")
    person: Maybe[Name] = Field(None, description="That cite this person: an address or a full name.")
    draft: Maybe[Name] = Field(None, description="That tell of this draft or RFC.")
    consensus: Maybe[Literal["agreement", "dissent", "mixed", "none"]] = Field(
        None, description="With a thread that came to this."
    )
    since: Maybe[FirstMoment] = Field(None, description="Not made before this.")
    until: Maybe[LastMoment] = Field(None, description="Not made after this.")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(50, description="How many at most.")
    cursor: Cursor = None


class SummaryAsked(Input):
    """One summary."""

    summary_id: UUID = Field(description="The summary.")
    form: ReportFormat = Field("markdown", description=FORM)


class StoredReportAsked(Input):
    """One report."""

    report_id: REPORT_ID
    form: ReportFormat = Field("markdown", description=FORM)


class SummaryListed(Output):
    """A summary on a list."""

    summary_id: UUID
    summary_type: str
    list_name: str | None
    draft: str | None
    since: datetime | None
    until: datetime | None
    thread_keys: list[str]
    consensus_types: list[str]
    line_count: int
    dropped: int
    generated_by: str = Field(description="extract (others' words alone), or the language model.")
    generated_at: datetime


class ReportListed(SummaryListed):
    """A report on a list."""

    report_id: str
    published_at: datetime
    delivery_channels: list[str]


class SummaryPage(Output):
    """Summaries, and where the next page starts."""

    items: list[SummaryListed]
    next_cursor: str | None


class ReportPage(Output):
    """Reports, and where the next page starts."""

    items: list[ReportListed]
    next_cursor: str | None


class SummaryWhole(SummaryListed):
    """A summary and what it says. Every line cites places that were read again just now."""

    report: ReportShown


class ReportWhole(ReportListed):
    """A report and what it says. Every line cites places that were read again just now."""

    report: ReportShown


class ReportRequested(Output):
    """What will be made, and the job that makes it."""

    report_id: str
    summary_id: UUID
    job_id: UUID


class StoredParts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def settings(self) -> Settings: ...
    @property
    def database(self) -> Database: ...
    @property
    def log(self) -> EventLog: ...


@operation(
    "reports.publish", Action.MANAGE_SOURCES, errors=(NotFound, InvalidRequest), absent=FEW_TOOLS,
    example={"kind": "weekly", "list_name": "quic.ietf.org"},
)  # fmt: skip
async def publish(mnemon: StoredParts, caller: Caller, asked: ReportWanted) -> ReportRequested:
    """Have a report made and kept, and told to whoever follows `report.published`.

    One about several threads tells of lists alone that everybody may read.
    """
    scope = ReportScope(**{name: getattr(asked, name) for name in ReportWanted.model_fields}).checked()
    if asked.list_name is not None:
        async with mnemon.database.transaction(caller.tenant_id) as tx:
            row = await (await tx.execute(NAMED_FOR_ALL, (asked.list_name,))).fetchone()
        if row is None:
            # The request stands in the log, for everybody: the name of a list that is for few must not.
            raise NotFound(
                f"A report that is kept is for everybody, and there is no list {asked.list_name} that everybody may "
                "read: `mnemon mail report` shows one of what you may read now.",
                list_name=asked.list_name,
            )
    if asked.thread is not None:
        async with mnemon.database.transaction(caller.tenant_id) as tx:
            await read_as(tx, Reader.of(caller.actor))
            scope = replace(scope, thread=(await one_thread(tx, asked.thread)).thread_key)
            row = await (await tx.execute(FOR_ALL, (scope.thread,))).fetchone()
        if row is None:
            raise InvalidRequest(
                "A report that is kept is for everybody, and this thread is for few: `mnemon mail report` shows it now."
            )
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        wanted, job_id = await request_summary(transaction, mnemon.settings, scope, actor=caller.actor)
    return ReportRequested(report_id=wanted.report_id, summary_id=wanted.summary_id, job_id=job_id)


@operation(
    "reports.summaries", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), absent=FEW_TOOLS,
    example={"kind": "thread", "consensus": "mixed"},
)  # fmt: skip
async def summaries(mnemon: StoredParts, caller: Caller, asked: StoredAsked) -> SummaryPage:
    """List the stored summaries of mailing lists, newest first."""
    rows, following = await _page(mnemon, caller, asked, library.FIND_SUMMARIES, "summary_id")
    return SummaryPage(items=[_listed(row) for row in rows], next_cursor=following)


@operation(
    "reports.summary", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), absent=FEW_TOOLS,
    example={"summary_id": SUMMARY},
)  # fmt: skip
async def summary(mnemon: StoredParts, caller: Caller, asked: SummaryAsked) -> SummaryWhole:
    """One stored summary. What cites a message that is gone is left out."""
    row, made = await _one(mnemon, caller, library.ONE_SUMMARY, asked.summary_id)
    return SummaryWhole(**_listed(row).model_dump(), report=shown_report(made, asked.form))


@operation(
    "reports.list", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), absent=FEW_TOOLS,
    example={"kind": "weekly", "since": "2026-03-01"},
)  # fmt: skip
async def reports(mnemon: StoredParts, caller: Caller, asked: StoredAsked) -> ReportPage:
    """List the published reports on mailing lists, newest first."""
    rows, following = await _page(mnemon, caller, asked, library.FIND_REPORTS, "report_id")
    return ReportPage(items=[_reported(row) for row in rows], next_cursor=following)


@operation(
    "reports.show", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), absent=FEW_TOOLS,
    example={"report_id": REPORT},
)  # fmt: skip
async def show(mnemon: StoredParts, caller: Caller, asked: StoredReportAsked) -> ReportWhole:
    """One published report. What cites a message that is gone is left out."""
    row, made = await _one(mnemon, caller, library.ONE_REPORT, asked.report_id)
    return ReportWhole(**_reported(row).model_dump(), report=shown_report(made, asked.form))


async def _page(
    mnemon: StoredParts, caller: Caller, asked: StoredAsked, statement: str, key: str
) -> tuple[list[library.StoredRow], str | None]:
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        thread = (await one_thread(tx, asked.thread)).thread_key if asked.thread else None
        return await library.page_of_rows(tx, statement, asked, key, thread)


async def _one(
    mnemon: StoredParts, caller: Caller, statement: str, named: object
) -> tuple[library.StoredRow, MailReport]:
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        row = await library.find_stored(tx, statement, named)
        return row, await library.read_stored(mnemon.log, tx, caller.tenant_id, row)


def _listed(row: library.StoredRow) -> SummaryListed:
    return SummaryListed(**{name: row[name] for name in SummaryListed.model_fields})


def _reported(row: library.StoredRow) -> ReportListed:
    return ReportListed(**{name: row[name] for name in ReportListed.model_fields})
