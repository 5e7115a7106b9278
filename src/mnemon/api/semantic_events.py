"""Semantic events over REST: search, one event, repetition, and the views made of them."""

from datetime import date
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.moments import FirstMoment, LastMoment
from mnemon.api.paging import Cursor
from mnemon.documents.access import Reader
from mnemon.identity.roles import Action, Principal
from mnemon.semantics.search.collect import collect
from mnemon.semantics.search.export import as_csv, as_markdown
from mnemon.semantics.search.query import MOST, EventFilters, Status, event_get, event_search
from mnemon.semantics.search.views import open_commitments, people_topics

router = APIRouter(tags=["semantic events"])
Asker = Annotated[Principal, allow(Action.QUERY)]
EventId = Annotated[str, Path(max_length=100, description="Such as evt_…, from a search.")]
COMPLETE = "X-Mnemon-Complete"
Name = Annotated[str | None, Query(max_length=500)]


class EventQuery(BaseModel):
    """What to look for; whatever is left out is not asked for."""

    model_config = ConfigDict(extra="forbid")

    query: str | None = Field(
        None,
        max_length=1_000,
        description='Words of the event, its subject or its quotes; "a phrase", this or that, -not this.',
    )
    category: str | None = Field(None, max_length=50, description="Such as Decision or Commitment.")
    time_from: FirstMoment | None = Field(None, description="Happened at this time or later.")
    time_to: LastMoment | None = Field(None, description="Happened at this time or earlier.")
    artifact_uid: str | None = Field(None, max_length=100)
    actor: str | None = Field(None, max_length=200, description="A person, by the whole name or one word of it.")
    subject: str | None = Field(None, max_length=200, description="Words of the subject.")
    status: Status | None = Field(None, description="Whether it still stands.")
    kind: Literal["promise", "assignment", "request"] | None = Field(None, description="Of commitments.")
    due_before: date | None = Field(None, description="Of commitments: due before this day.")
    as_of: LastMoment | None = Field(None, description="What was true then.")
    known_at: LastMoment | None = Field(None, description="What we knew then.")
    all_revisions: bool = Field(False, description="Also revisions that are no longer served.")

    @property
    def filters(self) -> EventFilters:
        names = EventQuery.model_fields
        return EventFilters(**{name: getattr(self, name) for name in names})


class EventPage(EventQuery):
    """A search, a page at a time."""

    include_evidence: bool = True
    limit: int = Field(20, ge=1, le=MOST)
    cursor: str | None = Field(None, max_length=2_000, description="`next_cursor` of the page before.")


class EventExport(EventQuery):
    """All that a search finds, as one text."""

    format: Literal["markdown", "csv"] = "markdown"


@router.get("/semantic-events", summary="Search what was decided, promised, done and said")
async def search_events(asked: Annotated[EventPage, Query()], mnemon: MnemonPart, principal: Asker) -> dict[str, Any]:
    return await event_search(
        mnemon.database, principal.tenant_id, _reader(principal), asked.filters,
        limit=asked.limit, cursor=asked.cursor, include_evidence=asked.include_evidence, embedder=mnemon.embedder,
    )  # fmt: skip


@router.get("/semantic-events/commitments", summary="What was promised and is still open, the most urgent first")
async def list_commitments(
    mnemon: MnemonPart,
    principal: Asker,
    owner: Name = None,
    due_before: date | None = None,
    overdue: bool = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Cursor = None,
) -> dict[str, Any]:
    return await open_commitments(
        mnemon.database, principal.tenant_id, _reader(principal),
        owner=owner, due_before=due_before, overdue=overdue, limit=limit, cursor=cursor,
    )  # fmt: skip


@router.get("/semantic-events/people", summary="Who was involved in what")
async def list_people(
    mnemon: MnemonPart,
    principal: Asker,
    person: Name = None,
    topic: Name = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Cursor = None,
) -> dict[str, Any]:
    return await people_topics(
        mnemon.database, principal.tenant_id, _reader(principal),
        person=person, topic=topic, limit=limit, cursor=cursor,
    )  # fmt: skip


@router.get(
    "/semantic-events/export",
    summary="All that a search finds, as Markdown or CSV",
    response_class=Response,
    responses={
        200: {
            "content": {"text/markdown": {}, "text/csv": {}},
            "headers": {COMPLETE: {"description": "`false` where there are more.", "schema": {"type": "boolean"}}},
        }
    },
)
async def export_events(asked: Annotated[EventExport, Query()], mnemon: MnemonPart, principal: Asker) -> Response:
    """At most 10,000 events. Where there are more, the header `X-Mnemon-Complete` is `false`, and the last line of
    Markdown says so: `time_from` and `time_to` give them in parts."""
    found = await collect(mnemon.database, principal.tenant_id, _reader(principal), asked.filters)
    csv = asked.format == "csv"
    text = as_csv(found.events) if csv else as_markdown(found.events, complete=found.complete)
    told = {COMPLETE: "true" if found.complete else "false"}
    return Response(text, media_type=f"text/{asked.format}; charset=utf-8", headers=told)


@router.get("/semantic-events/{event_id}", summary="One event with all its evidence")
async def get_event(event_id: EventId, mnemon: MnemonPart, principal: Asker) -> dict[str, Any]:
    return await event_get(mnemon.database, principal.tenant_id, _reader(principal), event_id)


def _reader(principal: Principal) -> Reader:
    return Reader.of(principal.actor)
