"""Resources: what the addresses in results open, for the caller and nobody else."""

from collections.abc import Awaitable
from typing import Any, TypeVar
from uuid import UUID

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ListResourcesResult, Resource

from mnemon.documents import operations as documents
from mnemon.documents.access import Reader
from mnemon.errors import MnemonError, NotFound
from mnemon.identity.roles import Action
from mnemon.inputs import from_cursor, to_cursor
from mnemon.mcp.artifact_names import names_of, open_span
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import AgentDoor
from mnemon.mcp.event_tools import whole_event
from mnemon.mcp.links import EVENT, MEMORY, REVISION, SPAN
from mnemon.mcp.memory_tools import place_of
from mnemon.mcp.refusals import InvalidArguments, as_mnemon_error
from mnemon.memory.errors import MemoryNotFound
from mnemon.memory.operations.conversations import history_place

Opened = TypeVar("Opened")
# A client that opens a whole revision gets its beginning; a span says which part of the rest.
LONGEST = 100_000
# Of a list that a person picks from.
LISTED = 50


def add(door: AgentDoor) -> None:
    @door.server.resource(
        SPAN,
        name="span",
        title="The words that a result quotes",
        description="The exact span of a version of a document. Offsets count code points of the version's text, "
        "which never changes.",
        mime_type="text/plain",
    )
    async def span(artifact: str, revision: str, span: str, context: Context[Any, Any]) -> str:
        caller = await _caller(door, context, Action.VIEW_DOCUMENTS)
        return await _opened(open_artifact(caller, artifact, revision, span))

    @door.server.resource(
        REVISION,
        name="artifact",
        title="A version of a document",
        description=f"The text of a version, up to {LONGEST} characters.",
        mime_type="text/plain",
    )
    async def artifact(artifact: str, revision: str, context: Context[Any, Any]) -> str:
        caller = await _caller(door, context, Action.VIEW_DOCUMENTS)
        return await _opened(open_artifact(caller, artifact, revision, ""))

    @door.server.resource(
        EVENT,
        name="event",
        title="A semantic event",
        description="One event with all its evidence, as JSON.",
        mime_type="application/json",
    )
    async def event(event_id: str, context: Context[Any, Any]) -> str:
        caller = await _caller(door, context, Action.QUERY)
        return (await _opened(whole_event(caller, event_id))).model_dump_json(indent=2)

    @door.server.resource(
        MEMORY, name="memory", title="A memory", description="The whole text of a memory.", mime_type="text/markdown"
    )
    async def memory(memory_id: str, context: Context[Any, Any]) -> str:
        caller = await _caller(door, context, Action.READ_MEMORY)
        return await _opened(open_memory(caller, memory_id))


async def listed_documents(door: AgentDoor, context: Context[Any, Any], cursor: str | None) -> ListResourcesResult:
    """What exists, newest first: each document in its present version."""
    try:
        caller = await door.caller(context, Action.VIEW_DOCUMENTS)
        page = int(from_cursor(cursor) or 1)
        asked = documents.list_documents.input(page=page, limit=LISTED)
        found = await documents.list_documents(door.mnemon, caller, asked)
    except (MnemonError, ValueError) as refusal:
        raise MCPError(INVALID_PARAMS, str(refusal)) from None
    versions = {one.doc_version_id: one for one in found.items if one.doc_version_id is not None}
    names = await names_of(caller, versions)
    shown = [
        Resource(uri=names[version].uri(), name=one.title, title=one.title, mime_type="text/plain")
        for version, one in versions.items()
        if version in names
    ]
    more = to_cursor(str(page + 1)) if page * LISTED < found.total else None
    return ListResourcesResult(resources=shown, next_cursor=more)


async def open_artifact(caller: AgentCaller, artifact: str, revision: str, span: str) -> str:
    """The text of a revision that the caller may see, or a span of it."""
    start, end = read_span_of(span)
    text = await open_span(caller, artifact, revision, start, start + LONGEST if end is None else end)
    if end is not None and len(text) != end - start:
        raise NotFound(f"{span} is no span of this text, which ends at {start + len(text)}.")
    return text


async def open_memory(caller: AgentCaller, memory_id: str) -> str:
    """A memory, or a turn of a conversation: their ids are of one kind, whichever world holds them."""
    reading, known, reader = caller.mnemon.memory.reading, _id(memory_id), Reader.of(caller.actor)
    try:
        found = await reading.get(caller.tenant_id, place_of(caller), known, reader=reader)
    except MemoryNotFound:
        found = await reading.get(caller.tenant_id, history_place(caller), known, reader=reader)
    return found.object.content


def read_span_of(span: str) -> tuple[int, int | None]:
    """`12-80` as offsets; nothing means from the beginning."""
    if not span:
        return 0, None
    first, _, last = span.partition("-")
    if not (first.isdecimal() and last.isdecimal() and first.isascii() and last.isascii()) or len(span) > 20:
        raise InvalidArguments(f"{span[:40]!r} is no span: write #start-end.")
    start, end = int(first), int(last)
    if not start < end <= start + LONGEST or end >= 1 << 31:
        raise InvalidArguments(f"{span} is no span: start comes before end, at most {LONGEST} apart.")
    return start, end


async def _caller(door: AgentDoor, context: Context[Any, Any], action: Action) -> AgentCaller:
    try:
        return await door.caller(context, action)
    except MnemonError as refusal:
        raise ResourceError(refusal.message) from None


async def _opened(opening: Awaitable[Opened]) -> Opened:
    """A resource has no error codes of ours: what is not there, or not for this caller, is not found."""
    try:
        return await opening
    except Exception as failure:
        known = as_mnemon_error(failure, "resources/read")
        missing = isinstance(known, NotFound | InvalidArguments)
        raise (ResourceNotFoundError if missing else ResourceError)(known.message) from None


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(f"{text[:60]!r} names nothing here.") from None
