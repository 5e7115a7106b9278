"""The gateway to memory: every door (REST, command line, MCP) calls these functions and nothing behind them.

`Mnemon.memory` is an instance. All functions take the tenant first, and those about a branch take a `Place` next:
`Place(world_id, branch)`, or `memory.place(tenant, world_id, branch)` for the default world and trunk.

Objects (`memory.changes`, with a `change_events.Author` that says who does it, through which door, under which key):
    create update link set_facet remove_facet delete restore      -> Changed(object, change_id, appended)
Reading (`memory.reading`): `as_of` is `"v3"`, a sequence or a moment
    get history page count                                        -> Version, with .object .diff .rationale …
Branches (`memory.branches`, `memory.merging`)
    create list get abandon; compare merge
Graph (`memory.graph`)
    lineage neighbourhood path integrity cycles export
Meaning (`memory.semantic`, `memory.search`, `memory.vectors`)
    similar_objects similar_facets similar_rationales; search ranks words and meaning together; status catch_up
Upkeep (`memory.compaction`, `memory.replay`)
    compact compact_all; verify rebuild branch_hashes
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from mnemon.errors import Conflict
from mnemon.log.events import MAIN
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.memory.branching.branches import Branches
from mnemon.memory.branching.merging import Merging
from mnemon.memory.changing.changes import Changes
from mnemon.memory.compaction import Compaction
from mnemon.memory.following import MemoryFollower
from mnemon.memory.graphs.graph import Graphs
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Place
from mnemon.memory.reading import Reading
from mnemon.memory.replay import Replay
from mnemon.memory.translator import Translator
from mnemon.memory.vectors import MemoryVectors

if TYPE_CHECKING:
    from mnemon.memory.search import Search
    from mnemon.memory.semantic import Semantic
    from mnemon.models.embedder import Embedder
    from mnemon.search.questions import Questions

TEMPLATE = "plain/1"


class Memory:
    """The memory of every tenant. The projector must know `mnemon.memory.lens.LENS`."""

    def __init__(self, log: EventLog, projector: Projector, embedder: "Callable[[], Embedder] | None" = None) -> None:
        self.log = log
        self.projector = projector
        self._embedder = embedder
        self.reading = Reading(log, self.prepare)
        self.changes = Changes(log, self.reading, self._vector_meta)
        self.branches = Branches(log, self.reading)
        self.merging = Merging(log, self.reading)
        self.graph = Graphs(self.reading)
        self.vectors = MemoryVectors(log)
        self.compaction = Compaction(log, self.reading)
        self.replay = Replay(log, projector)
        self.translator = Translator(log, self.reading, self.changes)

    async def prepare(self, tenant: UUID) -> None:
        """Make the lens anew on first use if its code has changed; while another process does that, old rows serve."""
        with suppress(Conflict):
            await self.projector.make_current(tenant, LENS.name)

    # Searches calculate with numpy, which most commands start without.
    @cached_property
    def questions(self) -> "Questions":
        from mnemon.search.questions import Questions

        return Questions(self.log.database, self._embedder_of)

    @cached_property
    def semantic(self) -> "Semantic":
        from mnemon.memory.semantic import Semantic

        return Semantic(self.reading, self.questions)

    @cached_property
    def search(self) -> "Search":
        from mnemon.memory.search import Search

        return Search(self.reading, self.questions)

    def follower(self) -> MemoryFollower:
        """What translates items and makes vectors in the background, while it is open."""
        return MemoryFollower(self.log, self.translator, self.vectors, self.embedder)

    @staticmethod
    def place(tenant: UUID, world_id: UUID | None = None, branch: str | None = None) -> Place:
        """A tenant's default world carries the tenant's own id."""
        return Place(world_id or tenant, branch or MAIN)

    @cached_property
    def embedder(self) -> "Embedder | None":
        return self._embedder() if self._embedder else None

    def _embedder_of(self, model_id: str) -> "Embedder | None":
        return self.embedder if self.embedder and self.embedder.model_id == model_id else None

    def _vector_meta(self) -> dict[str, Any] | None:
        """Which model the vectors of a new text are meant to come from."""
        if self.embedder is None or self.embedder.dimension is None:
            return None
        name, _, version = self.embedder.model_id.partition("@")
        meta = {"model_id": self.embedder.model_id, "template_id": TEMPLATE, "embed_dim": self.embedder.dimension}
        return meta | ({"model_version": version} if version else {"model_version": name})
