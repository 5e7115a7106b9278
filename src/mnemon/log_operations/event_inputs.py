"""What can be sent to the log and asked of it: a field that is added here is one on every door."""

from typing import Annotated

from pydantic import Field

from mnemon.inputs import FirstMoment, LastMoment, Maybe
from mnemon.log.append.incoming import IncomingEvent
from mnemon.log.events import MAIN
from mnemon.log.read.lineage import DEEPEST
from mnemon.log.read.merged import LONGEST_CURSOR
from mnemon.log.read.query import StreamType, read_dimensions, read_sequence, stream_named
from mnemon.log.read.reader import LARGEST_PAGE
from mnemon.log.read.streams import Direction, Filter, Stream
from mnemon.log_operations.fields import AsOf, EventId
from mnemon.operations import Input

Depth = Annotated[int, Field(ge=1, le=DEEPEST, description="How many steps to follow.")]
OneLegalEntity = Maybe[Annotated[str, Field(max_length=100)]]
FromSequence = Annotated[str, Field(max_length=20)]


class EventsSent(Input):
    """Facts to record."""

    events: list[IncomingEvent] = Field(description="Recorded together or not at all; of one legal entity.")
    idempotency_key: str | None = Field(
        None, min_length=1, max_length=150, description="Makes a repeated request give the first one's result."
    )


class StreamAsked(Input):
    """Which events, in which order. Bounds are inclusive; a bare day is its whole day in UTC."""

    stream_type: StreamType = Field("all", description="What the events have in common.")
    stream_id: Maybe[str] = Field(None, max_length=400, description="Of which one; not of all.")
    entity_type: Maybe[str] = Field(None, max_length=100, description="Of an entity stream.")
    scope: Maybe[str] = Field(
        None,
        max_length=100,
        description="Of a scope stream: division, region, site or a custom one; without it, the id is a legal entity.",
    )
    legal_entity: Annotated[
        str,
        Field(max_length=100, description="The legal entity, whose log is a partition; * merges all by recorded time."),
    ] = MAIN
    type: list[str] = Field(default_factory=list, max_length=100, description="Only these types; may be repeated.")
    dimension: list[str] = Field(default_factory=list, max_length=20, description="name:value; may be repeated.")
    from_date: Maybe[FirstMoment] = Field(None, description="Occurred at or after this day or moment.")
    to_date: Maybe[LastMoment] = Field(None, description="Occurred at or before it.")
    effective_from: Maybe[FirstMoment] = Field(None, description="With an effective date of this day or later.")
    effective_to: Maybe[FirstMoment] = Field(None, description="With an effective date of this day or earlier.")
    recorded_from: Maybe[FirstMoment] = Field(None, description="Recorded at or after this day or moment.")
    recorded_to: Maybe[LastMoment] = Field(None, description="Recorded at or before it.")
    from_sequence: Maybe[FromSequence] = Field(None, description="At this place in the partition or later.")
    to_sequence: Maybe[FromSequence] = Field(None, description="At this place in the partition or earlier.")
    as_of: AsOf = Field(None, description="The log as it was at a sequence or a recorded moment.")
    direction: Direction = Field("forward", description="forward: the oldest first.")
    cursor: str | None = Field(
        None, max_length=LONGEST_CURSOR, description="`next_cursor` of the page before; leave out for the first."
    )
    limit: int = Field(100, ge=1, le=LARGEST_PAGE, description="Most events on this page.")

    @property
    def partition(self) -> str:
        of_legal_entity = self.stream_type == "scope" and self.scope is None and self.stream_id is not None
        return self.stream_id or MAIN if of_legal_entity else self.legal_entity

    @property
    def stream(self) -> Stream:
        kind = "all" if self.stream_type == "scope" and self.scope is None else self.stream_type
        return stream_named(kind, self.stream_id, entity_type=self.entity_type, scope=self.scope)

    @property
    def filter(self) -> Filter:
        return Filter(
            types=self.type,
            dimensions=read_dimensions(self.dimension),
            occurred_from=self.from_date,
            occurred_to=self.to_date,
            effective_from=self.effective_from.date() if self.effective_from else None,
            effective_to=self.effective_to.date() if self.effective_to else None,
            recorded_from=self.recorded_from,
            recorded_to=self.recorded_to,
            from_sequence=read_sequence(self.from_sequence) if self.from_sequence else None,
            to_sequence=read_sequence(self.to_sequence) if self.to_sequence else None,
            as_of=self.as_of,
        )


class LogEventAsked(Input):
    """One event."""

    event_id: EventId
    legal_entity: OneLegalEntity = Field(None, description="Where to look; everywhere unless given.")


class CausesAsked(Input):
    """One event, and how far to go from it."""

    event_id: EventId
    legal_entity: OneLegalEntity = Field(None, description="Not needed: causes are followed from one to another.")
    depth: Depth = DEEPEST


class ProcessAsked(Input):
    """One business process."""

    correlation_id: str = Field(max_length=100, description="What the events of the process have in common.")
