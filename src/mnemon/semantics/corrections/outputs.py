"""Corrections as labelled data: the same fields on every door."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from mnemon.operations import Output

LabelVerdict = Literal["right", "edited", "wrong", "merged", "split"]


class ReadAs(Output):
    """What an engine read, before a person spoke."""

    category: str
    owner: str | None
    due: date | None
    subject: str
    confidence: float


class LabelledEvent(Output):
    """A corrected event: what the text says, and what a person says it is."""

    event_id: str
    artifact_uid: str
    revision_id: str
    start_char: int
    end_char: int
    quote: str
    text: str = Field(description="The lines around the quote.")
    span: tuple[int, int] = Field(description="Where the quote stands in `text`, in code points.")
    verdict: LabelVerdict = Field(
        description="right: as it was read; edited: with other fields; wrong: no such event; merged: said by another "
        "event of the text; split: several events."
    )
    category: str
    owner: str | None
    due: date | None
    subject: str
    correction: list[str]
    read_as: ReadAs
    corrected_by: str
    corrected_at: datetime


class LabelledEvents(Output):
    """A page of corrected events, those that were corrected first before the others."""

    items: list[LabelledEvent]
    next_cursor: str | None


class LabelsExported(Output):
    """Corrected events as JSON lines."""

    text: str
    events: int
    complete: bool = Field(description="False where there are more than an export holds.")


class ReaderFiguresOut(Output):
    """How well confidence told right from wrong on corrections that were held back."""

    log_loss: float = Field(description="Mean log-loss; less is better.")
    accuracy: float = Field(description="Share of events on the right side of one half.")


class ReaderLearned(Output):
    """Which weights the learned reader uses for this tenant from now on."""

    uses: Literal["own", "shipped"]
    labels: int = Field(0, description="Corrections that it was fitted to.")
    shipped: ReaderFiguresOut | None = Field(None, description="Of the weights that Mnemon comes with.")
    own: ReaderFiguresOut | None = Field(None, description="Of weights that were fitted to the other corrections.")
