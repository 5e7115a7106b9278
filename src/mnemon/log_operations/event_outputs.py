"""What is told of events of the log. An event is described, not rebuilt: a page of a thousand is written as it is."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema, with_config
from typing_extensions import TypedDict

from mnemon.operations import Output

# Written by the log already, and shown to the letter.
Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]


@with_config(ConfigDict(extra="forbid"))
class EntityOut(TypedDict):
    """An entity that an event names."""

    entity_type: str
    entity_id: str
    role: str


@with_config(ConfigDict(extra="allow"))
class MetadataOut(TypedDict):
    """What the log keeps beside the event."""

    rules_evaluated: list[dict[str, Any]]
    checksum: str
    previous_checksum: str
    tags: list[str]
    source: dict[str, str]
    approved_by: str | None


@with_config(ConfigDict(extra="forbid"))
class LogEventOut(TypedDict):
    """One event. What is not for the reader is withheld from `data`."""

    id: str
    sequence: Annotated[str, Field(description="Place in its partition: a 64-bit number, written as a string.")]
    type: str
    schema_version: Annotated[int, Field(description="As recorded; `data` is in the newest version of the type.")]
    occurred_at: Moment
    recorded_at: Moment
    effective_date: Day
    scope: dict[str, Any]
    actor: dict[str, Any]
    caused_by: str | None
    intent_id: str | None
    correlation_id: str
    data: dict[str, Any]
    dimensions: dict[str, str]
    entities: list[EntityOut]
    metadata: MetadataOut


class AppendedOut(Output):
    id: str
    sequence: str = Field(description="Place in its partition: a 64-bit number, written as a string.")
    recorded_at: Moment
    checksum: str = Field(description="The event's hash in the chain, hexadecimal.")
    duplicate: bool = Field(description="It was there already: the key was used before, for the same content.")


class AppendedEvents(Output):
    """What was recorded, in the order it was sent."""

    events: list[AppendedOut]


class OneEvent(Output):
    event: LogEventOut


class EventsRead(Output):
    """A page of a stream."""

    events: list[LogEventOut]
    has_more: bool
    next_cursor: str | None


class LineageOut(Output):
    lineage: list[LogEventOut] = Field(description="The first cause first, the event itself last.")
    depth: int
    complete: bool = Field(description="False if it goes on beyond the asked depth, or a cause is not in the log.")


class DescendantsOut(Output):
    descendants: list[LogEventOut]
    count: int
    complete: bool = Field(description="False if there are more, beyond the asked depth.")


class TraceOut(Output):
    """The events of a business process, how long it took and who took part."""

    correlation_id: str
    events: list[LogEventOut]
    process_duration_ms: int
    actors_involved: list[str]
    entities_involved: list[EntityOut]
    complete: bool = Field(description="False if the process has more events than are shown.")
