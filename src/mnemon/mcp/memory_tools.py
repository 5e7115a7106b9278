"""Tools on memory: remember, recall and forget; and the full set of the same."""

from typing import Annotated

from pydantic import Field

from mnemon.identity.roles import Action
from mnemon.log.read.query import start_of
from mnemon.mcp import memories
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import Door
from mnemon.mcp.fields import Confirm, Cursor, Key, Limit, MemoryId, Moment, Query, Tags, Text
from mnemon.mcp.memories import Deleted, Found, Memories, Stored, memory_out
from mnemon.memory.objects import EmoType, Place
from mnemon.memory.reading import Wanted
from mnemon.memory.search import Mode

Reason = Annotated[str, Field(max_length=2000, description="Why; kept in the history.")]
Facets = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=100)], Annotated[str, Field(max_length=20_000)]],
    Field(max_length=50, description="Named parts, such as {'owner': 'Ada'}."),
]


def add(door: Door) -> None:
    _add_core(door)
    _add_store_and_delete(door)
    _add_reading(door)


def _add_core(door: Door) -> None:
    @door.tool(Action.WRITE_MEMORY, title="Remember", core=True)
    async def remember(caller: AgentCaller, text: Text, tags: Tags = None, key: Key = None) -> Stored:
        """Keep a short text for later: a fact, a preference, a note. One thought per call. Documents go elsewhere."""
        return await memories.store(caller, place_of(caller), text, tags=tags or (), key=key)

    @door.tool(Action.READ_MEMORY, title="Recall", core=True, read_only=True)
    async def recall(caller: AgentCaller, query: Query, limit: Limit = 10, tags: Tags = None) -> Found:
        """Find what was remembered, by words and by meaning, best first. For documents use `search` or `ask`."""
        return await _search(caller, query, "hybrid", Wanted(tags=tags or ()), limit)

    @door.tool(Action.WRITE_MEMORY, title="Forget", core=True, destructive=True, idempotent=True)
    async def forget(
        caller: AgentCaller, memory_id: MemoryId, reason: Reason = "", confirm: Confirm = False
    ) -> Deleted:
        """Delete a memory: no search and no list shows it any more. The person is asked first."""
        return await memories.delete(caller, place_of(caller), memory_id, reason, confirm)


def _add_store_and_delete(door: Door) -> None:
    @door.tool(Action.WRITE_MEMORY, title="Store a memory")
    async def memory_store(
        caller: AgentCaller,
        content: Text,
        type: EmoType = "note",  # noqa: A002
        tags: Tags = None,
        facets: Facets | None = None,
        source_uri: Annotated[str | None, Field(max_length=2000)] = None,
        subject_id: Annotated[
            str | None,
            Field(
                min_length=1, max_length=200, description="Pseudonym of the person it is about: sealed with their key."
            ),
        ] = None,
        rationale: Annotated[str | None, Field(max_length=2000)] = None,
        key: Key = None,
    ) -> Stored:
        """Keep a memory with its type, tags, facets and source."""
        return await memories.store(
            caller,
            place_of(caller),
            content,
            emo_type=type,
            tags=tags or (),
            facets=facets,
            source_uri=source_uri,
            subject_id=subject_id,
            rationale=rationale,
            key=key,
        )

    @door.tool(Action.WRITE_MEMORY, title="Delete a memory", destructive=True, idempotent=True)
    async def memory_delete(
        caller: AgentCaller, memory_id: MemoryId, reason: Reason = "", confirm: Confirm = False
    ) -> Deleted:
        """Delete a memory. The person is asked first; its history stays in the log."""
        return await memories.delete(caller, place_of(caller), memory_id, reason, confirm)


def _add_reading(door: Door) -> None:
    @door.tool(Action.READ_MEMORY, title="Search memories", read_only=True)
    async def memory_search(
        caller: AgentCaller,
        query: Query,
        limit: Limit = 10,
        type: EmoType | None = None,  # noqa: A002
        tags: Tags = None,
        mode: Annotated[Mode, Field(description="By words, by meaning, or both.")] = "hybrid",
    ) -> Found:
        """Find memories, best first, with filters."""
        return await _search(caller, query, mode, Wanted(emo_type=type, tags=tags or ()), limit)

    @door.tool(Action.READ_MEMORY, title="List memories", read_only=True)
    async def memory_list(
        caller: AgentCaller,
        limit: Limit = 20,
        cursor: Cursor = None,
        type: EmoType | None = None,  # noqa: A002
        tags: Tags = None,
        updated_since: Moment = None,
    ) -> Memories:
        """List memories, newest first, a page at a time."""
        since = start_of(updated_since) if updated_since else None
        wanted = Wanted(emo_type=type, tags=tags or (), updated_since=since)
        place = place_of(caller)
        found, following = await memories.page(caller, place, wanted, limit, cursor)
        total = await caller.mnemon.memory.reading.count(caller.tenant_id, place, wanted)
        return Memories(memories=[memory_out(one.object) for one in found], total=total, next_cursor=following)


async def _search(caller: AgentCaller, query: str, mode: Mode, wanted: Wanted, limit: int) -> Found:
    found = await caller.mnemon.memory.search.search(
        caller.tenant_id, place_of(caller), query, mode=mode, wanted=wanted, limit=limit
    )
    shown = [memory_out(hit.object, hit.score) for hit in found.hits]
    return Found(memories=shown, total=len(shown), mode=found.mode)


def place_of(caller: AgentCaller) -> Place:
    """The trunk of the tenant's own world."""
    return caller.mnemon.memory.place(caller.tenant_id)
