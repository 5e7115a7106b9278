"""Events over REST: append, read one, read streams, follow causes and processes."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.auth import address_of
from mnemon.api.event_models import (
    AppendedEvents,
    AppendEvents,
    DescendantsOut,
    EventPage,
    LineageOut,
    OneEvent,
    TraceOut,
    answer,
)
from mnemon.api.shown_events import shown_events
from mnemon.identity.recording import record_events
from mnemon.identity.roles import Action, Principal
from mnemon.log.events import MAIN
from mnemon.log.read.lineage import DEEPEST
from mnemon.log.read.query import (
    StreamType,
    end_of,
    read_dimensions,
    read_position,
    read_sequence,
    start_of,
    stream_named,
)
from mnemon.log.read.streams import Direction, Filter, Stream

router = APIRouter(tags=["events"])
Reader = Annotated[Principal, allow(Action.READ_LOG)]
EventId = Annotated[str, Path(max_length=100)]
LegalEntity = Annotated[str | None, Query(max_length=100, description="Where to look; everywhere unless given.")]
Depth = Annotated[int, Query(ge=1, le=DEEPEST, description="How many steps to follow.")]
IdempotencyKey = Annotated[
    str | None,
    Header(min_length=1, max_length=150, description="Makes a repeated request give the first one's result."),
]


class StreamQuery(BaseModel):
    """Which events, in which order. Bounds are inclusive; a bare day is its whole day in UTC."""

    model_config = ConfigDict(extra="forbid")

    stream_type: StreamType = "all"
    stream_id: str | None = Field(None, max_length=400)
    entity_type: str | None = Field(None, max_length=100, description="Of an entity stream.")
    scope: str | None = Field(
        None,
        max_length=100,
        description="Of a scope stream: division, region, site or a custom one; without it, the id is a legal entity.",
    )
    legal_entity: str = Field(MAIN, max_length=100)
    type: list[str] = Field(default_factory=list, max_length=100, description="Only these types; may be repeated.")
    dimension: list[str] = Field(default_factory=list, max_length=20, description="name:value; may be repeated.")
    from_date: str | None = Field(None, description="Occurred at or after this day or moment.")
    to_date: str | None = Field(None, description="Occurred at or before it.")
    effective_from: str | None = None
    effective_to: str | None = None
    recorded_from: str | None = None
    recorded_to: str | None = None
    from_sequence: str | None = None
    to_sequence: str | None = None
    as_of: str | None = Field(None, description="The log as it was at a sequence or a recorded moment.")
    direction: Direction = "forward"
    cursor: str | None = Field(None, max_length=2000, description="`next_cursor` of the page before.")
    limit: int = Field(100, ge=1, le=1000)

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
            occurred_from=start_of(self.from_date) if self.from_date else None,
            occurred_to=end_of(self.to_date) if self.to_date else None,
            effective_from=start_of(self.effective_from).date() if self.effective_from else None,
            effective_to=start_of(self.effective_to).date() if self.effective_to else None,
            recorded_from=start_of(self.recorded_from) if self.recorded_from else None,
            recorded_to=end_of(self.recorded_to) if self.recorded_to else None,
            from_sequence=read_sequence(self.from_sequence) if self.from_sequence else None,
            to_sequence=read_sequence(self.to_sequence) if self.to_sequence else None,
            as_of=read_position(self.as_of) if self.as_of else None,
        )


@router.post(
    "/events",
    summary="Append events, all or none",
    status_code=201,
    response_model=AppendedEvents,
    responses={200: {"model": AppendedEvents, "description": "All of them were there already"}},
)
async def post_events(
    new: AppendEvents,
    request: Request,
    mnemon: MnemonPart,
    principal: Annotated[Principal, allow(Action.APPEND_EVENTS)],
    idempotency_key: IdempotencyKey = None,
) -> Response:
    appended = await record_events(
        mnemon.log, principal, new.events, idempotency_key=idempotency_key, address=address_of(request)
    )
    status = 200 if all(one.duplicate for one in appended) else 201
    return answer({"events": [one.as_json() for one in appended]}, status)


@router.get("/events", summary="Read a stream, page by page", response_model=EventPage)
async def get_events(mnemon: MnemonPart, principal: Reader, query: Annotated[StreamQuery, Query()]) -> Response:
    page = await mnemon.log.read_page(
        principal.tenant_id,
        query.stream,
        query.filter,
        legal_entity=query.partition,
        direction=query.direction,
        cursor=query.cursor,
        limit=query.limit,
    )
    shown = await shown_events(mnemon, principal, page.events)
    return answer({"events": shown, "has_more": page.has_more, "next_cursor": page.next_cursor})


@router.get("/events/process/{correlation_id}", summary="All events of a business process", response_model=TraceOut)
async def get_process(correlation_id: EventId, mnemon: MnemonPart, principal: Reader) -> Response:
    trace = await mnemon.log.read_trace(principal.tenant_id, correlation_id)
    return answer(trace.as_json() | {"events": await shown_events(mnemon, principal, trace.events)})


@router.get("/events/{event_id}", summary="One event", response_model=OneEvent)
async def get_event(
    event_id: EventId, mnemon: MnemonPart, principal: Reader, legal_entity: LegalEntity = None
) -> Response:
    event = await mnemon.log.read_event(principal.tenant_id, event_id, legal_entity)
    return answer({"event": (await shown_events(mnemon, principal, [event]))[0]})


@router.get("/events/{event_id}/lineage", summary="What led to an event", response_model=LineageOut)
async def get_lineage(event_id: EventId, mnemon: MnemonPart, principal: Reader, depth: Depth = DEEPEST) -> Response:
    lineage = await mnemon.log.read_lineage(principal.tenant_id, event_id, depth)
    return answer({"lineage": await shown_events(mnemon, principal, lineage), "depth": len(lineage) - 1})


@router.get("/events/{event_id}/descendants", summary="What followed from an event", response_model=DescendantsOut)
async def get_descendants(event_id: EventId, mnemon: MnemonPart, principal: Reader, depth: Depth = DEEPEST) -> Response:
    await mnemon.log.read_event(principal.tenant_id, event_id)
    descendants = await mnemon.log.read_descendants(principal.tenant_id, event_id, depth)
    return answer({"descendants": await shown_events(mnemon, principal, descendants), "count": len(descendants)})
