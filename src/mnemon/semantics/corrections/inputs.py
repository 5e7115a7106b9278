"""What can be said about a semantic event, the same on every door."""

from typing import Annotated, Literal

from pydantic import Field

from mnemon.inputs import Cursor, Day, Maybe
from mnemon.operations import Input
from mnemon.semantics.corrections.fold import Verdict
from mnemon.semantics.inputs import CategoryName, EventId, Name
from mnemon.semantics.link.placed import EventLinkKind

Clearable = Literal["owner", "due"]
CorrectionId = Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{10,64}$")]
PartQuote = Annotated[str, Field(min_length=3, max_length=600)]
ExpectedVersion = Annotated[
    int | None,
    Field(ge=0, le=1_000_000, description="`version` of the event as it was seen; refused if it changed since."),
]


class EventCorrection(Input):
    """Which event something is said about."""

    event_id: EventId
    expected_version: ExpectedVersion = None


class EventVerdict(EventCorrection):
    """What a person says of an event."""

    verdict: Verdict = Field(
        description="confirm: it is so; done: the promise was kept; reopen: it was not, or still stands; "
        "dismiss: it is no such event; restore: takes a dismissal back."
    )


class EventEdit(EventCorrection):
    """What is right instead. Fields that are left out stay as they are."""

    category: Maybe[CategoryName] = Field(None, description="What it is, such as Decision.")
    owner: Maybe[Name] = Field(None, description="Whose it is, in the place of whom the text was read to name.")
    due: Maybe[Day] = Field(None, description="When it is due; of a commitment.")
    subject: Maybe[Name] = Field(None, description="What it is about.")
    clear: list[Clearable] = Field([], max_length=2, description="Fields that it has not: owner, due.")


class EventMerge(EventCorrection):
    """Events of one revision that say the same."""

    merged: list[EventId] = Field(
        min_length=1, max_length=50, description="Events that are one with it: their quotes become its own."
    )


class EventSplit(EventCorrection):
    """The statements that one event holds."""

    quotes: list[PartQuote] = Field(
        min_length=2, max_length=20, description="The exact words of each statement, at the place of the event's own."
    )


class EventPair(Input):
    """Two events, the later one first."""

    event_id: EventId = Field(description="The later event.")
    earlier: EventId = Field(description="The earlier event.")
    expected_version: ExpectedVersion = None


class EventTie(EventPair):
    """Two events, and what the later one does to the earlier one."""

    kind: EventLinkKind = Field(
        description="supersedes: it takes its place; fulfils: it keeps the promise; depends_on: it waits for it."
    )


class Undoing(EventCorrection):
    """What is taken back."""

    correction_id: Maybe[CorrectionId] = Field(None, description="One of its `corrections`; unset: the last.")


class LearningAsked(Input):
    """Whether to learn, or to give up what was learned."""

    forget: bool = Field(False, description="Go back to the weights that Mnemon comes with.")


class CorrectionsAsked(Input):
    """A page of corrected events, those that were corrected first before the others."""

    limit: int = Field(100, ge=1, le=1_000, description="Most corrections on this page.")
    cursor: Cursor = None
