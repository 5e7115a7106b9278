"""What a user may ask of reports, declared once for all doors."""

from typing import Annotated, Protocol

from pydantic import Field

from mnemon.db.database import Database
from mnemon.documents.access import Reader, read_as
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.inputs import FirstMoment, LastMoment, Maybe
from mnemon.operations import Caller, Input, Output, operation
from mnemon.reports.composing import ReportScope, compose_in, lists_in
from mnemon.reports.report import MailReport, ReportFormat, ReportKind
from mnemon.reports.telling import quoted, told
from mnemon.reports.writing import write_report

FORM = "markdown, html, print (HTML that prints well), or text (words alone, for a terminal)."
Name = Annotated[str, Field(min_length=1, max_length=600)]


class ReportWanted(Input):
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
    limit: Annotated[int, Field(ge=1, le=100)] = Field(50, description="How many threads at most.")


class ReportAsked(ReportWanted):
    """Which report, of what, and how it is written."""

    person: Maybe[Name] = Field(None, description="Threads that this person wrote in: an address or a full name.")
    form: ReportFormat = Field("markdown", description=FORM)


class CitationShown(Output):
    """Where the words stand that a line is proven by."""

    message_id: str
    doc_version_id: str
    start: int
    end: int
    quote: str


class LineShown(Output):
    """A sentence, what is quoted below it, and the numbers of the citations that prove both."""

    told: str
    quoted: str
    citations: list[int]


class SectionShown(Output):
    """What is told of one thread."""

    heading: str
    thread_id: str
    consensus_type: str
    lines: list[LineShown]


class ReportShown(Output):
    """A report. Every line of it cites places that were read again when it was made."""

    kind: str
    title: str
    form: str
    content: str
    threads: int
    sections: list[SectionShown]
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
    scope = ReportScope(**{name: getattr(asked, name) for name in SCOPE}).checked()
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        made = await compose_in(tx, scope)
        if not made.sections and asked.list_name and asked.list_name not in (lists := await lists_in(tx)):
            there = f"there are {', '.join(lists[:10])}" if lists else "no list has any mail yet"
            raise NotFound(f"There is no list {asked.list_name}: {there}.", list_name=asked.list_name)
    return shown_report(made, asked.form)


SCOPE = ("kind", "thread", "list_name", "draft", "consensus", "person", "since", "until", "limit")


def _sections(made: MailReport) -> list[SectionShown]:
    cited = {one: number for number, one in enumerate(made.citations, 1)}
    return [
        SectionShown(
            heading=section.heading, thread_id=section.thread_id, consensus_type=section.consensus_type,
            lines=[
                LineShown(told=told(line), quoted=quoted(line), citations=[cited[one] for one in line.citations])
                for line in section.lines
            ],
        )
        for section in made.sections
    ]  # fmt: skip


def shown_report(made: MailReport, form: ReportFormat) -> ReportShown:
    citations = [
        CitationShown(
            message_id=one.message_id, doc_version_id=str(one.doc_version_id), start=one.start, end=one.end,
            quote=one.quote,
        )
        for one in made.citations
    ]  # fmt: skip
    return ReportShown(
        kind=made.kind, title=made.title, form=form, content=write_report(made, form), threads=len(made.sections),
        sections=_sections(made), citations=citations, dropped=made.dropped,
    )  # fmt: skip
