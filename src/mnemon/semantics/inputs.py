"""What can be asked of semantic events: a field that is added here is a filter on every door."""

from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from mnemon.documents.inputs import ArtifactUid, RevisionId
from mnemon.inputs import Cursor, Day, FirstMoment, LastMoment, Maybe, PastMoment, checked_order
from mnemon.operations import Input
from mnemon.semantics.semantic_event import Category, CommitmentKind

MOST = 100
MOST_ROWS = 500
CATEGORIES = [one.value for one in Category]
EventStatus = Literal["open", "superseded", "done", "dismissed"]
ExportFormat = Literal["markdown", "csv"]


def _known(category: str) -> str:
    known = next((one for one in CATEGORIES if one.lower() == category.strip().lower()), None)
    if known is None:
        says = f"Invalid category: {category}. Must be one of: {', '.join(CATEGORIES)}"
        raise PydanticCustomError("category", "{says}", {"says": says})
    return known


# A model that reads the schema chooses from the list; whoever errs is told all of it.
CategoryName = Annotated[str, Field(max_length=50, json_schema_extra={"enum": [*CATEGORIES]}), AfterValidator(_known)]
EventId = Annotated[str, Field(pattern=r"^evt_[A-Za-z0-9_-]{1,80}$", description="`event_id` of an event, evt_….")]
# Also by its number among the revisions.
WhichRevision = Annotated[str, Field(pattern=r"^(rev_[A-Za-z0-9]{1,64}|[0-9]{1,9})$")]
Name = Annotated[str, Field(max_length=200)]


class EventFilters(Input):
    """Every one that is set must hold. Without `known_at` and `all_revisions`, only what is served now is searched."""

    query: Maybe[str] = Field(
        None,
        title="Words",
        max_length=1_000,
        description='Words, "a phrase", this or that, -not this; unset: all events, the latest first.',
    )
    category: Maybe[CategoryName] = Field(None, description="Such as Decision or Commitment.")
    time_from: Maybe[FirstMoment] = Field(None, title="From", description="Happened at or after this day or moment.")
    time_to: Maybe[LastMoment] = Field(None, title="To", description="Happened at or before this day or moment.")
    artifact_uid: Maybe[ArtifactUid] = Field(None, title="Artifact", description="Only this artifact, uid_….")
    actor: Maybe[Name] = Field(
        None, title="Person", description="A person who took part, by the whole name or one word of it."
    )
    subject: Maybe[Name] = Field(None, description="Words of what it is about.")
    status: Maybe[EventStatus] = Field(
        None,
        title="State",
        description="open: still holds; superseded: a later one replaced it; done: a promise that was kept; "
        "dismissed: a person said that it is none, shown only on request.",
    )
    kind: Maybe[CommitmentKind] = Field(
        None, title="Kind of commitment", description="Of commitments, how they came about."
    )
    due_before: Maybe[Day] = Field(None, description="Commitments due before this day.")
    due_from: Maybe[Day] = Field(None, description="Commitments due on this day or later.")
    due_to: Maybe[Day] = Field(None, description="Commitments due on this day or earlier.")
    confidence_min: Maybe[float] = Field(None, ge=0, le=1, description="Read with at least this confidence, 0 to 1.")
    as_of: Maybe[LastMoment] = Field(
        None,
        title="As things stood on",
        description="What was true at this day or moment: what had happened, and what of it still stood.",
    )
    known_at: Maybe[PastMoment] = Field(
        None,
        title="As we knew on",
        description="What was known at this day or moment, from the revisions that were served and read then.",
    )
    all_revisions: bool = Field(False, title="Old revisions too", description="Also revisions no longer served.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        checked_order(self.time_from, self.time_to)
        return self

    def applied(self) -> dict[str, Any]:
        """Those that are set, as they were asked."""
        given = {name: getattr(self, name) for name in EventFilters.model_fields}
        return {name: _written(value) for name, value in given.items() if value is not None and value is not False}


class EventSearch(EventFilters):
    """A search, a page at a time."""

    include_evidence: bool = Field(True, description="Whether to add the quotes that prove each event.")
    limit: int = Field(20, ge=1, le=MOST, description="Most events on this page.")
    cursor: Cursor = None


class DensityAsked(EventFilters):
    """Which events are counted."""


class EventExport(EventFilters):
    """All that a search finds, as one text."""

    format: ExportFormat = Field("markdown", description="markdown or csv.")


class EventAsked(Input):
    """One event."""

    event_id: EventId


class CommitmentsAsked(Input):
    """Whose promises, and until when."""

    owner: Maybe[Name] = Field(None, description="Who promised it.")
    due_before: Maybe[Day] = Field(None, description="Due before this day.")
    due_from: Maybe[Day] = Field(None, description="Due on this day or later.")
    due_to: Maybe[Day] = Field(None, description="Due on this day or earlier.")
    overdue: bool = Field(False, title="Only what is late", description="Only what is late.")
    today: Maybe[Day] = Field(None, description="Count days from this day.")
    limit: int = Field(100, ge=1, le=MOST_ROWS, description="Most commitments on this page.")
    cursor: Cursor = None


class PeopleAsked(Input):
    """Whom, and about what."""

    person: Maybe[Name] = Field(None, description="Only this person.")
    topic: Maybe[Name] = Field(None, description="Only events with these words.")
    limit: int = Field(100, ge=1, le=MOST_ROWS, description="Most rows on this page.")
    cursor: Cursor = None


class RevisionAsked(Input):
    """One revision of an artifact."""

    artifact_uid: ArtifactUid = Field(description="The artifact, uid_….")
    revision_id: RevisionId | None = Field(None, description="Its revision, rev_…; unset: the latest.")


class EventsOfRevisionAsked(RevisionAsked):
    """All events of one revision, or a page of them."""

    include_evidence: bool = Field(False, description="Whether to add the quotes that prove each event.")
    limit: int | None = Field(None, ge=1, le=1_000, description="Most events on this page; unset: all.")
    cursor: Cursor = None


class ReextractionAsked(RevisionAsked):
    """Which revision is read again."""

    force: bool = Field(False, description="Also if its events were read already.")


class ChangesAsked(Input):
    """Two revisions of an artifact."""

    artifact_uid: ArtifactUid = Field(description="The artifact, uid_….")
    before: WhichRevision | None = Field(None, description="rev_… or a number; unset: the one served before.")
    after: WhichRevision | None = Field(None, description="rev_… or a number; unset: the latest.")


class Everything(Input):
    """Nothing to choose."""


def _written(value: Any) -> Any:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, date) else value
