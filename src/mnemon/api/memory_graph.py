"""The graph of memory over REST: lineage, neighbours, paths, integrity, cycles, and exports."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from mnemon.api.event_models import answer
from mnemon.api.memory_requests import AsOf, MemoryRoute, ReadingAsked
from mnemon.memory.errors import MemoryNotFound
from mnemon.memory.graph import DEEPEST, Direction
from mnemon.memory.graph_export import as_graphml, as_mermaid
from mnemon.memory.relations import EdgeKind

router = APIRouter(tags=["memory"], route_class=MemoryRoute)
Depth = Annotated[int, Query(ge=1, le=DEEPEST)]
Kinds = Annotated[list[EdgeKind] | None, Query(alias="kind", description="Only these; may be repeated.")]


class EdgeOut(BaseModel):
    kind: EdgeKind
    source: str
    target: str
    properties: dict[str, Any]


class GraphOut(BaseModel):
    graph: str
    nodes: list[dict[str, Any]]
    edges: list[EdgeOut]
    cut_short: bool


class IntegrityOut(BaseModel):
    invalid_relationships: int
    invalid_edges: list[EdgeOut]
    circular_count: int
    circular: list[list[UUID]]


@router.get("/memory/objects/{emo_id}/lineage", summary="What it came from, what came of it", response_model=GraphOut)
async def get_lineage(emo_id: UUID, asked: ReadingAsked, depth: Depth = DEEPEST, as_of: AsOf = None) -> dict[str, Any]:
    return (await asked.memory.graph.lineage(*asked.here, emo_id, depth=depth, as_of=as_of)).as_json()


@router.get("/memory/objects/{emo_id}/neighbours", summary="What it is related to", response_model=GraphOut)
async def get_neighbours(
    emo_id: UUID,
    asked: ReadingAsked,
    depth: Depth = 1,
    direction: Direction = "both",
    kinds: Kinds = None,
    as_of: AsOf = None,
) -> dict[str, Any]:
    found = await asked.memory.graph.neighbourhood(
        *asked.here, emo_id, depth=depth, direction=direction, kinds=kinds, as_of=as_of
    )
    return found.as_json()


@router.get("/memory/objects/{emo_id}/path", summary="A shortest way to another object", response_model=GraphOut)
async def get_path(emo_id: UUID, to: UUID, asked: ReadingAsked, kinds: Kinds = None) -> dict[str, Any]:
    found = await asked.memory.graph.path(*asked.here, emo_id, to, kinds=kinds)
    if found is None:
        raise MemoryNotFound(f"No way of up to {DEEPEST} steps leads from {emo_id} to {to}.", emo_id=str(to))
    return found.as_json()


@router.get("/memory/graph", summary="The graph of a branch, as JSON, GraphML or Mermaid", response_model=GraphOut)
async def get_graph(
    asked: ReadingAsked,
    form: Annotated[Literal["json", "graphml", "mermaid"], Query(alias="format")] = "json",
    as_of: AsOf = None,
) -> Response:
    graph = await asked.memory.graph.whole(*asked.here, as_of=as_of)
    if form == "graphml":
        return Response(as_graphml(graph), media_type="application/graphml+xml")
    if form == "mermaid":
        return Response(as_mermaid(graph), media_type="text/vnd.mermaid; charset=utf-8")
    return answer(graph.as_json())


@router.get("/memory/graph/integrity", summary="Broken relations and circles", response_model=IntegrityOut)
async def get_integrity(asked: ReadingAsked) -> dict[str, Any]:
    broken = await asked.memory.graph.integrity(*asked.here)
    circles = await asked.memory.graph.cycles(*asked.here)
    return {
        "invalid_relationships": len(broken),
        "invalid_edges": [edge.as_json() for edge in broken],
        "circular_count": len(circles),
        "circular": circles,
    }
