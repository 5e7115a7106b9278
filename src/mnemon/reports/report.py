"""A report: lines, each of a kind that says what is told, with the places that prove it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

ReportKind = Literal["thread", "weekly", "consensus", "draft-focused"]
ReportFormat = Literal["markdown", "html", "print", "text"]
LineKind = Literal["outcome", "concluded", "votes", "objection", "settled", "support", "sentence"]


@dataclass(frozen=True, slots=True)
class ReportCitation:
    """`text[start:end] == quote` of a revision, said by somebody in a message."""

    message_id: str
    message_key: str
    doc_version_id: UUID
    start: int
    end: int
    quote: str
    name: str
    date: datetime | None


@dataclass(frozen=True, slots=True)
class ReportLine:
    """What kind of line it is, what it needs to be told beside the words, and its proof. Without proof it is dropped.

    `details` has no words and no names: those come from the messages. A model's own `sentence` is the exception.
    """

    says: LineKind
    citations: tuple[ReportCitation, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One thread: its subject, and what is told of it."""

    heading: str
    thread_id: str
    thread_key: str
    consensus_type: str
    lines: tuple[ReportLine, ...]


@dataclass(frozen=True, slots=True)
class MailReport:
    """`dropped` lines had no proof that held."""

    kind: ReportKind
    title: str
    sections: tuple[ReportSection, ...]
    dropped: int = 0
    generated_by: str = "extract"

    @property
    def citations(self) -> list[ReportCitation]:
        """Each once, in the order of the text; their numbers in the report begin at 1."""
        every = [one for section in self.sections for line in section.lines for one in line.citations]
        return list(dict.fromkeys(every))
