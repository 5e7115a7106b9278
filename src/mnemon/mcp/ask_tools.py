"""Tools that look in documents: ask, search, and the search over documents and memory at once."""

from collections.abc import Sequence
from typing import Literal

from mcp_types import ResourceLink
from pydantic import BaseModel, Field

from mnemon.api.paging import from_cursor, to_cursor
from mnemon.ask.filters import EVERYTHING
from mnemon.identity.roles import Action, authorise
from mnemon.mcp.artifact_names import names_of, reader_of
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import Door
from mnemon.mcp.fields import Cursor, Limit, Query
from mnemon.mcp.links import Linked, link
from mnemon.mcp.memories import MemoryOut, memory_out
from mnemon.mcp.memory_tools import place_of
from mnemon.mcp.passages import AnswerOut, Passage, Passages, Within, answer_out, passage_of
from mnemon.mcp.refusals import InvalidArguments
from mnemon.memory.objects import Place
from mnemon.memory.operations.conversations import history_place

# Lists of different kinds have no common score: their ranks are added, and a first place counts for much.
RANK_OFFSET = 10
# A cursor of our own never points further.
FURTHEST = 1_000
Kind = Literal["document", "memory", "history"]


class FoundAnywhere(BaseModel):
    """A passage of a document, or a memory, or a turn of a conversation."""

    kind: Kind
    score: float
    passage: Passage | None = None
    memory: MemoryOut | None = None


class HybridResults(Linked):
    """Best first, over every kind that was searched."""

    results: list[FoundAnywhere]
    total: int = Field(description="How many were ranked; a search of everything has no further pages.")
    mode: str = Field(description="`lexical` where no embedding model took part.")

    def places(self) -> Sequence[ResourceLink]:
        passages = [link(one.passage.uri, one.passage.title) for one in self.results if one.passage]
        return passages + [link(one.memory.uri, "memory") for one in self.results if one.memory]


def add(door: Door) -> None:
    @door.tool(Action.QUERY, title="Ask", core=True, read_only=True)
    async def ask(caller: AgentCaller, question: Query, within: Within | None = None) -> AnswerOut:
        """Answer a question from the documents, with the quotes that prove each sentence; or refuse and say why."""
        filters = within.as_filters() if within else EVERYTHING
        answer = await caller.mnemon.asking.ask(caller.tenant_id, caller.principal.actor, question, filters)
        return answer_out(answer, await names_of(caller, (one.doc_version_id for one in answer.citations)))

    @door.tool(Action.QUERY, title="Search documents", core=True, read_only=True)
    async def search(
        caller: AgentCaller, query: Query, limit: Limit = 10, cursor: Cursor = None, within: Within | None = None
    ) -> Passages:
        """Find passages of documents by words and meaning, best first. Each links to its exact place."""
        return await search_passages(caller, query, limit, cursor, within)

    @door.tool(Action.QUERY, title="Search everything", read_only=True)
    async def hybrid_search(
        caller: AgentCaller,
        query: Query,
        limit: Limit = 10,
        include_memory: bool = True,
        include_history: bool = False,
        within: Within | None = None,
    ) -> HybridResults:
        """Search documents and memory at once, by words and meaning. `within` limits the documents only."""
        return await _search_everything(caller, query, limit, include_memory, include_history, within)


async def search_passages(
    caller: AgentCaller, query: str, limit: int, cursor: str | None, within: Within | None
) -> Passages:
    filters = within.as_filters() if within else EVERYTHING
    offset = _offset(cursor)
    found = await caller.mnemon.searcher.search(
        caller.tenant_id, query, filters, limit=limit, offset=offset, reader=reader_of(caller)
    )
    following = found.next_offset
    names = await names_of(caller, (hit.doc_version_id for hit in found.hits))
    return Passages.model_validate(
        {
            "passages": [
                passage_of(hit, names[hit.doc_version_id]) for hit in found.hits if hit.doc_version_id in names
            ],
            "total": found.total,
            "next_cursor": to_cursor(str(following)) if following is not None else None,
            "mode": found.mode,
        }
    )


async def _search_everything(
    caller: AgentCaller, query: str, limit: int, memory: bool, history: bool, within: Within | None
) -> HybridResults:
    passages = await search_passages(caller, query, limit, None, within)
    results = [
        FoundAnywhere(kind="document", score=_ranked(place), passage=one) for place, one in enumerate(passages.passages)
    ]
    if memory or history:
        authorise(caller.principal, Action.READ_MEMORY)
    if memory:
        results += await _remembered(caller, place_of(caller), "memory", query, limit)
    if history:
        results += await _remembered(caller, history_place(caller), "history", query, limit)
    results.sort(key=lambda one: -one.score)
    return HybridResults(results=results[:limit], total=len(results), mode=passages.mode)


async def _remembered(caller: AgentCaller, place: Place, kind: Kind, query: str, limit: int) -> list[FoundAnywhere]:
    found = await caller.mnemon.memory.search.search(caller.tenant_id, place, query, limit=limit)
    return [
        FoundAnywhere(kind=kind, score=_ranked(rank), memory=memory_out(hit.object))
        for rank, hit in enumerate(found.hits)
    ]


def _ranked(place: int) -> float:
    return round(RANK_OFFSET / (RANK_OFFSET + place), 6)


def _offset(cursor: str | None) -> int:
    position = from_cursor(cursor)
    if position is None:
        return 0
    if not position.isdecimal() or int(position) > FURTHEST:
        raise InvalidArguments("This cursor is not one that a page of `search` gave: leave it out to start over.")
    return int(position)
