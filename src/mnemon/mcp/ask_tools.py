"""Tools that look in documents: ask, search, and the search over documents and memory at once."""

from collections.abc import Sequence
from typing import Literal

from mcp_types import ResourceLink
from pydantic import BaseModel, Field

from mnemon.app import Mnemon
from mnemon.ask import operations
from mnemon.ask.inputs import PassageSearch
from mnemon.documents.access import Reader
from mnemon.identity.roles import Action
from mnemon.mcp.bind import tool
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import AgentDoor
from mnemon.mcp.links import Linked, link
from mnemon.mcp.memories import MemoryOut, memory_out
from mnemon.mcp.memory_tools import place_of
from mnemon.mcp.passages import Passage, ask, named_passages, search_passages
from mnemon.memory.objects import Place
from mnemon.memory.operations.conversations import history_place
from mnemon.operations import Caller, Differs, operation

# Lists of different kinds have no common score: their ranks are added, and a first place counts for much.
RANK_OFFSET = 10
WHOLE = {"stream": Differs("A tool has one result.")}
PLAIN = {"explain": Differs("The parts of a score say little to a model.")}
ONE_PAGE = {"offset": Differs("Ranks of different lists are added, so there is one page.")}
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


class EverythingAsked(PassageSearch):
    """A search of documents and memory; the filters limit the documents only."""

    include_memory: bool = Field(True, description="Search memories too.")
    include_history: bool = Field(False, description="Search turns of conversations too.")


@operation(
    "everything.search", Action.QUERY, read_only=True, example={"query": "budget"},
    absent=dict.fromkeys(("rest", "command", "web"), "Agents look everywhere at once; people know where they look."),
)  # fmt: skip
async def search_everything(mnemon: Mnemon, caller: Caller, asked: EverythingAsked) -> HybridResults:
    """Search documents and memory at once, by words and meaning. The filters limit the documents only."""
    assert isinstance(caller, AgentCaller)
    documents = await operations.search(mnemon, caller, asked)
    passages = (await named_passages(caller, documents)).passages
    results = [FoundAnywhere(kind="document", score=_ranked(place), passage=one) for place, one in enumerate(passages)]
    if asked.include_memory or asked.include_history:
        caller.authorise(Action.READ_MEMORY)
    if asked.include_memory:
        results += await _remembered(caller, place_of(caller), "memory", asked.query, asked.limit)
    if asked.include_history:
        results += await _remembered(caller, history_place(caller), "history", asked.query, asked.limit)
    results.sort(key=lambda one: -one.score)
    return HybridResults(results=results[: asked.limit], total=len(results), mode=documents.mode)


def add(door: AgentDoor) -> None:
    tool(door, "ask", operations.ask, title="Ask", core=True, perform=ask, differences=WHOLE)
    tool(
        door,
        "search",
        operations.search,
        title="Search documents",
        core=True,
        perform=search_passages,
        differences=PLAIN,
    )
    tool(
        door, "artifact_search", operations.search, title="Search artifacts", perform=search_passages, differences=PLAIN
    )
    tool(door, "hybrid_search", search_everything, title="Search everything", differences=PLAIN | ONE_PAGE)


async def _remembered(caller: AgentCaller, place: Place, kind: Kind, query: str, limit: int) -> list[FoundAnywhere]:
    page = await caller.mnemon.memory.search.search(
        caller.tenant_id, place, query, limit=limit, reader=Reader.of(caller.actor)
    )
    return [
        FoundAnywhere(kind=kind, score=_ranked(rank), memory=memory_out(hit.object))
        for rank, hit in enumerate(page.hits)
    ]


def _ranked(place: int) -> float:
    return round(RANK_OFFSET / (RANK_OFFSET + place), 6)
