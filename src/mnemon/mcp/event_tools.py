"""Tools on semantic events: what was decided, promised, done and changed, with the words that prove it."""

from typing import Annotated, Literal

from pydantic import Field

from mnemon.api.paging import from_cursor, to_cursor
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action
from mnemon.log.read.query import end_of, start_of
from mnemon.mcp.artifact_names import reader_of
from mnemon.mcp.caller import Caller
from mnemon.mcp.door import Door
from mnemon.mcp.fields import Cursor, Limit, Moment, Name
from mnemon.mcp.semantic_events import (
    EventsFound,
    EventsOfRevision,
    JobOut,
    Reextraction,
    WholeEvent,
    with_addresses,
)
from mnemon.semantics.extract import status as extraction_status
from mnemon.semantics.search import query as events
from mnemon.semantics.search.query import EventFilters
from mnemon.semantics.semantic_event import Category

CATEGORIES = [one.value for one in Category]
# Checked where events are searched, whose sentence names all of them; a model that reads the schema needs none.
CategoryName = Annotated[str, Field(max_length=50, json_schema_extra={"enum": [*CATEGORIES]})]
EventId = Annotated[str, Field(pattern=r"^evt_[A-Za-z0-9_-]{1,80}$", description="`event_id` of an event.")]
ArtifactUid = Annotated[str, Field(pattern=r"^uid_[A-Za-z0-9]{1,64}$", description="`artifact_uid`, as uid_….")]
RevisionId = Annotated[
    str | None, Field(pattern=r"^rev_[A-Za-z0-9]{1,64}$", description="`revision_id`, as rev_…; unset: the latest.")
]
Evidence = Annotated[bool, Field(description="Whether to add the quotes that prove each event.")]


def add(door: Door) -> None:
    _add_search(door)
    _add_reading(door)
    _add_jobs(door)


def _add_search(door: Door) -> None:
    @door.tool(Action.QUERY, title="Search events", core=True, read_only=True)
    async def event_search(
        caller: Caller,
        query: Annotated[
            str | None,
            Field(
                max_length=1000,
                description='Words, "a phrase", this or that, -not this; unset: all events, the latest first.',
            ),
        ] = None,
        limit: Limit = 20,
        category: CategoryName | None = None,
        time_from: Annotated[Moment, Field(description="It happened at or after this day or moment.")] = None,
        time_to: Annotated[Moment, Field(description="It happened at or before it.")] = None,
        artifact_uid: ArtifactUid | None = None,
        include_evidence: Evidence = True,
        actor: Annotated[Name, Field(description="A person who took part, by name.")] = None,
        subject: Annotated[Name, Field(description="Words of what it is about.")] = None,
        status: Annotated[
            Literal["open", "superseded", "done"] | None,
            Field(description="open: still holds; superseded: a later one replaced it; done: a promise that was kept."),
        ] = None,
        due_before: Annotated[
            str | None, Field(max_length=10, description="Commitments due before this day, as 2026-03-01.")
        ] = None,
        as_of: Annotated[str | None, Field(max_length=40, description="What was true at this day or moment.")] = None,
        known_at: Annotated[
            str | None, Field(max_length=40, description="What was known at this day or moment.")
        ] = None,
        cursor: Cursor = None,
    ) -> EventsFound:
        """Find decisions, commitments, risks, changes and other events, each with the quote that proves it."""
        filters = EventFilters(
            query=query,
            category=category,
            time_from=start_of(time_from) if time_from else None,
            time_to=end_of(time_to) if time_to else None,
            artifact_uid=artifact_uid,
            actor=actor,
            subject=subject,
            status=status,
            due_before=end_of(_day(due_before)).date() if due_before else None,
            as_of=end_of(as_of) if as_of else None,
            known_at=end_of(known_at) if known_at else None,
        )
        found = await events.event_search(
            caller.mnemon.database,
            caller.tenant,
            reader_of(caller),
            filters,
            limit=limit,
            cursor=cursor,
            include_evidence=include_evidence,
            embedder=caller.mnemon.embedder,
        )
        return EventsFound.model_validate(found | {"events": [with_addresses(one) for one in found["events"]]})


def _add_reading(door: Door) -> None:
    @door.tool(Action.QUERY, title="One event", read_only=True)
    async def event_get(caller: Caller, event_id: EventId) -> WholeEvent:
        """One event with all its evidence, and the events that it superseded or that fulfilled it."""
        return await whole_event(caller, event_id)

    @door.tool(Action.QUERY, title="Events of a revision", read_only=True)
    async def event_list_for_revision(
        caller: Caller,
        artifact_uid: ArtifactUid,
        revision_id: RevisionId = None,
        include_evidence: Evidence = False,
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> EventsOfRevision:
        """Everything that one revision of an artifact says, in the order of its text."""
        first = _position(cursor)
        found = await events.event_list_for_revision(
            caller.mnemon.database,
            caller.tenant,
            reader_of(caller),
            artifact_uid,
            revision_id,
            include_evidence=include_evidence,
            first=first,
            limit=limit,
        )
        following = to_cursor(str(first + limit)) if first + limit < found["total"] else None
        shown = {"events": [with_addresses(one) for one in found["events"]], "next_cursor": following}
        return EventsOfRevision.model_validate(found | shown)


def _add_jobs(door: Door) -> None:
    @door.tool(Action.VIEW_RUNS, title="State of an extraction", read_only=True)
    async def job_status(caller: Caller, artifact_uid: ArtifactUid, revision_id: RevisionId = None) -> JobOut:
        """Whether the events of a revision have been read yet, and if not, why."""
        found = await extraction_status.job_status(
            caller.mnemon.database, caller.tenant, reader_of(caller), artifact_uid, revision_id
        )
        return JobOut.model_validate(found)

    @door.tool(Action.UPLOAD_DOCUMENTS, title="Read events anew")
    async def event_reextract(
        caller: Caller,
        artifact_uid: ArtifactUid,
        revision_id: RevisionId = None,
        force: Annotated[bool, Field(description="Also if they were read already.")] = False,
    ) -> Reextraction:
        """Read the events of a revision again. The old ones stay until the new ones replace them."""
        found = await extraction_status.event_reextract(
            caller.mnemon.database, caller.tenant, reader_of(caller), artifact_uid, revision_id, force=force
        )
        return Reextraction.model_validate(found)


async def whole_event(caller: Caller, event_id: str) -> WholeEvent:
    found = await events.event_get(caller.mnemon.database, caller.tenant, reader_of(caller), event_id)
    return WholeEvent.model_validate(with_addresses(found))


def _position(cursor: str | None) -> int:
    position = from_cursor(cursor) or "0"
    if not position.isdecimal() or len(position) > 9:
        raise InvalidRequest("This cursor is not one that a page gave: leave it out to start over.")
    return int(position)


def _day(text: str) -> str:
    if len(text) != 10:
        raise InvalidRequest(f"{text!r} is not a day like 2026-03-01.")
    return text
