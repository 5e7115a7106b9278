"""Lineage, neighbours, paths and cycles, and what of them a deletion hides."""

import xml.etree.ElementTree as ElementTree
from uuid import UUID

import pytest

from mnemon.memory.errors import MemoryNotFound
from mnemon.memory.gateway import Memory
from mnemon.memory.graphs.cycles import cycles_among
from mnemon.memory.graphs.graph_export import as_graphml, as_mermaid
from mnemon.memory.objects import Link, Parent, Place
from tests.memory.conftest import ADA


async def chain(memory: Memory, tenant: UUID, place: Place, length: int) -> list[UUID]:
    """Each supersedes the one before it."""
    made: list[UUID] = []
    for number in range(length):
        parents = [Parent(made[-1], "supersedes")] if made else []
        made.append(
            (await memory.changes.create(tenant, place, ADA, content=f"{number}", parents=parents)).object.emo_id
        )
    return made


def test_the_graph_of_a_branch_has_the_documented_name() -> None:
    world = UUID("550e8400-e29b-41d4-a716-446655440001")
    assert Place(world).graph == "emo_550e8400_main"
    assert Place(world, "try-1.2").graph == "emo_550e8400_try_1_2"


async def test_lineage_goes_back_and_forth_through_every_step(memory: Memory, tenant: UUID, place: Place) -> None:
    made = await chain(memory, tenant, place, 5)
    lineage = await memory.graph.lineage(tenant, place, made[2])
    assert set(lineage.nodes) == set(made)
    assert {lineage.distances[one] for one in made} == {0, 1, 2}
    assert [
        (edge.kind, edge.source_id, edge.target_id)
        for edge in sorted(lineage.edges, key=lambda one: made.index(one.source_id))
    ] == [("SUPERSEDED_BY", made[n], made[n + 1]) for n in range(4)]


async def test_every_kind_of_edge_is_there(memory: Memory, tenant: UUID, place: Place) -> None:
    first, second = await chain(memory, tenant, place, 2)
    await memory.changes.link(
        tenant, place, ADA, second,
        parents=[Parent(first, "derived")], links=[Link("uri", "https://example.org"), Link("emo", str(first))],
    )  # fmt: skip
    await memory.changes.set_facet(tenant, place, ADA, second, "summary", "x")
    changed = await memory.changes.update(tenant, place, ADA, second, content="new", rationale="because")
    near = await memory.graph.neighbourhood(tenant, place, second)
    assert {(edge.kind, str(edge.target_id or edge.target)) for edge in near.edges} == {
        ("SUPERSEDED_BY", str(second)),
        ("DERIVES_FROM", str(first)),
        ("LINKS_TO", str(first)),
        ("LINKS_TO", "https://example.org"),
        ("HAS_FACET", "facet:summary"),
        ("EXPLAINED_BY", f"change:{changed.change_id}"),
    }


async def test_a_deleted_object_is_neither_found_nor_passed_through(memory: Memory, tenant: UUID, place: Place) -> None:
    made = await chain(memory, tenant, place, 5)
    await memory.changes.delete(tenant, place, ADA, made[2])
    assert set((await memory.graph.lineage(tenant, place, made[0])).nodes) == set(made[:2])
    assert await memory.graph.path(tenant, place, made[0], made[4]) is None
    assert set((await memory.graph.whole(tenant, place)).nodes) == {*made[:2], *made[3:]}
    with pytest.raises(MemoryNotFound):
        await memory.graph.lineage(tenant, place, made[2])
    broken = await memory.graph.integrity(tenant, place)
    assert [(edge.source_id, edge.target_id) for edge in broken] == [(made[2], made[3])]
    await memory.changes.restore(tenant, place, ADA, made[2])
    assert set((await memory.graph.lineage(tenant, place, made[0])).nodes) == set(made)
    assert await memory.graph.integrity(tenant, place) == []


async def test_a_path_is_one_of_the_shortest(memory: Memory, tenant: UUID, place: Place) -> None:
    made = await chain(memory, tenant, place, 6)
    await memory.changes.link(tenant, place, ADA, made[1], links=[Link("emo", str(made[4]))])
    path = await memory.graph.path(tenant, place, made[0], made[5])
    assert path is not None
    assert list(path.nodes) == [made[0], made[1], made[4], made[5]]
    assert [edge.kind for edge in path.edges] == ["SUPERSEDED_BY", "LINKS_TO", "SUPERSEDED_BY"]


async def test_the_graph_is_shown_as_it_was(memory: Memory, tenant: UUID, place: Place) -> None:
    made = await chain(memory, tenant, place, 3)
    before = (await memory.reading.get(tenant, place, made[1])).object.sequence
    assert set((await memory.graph.lineage(tenant, place, made[0], as_of=before)).nodes) == set(made[:2])


async def test_circles_are_reported(memory: Memory, tenant: UUID, place: Place) -> None:
    made = await chain(memory, tenant, place, 3)
    assert await memory.graph.cycles(tenant, place) == []
    await memory.changes.link(tenant, place, ADA, made[0], parents=[Parent(made[2], "derived")])
    [circle] = await memory.graph.cycles(tenant, place)
    assert set(circle) == set(made)


def test_cycles_of_a_long_chain_need_no_deep_stack() -> None:
    edges = {n: [n + 1] for n in range(20_000)}
    assert cycles_among(edges) == []
    edges[20_000] = [0]
    assert len(cycles_among(edges)[0]) == 20_001
    assert cycles_among({1: [1], 2: [1]}) == [[1]]


async def test_exports_name_every_node_and_edge(memory: Memory, tenant: UUID, place: Place) -> None:
    made = await chain(memory, tenant, place, 2)
    await memory.changes.link(tenant, place, ADA, made[0], links=[Link("uri", 'https://example.org/?a="1"&b=<2>')])
    graph = await memory.graph.whole(tenant, place)
    root = ElementTree.fromstring(as_graphml(graph))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(root.findall(f".//{space}node")) == 3
    assert {edge.get("target") for edge in root.findall(f".//{space}edge")} == {
        str(made[1]),
        'https://example.org/?a="1"&b=<2>',
    }
    mermaid = as_mermaid(graph)
    assert mermaid.startswith("flowchart LR\n")
    assert mermaid.count("-->|") == 2 and mermaid.count("|SUPERSEDED_BY|") == 1


async def test_exports_stay_whole_whatever_an_address_is_made_of(memory: Memory, tenant: UUID, place: Place) -> None:
    made = await chain(memory, tenant, place, 2)
    strange = [Link("uri", "https://example.org/\x01"), Link("uri", str(made[1]))]
    await memory.changes.link(tenant, place, ADA, made[0], links=strange)
    graph = await memory.graph.whole(tenant, place)
    root = ElementTree.fromstring(as_graphml(graph))
    names = [node.get("id") for node in root.findall(".//{http://graphml.graphdrawing.org/xmlns}node")]
    assert len(names) == len(set(names)) == 4
    mermaid = as_mermaid(graph)
    assert len({line.split()[-1] for line in mermaid.splitlines() if "-->|" in line}) == 3
