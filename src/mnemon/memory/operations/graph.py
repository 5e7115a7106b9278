"""What a user may ask of the graph of memory: lineage, neighbours, paths, the whole, and whether it is sound."""

from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from mnemon.documents.access import Reader
from mnemon.identity.roles import Action
from mnemon.inputs import Maybe
from mnemon.memory.errors import BranchNotFound, MemoryNotFound
from mnemon.memory.graphs.graph import DEEPEST, EdgeDirection, Graph, GraphEdge
from mnemon.memory.graphs.graph_export import as_graphml, as_mermaid
from mnemon.memory.graphs.relations import EdgeKind
from mnemon.memory.operations.object_inputs import AS_OF, AsOf, ObjectAsked, PlaceAsked
from mnemon.memory.operations.object_outputs import Told
from mnemon.memory.operations.objects import BY_PROGRAMS, FEW_TOOLS, NOT_THERE, ONE, Parts
from mnemon.operations import Caller, Output, operation

GraphFormat = Literal["json", "graphml", "mermaid"]
KINDS = Field(None, description="Only relations of these kinds.")
WRITERS = {"graphml": as_graphml, "mermaid": as_mermaid}


class LineageAsked(ObjectAsked):
    """How far lineage is followed."""

    depth: int = Field(DEEPEST, ge=1, le=DEEPEST, description="How many steps.")
    as_of: AsOf | None = AS_OF


class NeighboursAsked(ObjectAsked):
    """How far, and along what."""

    depth: int = Field(1, ge=1, le=DEEPEST, description="How many steps.")
    direction: EdgeDirection = Field("both", description="Along relations, against them, or both.")
    kinds: list[EdgeKind] | None = KINDS
    as_of: AsOf | None = AS_OF


class PathAsked(ObjectAsked):
    """From one object to another."""

    to: UUID = Field(description="The other object's id.")
    kinds: list[EdgeKind] | None = KINDS


class GraphAsked(PlaceAsked):
    """The whole graph of a branch, or a part of it."""

    emo_id: Maybe[UUID] = Field(None, description="Only what this object is related to.")
    depth: int = Field(2, ge=1, le=DEEPEST, description="How many steps around the object.")
    format: GraphFormat = Field("json", description="json, graphml or mermaid.")
    as_of: AsOf | None = Field(None, description="As of a log sequence, or of a moment.")


class NodeOut(Told):
    """An object as a node."""

    emo_id: UUID
    emo_type: str
    emo_version: int
    tags: list[str]
    deleted: bool
    distance: int | None = Field(None, description="Steps from where it was looked from.")


class EdgeOut(Output):
    """A relation: to another object, a facet, a reason or an address outside."""

    kind: EdgeKind
    source: str
    target: str
    properties: dict[str, Any]


class GraphOut(Output):
    """A part of the graph, or all of it."""

    graph: str
    nodes: list[NodeOut]
    edges: list[EdgeOut]
    cut_short: bool
    # As a text, where that was asked for.
    format: SkipJsonSchema[GraphFormat] = Field("json", exclude=True)
    text: SkipJsonSchema[str] = Field("", exclude=True)


class IntegrityOut(Output):
    """Relations that lead nowhere, and objects that came from each other in a circle."""

    invalid_relationships: int
    invalid_edges: list[EdgeOut]
    circular_count: int
    circular: list[list[UUID]]


@operation(
    "memory.lineage", Action.READ_MEMORY, read_only=True, errors=NOT_THERE, example=ONE, absent=BY_PROGRAMS
)  # fmt: skip
async def lineage(mnemon: Parts, caller: Caller, asked: LineageAsked) -> GraphOut:
    """What an object came from, and what came of it."""
    graph = mnemon.memory.graph
    place = asked.place(caller)
    return _out(
        await graph.lineage(
            caller.tenant_id, place, asked.emo_id, depth=asked.depth, as_of=asked.as_of, reader=_eyes(caller)
        )
    )


@operation(
    "memory.neighbours", Action.READ_MEMORY, read_only=True, errors=NOT_THERE, example={**ONE, "depth": 2},
    absent={**FEW_TOOLS, "command": "`memory graph ID` shows what is around an object."},
)  # fmt: skip
async def neighbours(mnemon: Parts, caller: Caller, asked: NeighboursAsked) -> GraphOut:
    """What an object is related to."""
    found = await mnemon.memory.graph.neighbourhood(
        caller.tenant_id, asked.place(caller), asked.emo_id,
        depth=asked.depth, direction=asked.direction, kinds=asked.kinds, as_of=asked.as_of, reader=_eyes(caller),
    )  # fmt: skip
    return _out(found)


@operation(
    "memory.path", Action.READ_MEMORY, read_only=True, errors=NOT_THERE, absent=BY_PROGRAMS,
    example={**ONE, "to": "018f4d1e-0000-7000-8000-000000000002"},
)  # fmt: skip
async def path(mnemon: Parts, caller: Caller, asked: PathAsked) -> GraphOut:
    """A shortest way from one object to another."""
    place = asked.place(caller)
    found = await mnemon.memory.graph.path(
        caller.tenant_id, place, asked.emo_id, asked.to, kinds=asked.kinds, reader=_eyes(caller)
    )
    if found is None:
        raise MemoryNotFound(
            f"No way of up to {DEEPEST} steps leads from {asked.emo_id} to {asked.to}.", emo_id=str(asked.to)
        )
    return _out(found)


@operation(
    "memory.graph", Action.READ_MEMORY, read_only=True, errors=NOT_THERE, absent=FEW_TOOLS,
    example={"format": "graphml"},
)  # fmt: skip
async def whole(mnemon: Parts, caller: Caller, asked: GraphAsked) -> GraphOut:
    """The graph of a branch, or of what is around one object, as JSON, GraphML or Mermaid."""
    graphs, here = mnemon.memory.graph, (caller.tenant_id, asked.place(caller))
    if asked.emo_id is None:
        found = await graphs.whole(*here, as_of=asked.as_of, reader=_eyes(caller))
    else:
        found = await graphs.neighbourhood(
            *here, asked.emo_id, depth=asked.depth, as_of=asked.as_of, reader=_eyes(caller)
        )
    if asked.format == "json":
        return _out(found)
    return _out(found).model_copy(update={"format": asked.format, "text": WRITERS[asked.format](found)})


@operation(
    "memory.integrity",
    Action.READ_MEMORY,
    read_only=True,
    errors=(BranchNotFound,),
    example={},
    absent=FEW_TOOLS,
)
async def integrity(mnemon: Parts, caller: Caller, asked: PlaceAsked) -> IntegrityOut:
    """Look for broken relations, and for objects that came from each other in a circle."""
    graphs, here = mnemon.memory.graph, (caller.tenant_id, asked.place(caller), _eyes(caller))
    broken, circles = await graphs.integrity(*here), await graphs.cycles(*here)
    return IntegrityOut(
        invalid_relationships=len(broken), invalid_edges=[_edge(one) for one in broken],
        circular_count=len(circles), circular=circles,
    )  # fmt: skip


def _eyes(caller: Caller) -> Reader:
    return Reader.of(caller.actor)


def _out(graph: Graph) -> GraphOut:
    nodes = [NodeOut.model_validate(node) for node in graph.nodes.values()]
    for node in nodes:
        if node.emo_id in graph.distances:
            node.distance = graph.distances[node.emo_id]
    edges = [_edge(one) for one in graph.edges]
    return GraphOut(graph=graph.name, nodes=nodes, edges=edges, cut_short=graph.cut_short)


def _edge(one: GraphEdge) -> EdgeOut:
    target = str(one.target_id or one.target)
    return EdgeOut(kind=one.kind, source=str(one.source_id), target=target, properties=dict(one.properties))
