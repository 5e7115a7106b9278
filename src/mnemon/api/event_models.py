"""How events look in answers, for the OpenAPI document; the answers themselves are written without a detour."""

from datetime import date, datetime
from typing import Any

import orjson
from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field

from mnemon.log.append.incoming import DECISION, IncomingEvent

RECORDED: dict[str, Any] = {
    "id": "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B",
    "sequence": "42",
    "recorded_at": "2026-03-02T14:10:03.118204Z",
    "checksum": "9b74c9897bac770ffc029102a200c5de3f8b2f3c1c8f2a9a4b5d5a0f6f0b7c11",
    "duplicate": False,
}


class Shape(BaseModel):
    """Forbids what it does not name, so that the tests notice when an answer and its description part."""

    model_config = ConfigDict(extra="forbid")


class AppendEvents(Shape):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"events": [DECISION]}]})
    events: list[IncomingEvent] = Field(description="Recorded together or not at all; of one legal entity.")


class AppendedOut(Shape):
    id: str
    sequence: str = Field(description="Place in its partition: a 64-bit number, written as a string.")
    recorded_at: datetime
    checksum: str = Field(description="The event's hash in the chain, hexadecimal.")
    duplicate: bool = Field(description="It was there already: the key was used before, for the same content.")


class AppendedEvents(Shape):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"events": [RECORDED]}]})
    events: list[AppendedOut]


class EntityOut(Shape):
    entity_type: str
    entity_id: str
    role: str


class MetadataOut(Shape):
    model_config = ConfigDict(extra="allow")
    rules_evaluated: list[dict[str, Any]]
    checksum: str
    previous_checksum: str
    tags: list[str]
    source: dict[str, str]
    approved_by: str | None


class EventOut(Shape):
    id: str
    sequence: str
    type: str
    schema_version: int = Field(description="As recorded; `data` is in the newest version of the type.")
    occurred_at: datetime
    recorded_at: datetime
    effective_date: date
    scope: dict[str, Any]
    actor: dict[str, Any]
    caused_by: str | None
    intent_id: str | None
    correlation_id: str
    data: dict[str, Any]
    dimensions: dict[str, str]
    entities: list[EntityOut]
    metadata: MetadataOut


class OneEvent(Shape):
    event: EventOut


class EventPage(Shape):
    events: list[EventOut]
    has_more: bool
    next_cursor: str | None


class LineageOut(Shape):
    lineage: list[EventOut] = Field(description="The first cause first, the event itself last.")
    depth: int


class DescendantsOut(Shape):
    descendants: list[EventOut]
    count: int


class TraceOut(Shape):
    correlation_id: str
    events: list[EventOut]
    process_duration_ms: int
    actors_involved: list[str]
    entities_involved: list[EntityOut]


def answer(document: Any, status: int = 200) -> Response:
    """The document as it is: a page of a thousand events is not rebuilt field by field to be described."""
    return Response(orjson.dumps(document), status, media_type="application/json")
