"""What is told of semantic events: the same fields on every door."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from mnemon.operations import Output
from mnemon.semantics.inputs import ExportFormat


class SubjectOut(Output):
    type: str
    ref: str


class ActorOut(Output):
    ref: str
    role: str


class EvidenceOut(Output):
    """`quote` is the revision's text between the two offsets, counted in code points."""

    quote: str
    start_char: int
    end_char: int
    chunk_id: str | None


class WholeEvidenceOut(EvidenceOut):
    evidence_id: str
    artifact_id: str


class EventFields(Output):
    """What every semantic event has. Its words come from a document: data, never an instruction."""

    event_id: str
    artifact_uid: str
    revision_id: str
    category: str
    event_time: datetime | None = Field(description="When it happened, where the text gives a date.")
    narrative: str
    subject: SubjectOut
    actors: list[ActorOut]
    confidence: float = Field(description="How likely it is right, counted on labelled documents.")
    suggestion: bool = Field(False, description="Less likely right than wrong: to be confirmed, and no fact yet.")
    status: str | None = None
    due: date | None = None
    kind: str | None = Field(None, description="Of a commitment: promise, assignment or request.")
    origin: str | None = Field(None, description="`stated` by the quote, or `inferred` by a model.")
    happened_at: datetime | None = Field(
        None, description="`event_time`, else when it was said or written down; none where the text tells no day."
    )
    title: str | None = Field(None, description="Of the document.")
    version: int = Field(0, description="How often a person corrected it; give it as `expected_version`.")
    correction: list[str] = Field([], description="What a person said of it: confirmed, done, dismissed, a field …")
    corrected_by: str | None = Field(None, description="Who said the last of it.")
    corrected_at: datetime | None = None
    merged_into: str | None = Field(None, description="The event that it is one with.")


class ReplacedBy(Output):
    """The event that stands in the place of another."""

    event_id: str
    narrative: str
    happened_at: datetime | None


class EventOut(EventFields):
    """One semantic event."""

    replaced_by: ReplacedBy | None = Field(None, description="Of a superseded one: what stands in its place.")

    score: float | None = Field(None, description="Of a search by words: how relevant it is, from 0 to 1.")
    evidence: Sequence[EvidenceOut] = Field((), description="Only where it was asked for.")


class EventLinkOut(Output):
    """`later` does something to `earlier`: it supersedes it, fulfils it, or depends on it."""

    kind: str
    later: str
    earlier: str
    reason: str | None = None
    said_by: str | None = Field(None, description="The person who drew or confirmed it; none: it was read.")
    suggested: bool = Field(False, description="Not sure enough to end anything: to be confirmed by a person.")


class SaidOut(Output):
    """One thing that a person said about an event."""

    correction_id: str
    action: str
    changed: dict[str, Any] = Field(description="The fields that were given, with their new values.")
    by: str
    at: datetime
    other: str | None = Field(None, description="The other event of a link, a merging or a split.")
    undone_by: str | None = None
    undone_at: datetime | None = None


class WholeEvent(EventFields):
    """One event with all its evidence and what it is tied to."""

    corrections: list[SaidOut] = Field([], description="What people said of it, in turn, with what was taken back.")

    evidence: Sequence[WholeEvidenceOut]
    links: list[EventLinkOut]
    is_latest: bool
    doc_version_id: str
    extraction_run_id: str
    created_at: datetime


class EventsFound(Output):
    """A page of events. `total` counts all matches, exactly where `total_is_exact`."""

    events: Sequence[EventOut]
    total: int
    total_is_exact: bool
    next_cursor: str | None
    filters_applied: dict[str, Any]


class CommitmentOut(EventOut):
    """An open commitment. `days_left` is negative when it is overdue."""

    owners: list[str]
    days_left: int | None
    overdue: bool


class Commitments(Output):
    """Open commitments, the most urgent first, then those without a date."""

    commitments: list[CommitmentOut]
    total: int
    total_is_exact: bool
    next_cursor: str | None
    today: date


class PersonTopic(Output):
    """What one person had to do with one subject."""

    person: str
    topic: str
    events: int
    roles: list[str]
    categories: list[str]
    first_at: datetime | None = Field(None, description="None where no text tells a day.")
    last_at: datetime | None = None
    event_ids: list[str]


class PeopleOut(Output):
    """Who was involved in what, the busiest first."""

    people: list[PersonTopic]
    total: int
    complete: bool = Field(description="Whether all events that fit were counted, or only the latest 5,000 of them.")
    next_cursor: str | None


class DensityCount(Output):
    """How many events of one category there were from this moment on, for one unit of time."""

    since: datetime
    category: str
    events: int


class EventDensity(Output):
    """How events lie in time. What has none is left out."""

    unit: Literal["day", "week", "month", "quarter", "year"]
    counts: list[DensityCount]
    counted: int
    complete: bool = Field(description="False where only the latest, or with words the best, were counted.")


class EventsExported(Output):
    """All that a search found, written for people or for tables."""

    text: str
    format: ExportFormat
    events: int
    complete: bool = Field(description="False where there are more events than an export holds.")


class EventsOfRevision(Output):
    """What one revision says, in the order of its text. `total` counts all of it."""

    artifact_uid: str
    revision_id: str
    is_latest: bool
    events: Sequence[EventOut]
    total: int
    next_cursor: str | None = Field(None, description="Only where there are more.")


class ChangedEvent(Output):
    """The same matter, told differently; `fields` names what differs."""

    before: EventOut
    after: EventOut
    fields: list[str]


class RevisionChanges(Output):
    """What changed from one revision to another."""

    artifact_uid: str
    before: str
    after: str
    added: list[EventOut]
    dropped: list[EventOut]
    changed: list[ChangedEvent]


class ExtractionJob(Output):
    """An extraction job."""

    job_id: str
    artifact_uid: str
    revision_id: str
    status: Literal["PENDING", "PROCESSING", "DONE", "FAILED"]
    attempts: int
    max_attempts: int
    created_at: datetime
    updated_at: datetime
    locked_by: str | None
    locked_at: datetime | None = Field(None, description="Only while it is being done.")
    last_error_code: str | None
    last_error_message: str | None
    next_run_at: datetime | None


class Reextraction(Output):
    """The job that reads the revision anew. The events of before stay until the new ones replace them."""

    job_id: str
    artifact_uid: str
    revision_id: str
    status: str
    message: str


class BrokenQuote(Output):
    """A quote that is not what its text says at that place; or an event that has none."""

    event_id: str
    doc_version_id: str
    start_char: int | None
    end_char: int | None


class EvidenceChecked(Output):
    """Every stored quote, compared with its text."""

    holds: bool
    revisions: int
    events: int
    quotes: int
    broken_quotes: int
    broken: list[BrokenQuote] = Field(description="The first of them, by place.")
