"""A report: lines, each with the places that prove it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

ReportKind = Literal["thread", "weekly", "consensus", "draft-focused"]
ReportFormat = Literal["markdown", "html", "print"]


@dataclass(frozen=True, slots=True)
class ReportCitation:
    """`text[start:end] == quote` of a revision, said by somebody in a message."""

    message_id: str
    doc_version_id: UUID
    start: int
    end: int
    quote: str
    name: str
    date: datetime | None


@dataclass(frozen=True, slots=True)
class ReportLine:
    """What is told, what is quoted below it, and its proof. Without proof it is dropped."""

    told: str
    citations: tuple[ReportCitation, ...]
    quoted: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One thread: its subject, and what is told of it."""

    heading: str
    thread_id: str
    consensus_type: str
    lines: tuple[ReportLine, ...]


@dataclass(frozen=True, slots=True)
class MailReport:
    """`dropped` lines had no proof that held."""

    kind: ReportKind
    title: str
    sections: tuple[ReportSection, ...]
    dropped: int = 0

    @property
    def citations(self) -> list[ReportCitation]:
        """Each once, in the order of the text; their numbers in the report begin at 1."""
        every = [one for section in self.sections for line in section.lines for one in line.citations]
        return list(dict.fromkeys(every))
