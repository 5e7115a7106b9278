"""The graph of memory objects: lineage, neighbourhood, paths, integrity and cycles, in a branch, now or earlier.

Traversals go level by level, one query each, and show only objects that the branch shows: what is deleted is neither
found nor passed through.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.access import ANYONE, Reader
from mnemon.memory.graphs.cycles import cycles_among
from mnemon.memory.graphs.relations import EdgeKind
from mnemon.memory.objects import Place
from mnemon.memory.reading import AsOf, Reading, not_found
from mnemon.memory.sharing.hidden import hidden_objects
from mnemon.memory.views import View

EdgeDirection = Literal["out", "in", "both"]
LINEAGE: tuple[EdgeKind, ...] = ("SUPERSEDED_BY", "DERIVES_FROM")
DEEPEST = 20
MOST_NODES = 5_000

EDGES = """
SELECT DISTINCT e.kind, e.source_id, e.target_id, e.target, e.properties, e.owner_id FROM mnemon.emo_graph_edges e
 WHERE e.tenant_id = %(tenant)s AND e.world_id = %(world)s AND {ends}
   AND (%(kinds)s::text[] IS NULL OR e.kind = ANY (%(kinds)s)) AND {shown}
"""
# Explanations pile up along the line of branches: taking an object over does not undo why it came to be.
EXPLAINED = """
    OR e.kind = 'EXPLAINED_BY' AND EXISTS (
        SELECT FROM unnest(%(branches)s::text[], %(bounds)s::bigint[]) AS line (branch, bound)
         WHERE e.branch = line.branch AND e.since <= line.bound AND e.until > line.bound)
"""
ENDS = {
    "out": "e.source_id = ANY (%(ids)s)",
    "in": "e.target_id = ANY (%(ids)s)",
    "both": "(e.source_id = ANY (%(ids)s) OR e.target_id = ANY (%(ids)s))",
    "all": "true",
}
NODES = """
SELECT n.emo_id, n.emo_type, n.emo_version, n.tags, n.deleted FROM mnemon.emo_graph_nodes n
 WHERE n.tenant_id = %(tenant)s AND n.world_id = %(world)s AND (%(ids)s::uuid[] IS NULL OR n.emo_id = ANY (%(ids)s))
   AND {shown}
"""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An object as a node."""

    emo_id: UUID
    emo_type: str
    emo_version: int
    tags: Sequence[str]
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation between two nodes, or from a node to a facet, a reason or an address outside."""

    kind: EdgeKind
    source_id: UUID
    target_id: UUID | None
    target: str | None
    properties: Mapping[str, Any] = field(compare=False, hash=False)


@dataclass(frozen=True, slots=True)
class Graph:
    """A part of the graph, or all of it; `distances` counts steps from where a traversal began."""

    name: str
    nodes: Mapping[UUID, GraphNode]
    edges: Sequence[GraphEdge]
    distances: Mapping[UUID, int] = field(default_factory=dict)
    cut_short: bool = False


class Graphs:
    """The graphs of all worlds and branches."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    async def lineage(
        self, tenant: UUID, place: Place, emo_id: UUID, *, depth: int = DEEPEST, as_of: AsOf = None,
        reader: Reader = ANYONE,
    ) -> Graph:  # fmt: skip
        """What the object came from and what came of it, through any number of supersessions and derivations."""
        return await self.neighbourhood(tenant, place, emo_id, kinds=LINEAGE, depth=depth, as_of=as_of, reader=reader)

    async def neighbourhood(
        self,
        tenant: UUID,
        place: Place,
        emo_id: UUID,
        *,
        depth: int = 1,
        direction: EdgeDirection = "both",
        kinds: Sequence[EdgeKind] | None = None,
        as_of: AsOf = None,
        reader: Reader = ANYONE,
    ) -> Graph:
        async with self._reading.transaction(tenant, reader) as connection:
            view = await self._reading.view_of_all(connection, tenant, place, as_of)
            nodes = await _nodes_in(connection, view, [emo_id])
            if emo_id not in nodes:
                raise not_found(place, emo_id, as_of)
            distances = {emo_id: 0}
            edges: dict[GraphEdge, None] = {}
            edge_of_known = [emo_id]
            for distance in range(1, depth + 1):
                found = await _edges_in(connection, view, edge_of_known, direction, kinds)
                far = {end for edge in found for end in (edge.source_id, edge.target_id) if end and end not in nodes}
                shown = await _nodes_in(connection, view, sorted(far))
                nodes |= shown
                distances |= dict.fromkeys(shown, distance)
                edges |= dict.fromkeys(edge for edge in found if _is_shown(edge, nodes))
                edge_of_known = list(shown)
                if not shown or len(nodes) > MOST_NODES:
                    break
        return Graph(place.graph, nodes, list(edges), distances, len(nodes) > MOST_NODES)

    async def path(
        self,
        tenant: UUID,
        place: Place,
        start: UUID,
        goal: UUID,
        *,
        kinds: Sequence[EdgeKind] | None = None,
        as_of: AsOf = None,
        depth: int = DEEPEST,
        reader: Reader = ANYONE,
    ) -> Graph | None:
        """One of the shortest ways between two objects, whichever way its edges point; None if there is none."""
        around = await self.neighbourhood(tenant, place, start, depth=depth, kinds=kinds, as_of=as_of, reader=reader)
        if goal not in around.nodes:
            return None
        beside: dict[UUID, list[tuple[UUID, GraphEdge]]] = {}
        for edge in around.edges:
            if edge.target_id is not None:
                beside.setdefault(edge.source_id, []).append((edge.target_id, edge))
                beside.setdefault(edge.target_id, []).append((edge.source_id, edge))
        steps, edges = [goal], []
        while steps[-1] != start:
            here = around.distances[steps[-1]]
            closer, edge = min(
                (one for one in beside[steps[-1]] if around.distances[one[0]] == here - 1), key=lambda one: one[0]
            )
            steps.append(closer)
            edges.append(edge)
        steps.reverse()
        return Graph(
            place.graph,
            {emo_id: around.nodes[emo_id] for emo_id in steps},
            edges[::-1],
            {emo_id: number for number, emo_id in enumerate(steps)},
        )

    async def whole(self, tenant: UUID, place: Place, *, as_of: AsOf = None, reader: Reader = ANYONE) -> Graph:
        """Everything that the branch shows."""
        async with self._reading.transaction(tenant, reader) as connection:
            view = await self._reading.view_of_all(connection, tenant, place, as_of)
            nodes = await _nodes_in(connection, view, None)
            edges = await _edges_in(connection, view, None, "both", None)
        return Graph(place.graph, nodes, [edge for edge in edges if _is_shown(edge, nodes)])

    async def integrity(self, tenant: UUID, place: Place, reader: Reader = ANYONE) -> list[GraphEdge]:
        """Lineage edges that lead to something deleted, or to nothing that the branch shows."""
        async with self._reading.transaction(tenant, reader) as connection:
            view, _ = await self._reading.view_in(connection, tenant, place)
            nodes = await _all_nodes_in(connection, view, None)
            hidden = await hidden_objects(connection, place.world_id)
            rows = await _edge_rows_in(connection, view, None, "both", LINEAGE)
        owned = {_edge(row): row["owner_id"] for row in rows}
        broken = [edge for edge, owner in owned.items() if owner in nodes and not _is_shown(edge, nodes)]
        return [edge for edge in broken if not hidden & {edge.source_id, edge.target_id}]

    async def cycles(self, tenant: UUID, place: Place, reader: Reader = ANYONE) -> list[list[UUID]]:
        """Groups of objects that came from each other in a circle."""
        graph = await self.whole(tenant, place, reader=reader)
        lineage: dict[UUID, list[UUID]] = {}
        for edge in graph.edges:
            if edge.kind in LINEAGE and edge.target_id is not None:
                # Both kinds turned the same way: from the newer to what it came from.
                newer, older = (
                    (edge.source_id, edge.target_id)
                    if edge.kind == "DERIVES_FROM"
                    else (edge.target_id, edge.source_id)
                )
                lineage.setdefault(newer, []).append(older)
        return cycles_among(lineage)


async def _nodes_in(connection: Connection, view: View, ids: Iterable[UUID] | None) -> dict[UUID, GraphNode]:
    """Those of them that are for the reader of the transaction."""
    nodes = await _all_nodes_in(connection, view, ids)
    hidden = await hidden_objects(connection, view.place.world_id, nodes) if nodes else set()
    return {emo_id: node for emo_id, node in nodes.items() if emo_id not in hidden}


async def _all_nodes_in(connection: Connection, view: View, ids: Iterable[UUID] | None) -> dict[UUID, GraphNode]:
    """Those that the view shows and that are not deleted."""
    wanted = None if ids is None else list(ids)
    if wanted == []:
        return {}
    statement = NODES.format(shown=view.shows("n"))
    rows = await (await connection.execute(statement, view.values | {"ids": wanted})).fetchall()
    return {row["emo_id"]: GraphNode(**row) for row in rows if not row["deleted"]}


async def _edges_in(
    connection: Connection,
    view: View,
    ids: Sequence[UUID] | None,
    direction: EdgeDirection,
    kinds: Sequence[EdgeKind] | None,
) -> list[GraphEdge]:
    rows = await _edge_rows_in(connection, view, ids, direction, kinds)
    return list(dict.fromkeys(_edge(row) for row in rows))


async def _edge_rows_in(
    connection: Connection,
    view: View,
    ids: Sequence[UUID] | None,
    direction: EdgeDirection,
    kinds: Sequence[EdgeKind] | None,
) -> list[dict[str, Any]]:
    shown = view.shows("e", "owner_id")
    if len(view.line) > 1:
        shown = f"({shown} {EXPLAINED})"
    statement = EDGES.format(ends=ENDS["all" if ids is None else direction], shown=shown)
    values = view.values | {"ids": ids, "kinds": list(kinds) if kinds else None}
    return await (await connection.execute(statement, values)).fetchall()


def _edge(row: dict[str, Any]) -> GraphEdge:
    return GraphEdge(row["kind"], row["source_id"], row["target_id"], row["target"], row["properties"])


def _is_shown(edge: GraphEdge, nodes: Mapping[UUID, GraphNode]) -> bool:
    return edge.source_id in nodes and (edge.target_id is None or edge.target_id in nodes)
