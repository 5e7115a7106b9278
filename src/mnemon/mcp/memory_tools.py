"""Tools on memory: remember, recall and forget; the full set of the same; and the turns of conversations."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from mnemon.mcp import memories
from mnemon.mcp.bind import tool
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import AgentDoor
from mnemon.mcp.memories import Deleted, Stored
from mnemon.memory.errors import DuplicateChange
from mnemon.memory.objects import Place
from mnemon.memory.operations import conversations, objects
from mnemon.memory.operations.object_inputs import Deletion, NewObject, ObjectViewAsked, Words
from mnemon.operations import Differences, Differs

ONE_MEMORY = Differs("An agent has one memory: the trunk of its tenant's own world.")
AS_READ = Differs("An agent reads what is true now.")
SHORT = Differs("The short form takes a thought and its tags; memory_store and memory_search take the rest.")
LONGER_ELSEWHERE = "Longer texts are documents."
Thought = Annotated[str, Field(min_length=1, max_length=20_000)]
SourceAddress = Annotated[str, Field(max_length=2000)]
Few = Annotated[int, Field(ge=1, le=100)]
A_SCREEN = "An agent reads every word of a page."
MEMORY = "Agents know memories; EMO is the API's word."

HERE: Differences = {"world_id": ONE_MEMORY, "branch": ONE_MEMORY}
STORE: Differences = {
    **HERE,
    "content": Differs(LONGER_ELSEWHERE, takes=Thought),
    "emo_type": Differs(MEMORY, name="type"),
    "source": Differs("An agent is the source; it names the address.", name="source_uri", takes=SourceAddress | None),
    **dict.fromkeys(
        ("emo_id", "tenant_id", "mime_type", "parents", "links", "writers"), Differs("Programs set it over REST.")
    ),
}
REMEMBER: Differences = {
    **STORE,
    **dict.fromkeys(("emo_type", "facets", "source", "subject_id", "rationale", "agent_id", "session_id"), SHORT),
}
SEARCH: Differences = {
    **HERE,
    "query": Differs("Without words it is memory_list.", default=..., takes=Words),
    "limit": Differs(A_SCREEN, default=10, takes=Few),
    "as_of": AS_READ,
    "cursor": Differs("A search has one page."),
    "updated_since": Differs("memory_list tells what is new."),
}
RECALL: Differences = {
    **SEARCH,
    **dict.fromkeys(("type", "mode", "subject_id", "owner", "agent_id", "session_id"), SHORT),
}
LIST: Differences = {
    **HERE,
    "query": Differs("With words it is memory_search."),
    "mode": Differs("With words it is memory_search."),
    "limit": Differs(A_SCREEN, default=20, takes=Few),
    "as_of": AS_READ,
}
DELETE: Differences = {
    **HERE,
    "emo_id": Differs(MEMORY, name="memory_id"),
    "deletion_reason": Differs("The spec of the API has the long name.", name="reason"),
    "expected_version": Differs("Whoever deletes a memory means it as it is."),
    "key": Differs("A repeated deletion is refused anyway."),
}


def add(door: AgentDoor) -> None:
    tool(
        door, "remember", objects.create, title="Remember", core=True, differences=REMEMBER, perform=store,
        says="Keep a short text for later: a fact, a preference, a note. One thought per call. Documents go elsewhere.",
    )  # fmt: skip
    tool(
        door, "recall", objects.find, title="Recall", core=True, differences=RECALL, present=memories.found,
        says="Find what was remembered, by words and by meaning, best first. For documents use `search` or `ask`.",
    )  # fmt: skip
    tool(
        door, "forget", objects.delete, title="Forget", core=True, differences=DELETE, question=_really,
        perform=delete,
        says="Delete a memory: no search and no list shows it any more. The person is asked first.",
    )  # fmt: skip
    tool(
        door, "memory_store", objects.create, title="Store a memory", differences=STORE, perform=store,
        says="Keep a memory with its type, tags, facets and source.",
    )  # fmt: skip
    tool(
        door, "memory_delete", objects.delete, title="Delete a memory", differences=DELETE, question=_really,
        perform=delete, says="Delete a memory. The person is asked first; its history stays in the log.",
    )  # fmt: skip
    tool(
        door, "memory_search", objects.find, title="Search memories", differences=SEARCH, present=memories.found,
        says="Find memories, best first, with filters.",
    )  # fmt: skip
    tool(
        door, "memory_list", objects.find, title="List memories", differences=LIST, present=memories.listed,
        says="List memories, newest first, a page at a time.",
    )  # fmt: skip


def add_history(door: AgentDoor) -> None:
    tool(
        door, "history_append", conversations.append, title="Append to a conversation", present=memories.appended
    )  # fmt: skip
    tool(door, "history_get", conversations.get, title="Read a conversation", present=memories.history)


async def store(caller: AgentCaller, asked: NewObject) -> Stored:
    """An agent that repeats a key wants what the first call kept, not a refusal."""
    try:
        kept = await objects.create(caller.mnemon, caller, asked)
    except DuplicateChange as repeat:
        known = ObjectViewAsked(emo_id=UUID(str(repeat.details["emo_id"])))
        return Stored(memory=memories.shown(await objects.get(caller.mnemon, caller, known)), stored=False)
    return Stored(memory=memories.shown(kept), stored=True)


async def delete(caller: AgentCaller, asked: Deletion) -> Deleted:
    gone = await objects.delete(caller.mnemon, caller, asked)
    return Deleted(memory_id=gone.emo_id, deleted=True, version=gone.emo_version)


async def _really(caller: AgentCaller, asked: Deletion) -> str:
    known = await objects.get(caller.mnemon, caller, ObjectViewAsked(emo_id=asked.emo_id))
    return f"Delete the memory {asked.emo_id} (“{' '.join(known.content.split())[:80]}”)?"


def place_of(caller: AgentCaller) -> Place:
    """The trunk of the tenant's own world."""
    return caller.mnemon.memory.place(caller.tenant_id)
