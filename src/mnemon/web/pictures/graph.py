"""The picture of a graph: the most tied in the middle, what is tied to it around it, ring by ring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from mnemon.memory.operations.graph import GraphOut

WIDTH, HEIGHT = 760.0, 440.0
MOST_DRAWN = 60
LONGEST_LABEL = 24
# Of a few, more words have room.
FEW, LONGEST_OF_FEW = 8, 38
# About so wide is a letter.
LETTER = 7.5
# Why each version came to be would hide what is tied: the table and the history tell it.
NOT_DRAWN = ("EXPLAINED_BY",)


@dataclass(frozen=True)
class DrawnNode:
    """An object, or what lies outside memory: then it has no page of its own."""

    name: str
    label: str
    words: str
    x: float
    y: float
    kind: str
    # On the left half the words end at the node, so that they do not cross the middle.
    leftward: bool


@dataclass(frozen=True)
class DrawnEdge:
    x1: float
    y1: float
    x2: float
    y2: float
    kind: str


@dataclass(frozen=True)
class GraphPicture:
    nodes: Sequence[DrawnNode]
    edges: Sequence[DrawnEdge]
    left_out: int
    # What of the plane is in use.
    left: float
    top: float
    width: float
    height: float


def graph_picture(graph: GraphOut, words: Mapping[str, str]) -> GraphPicture | None:
    """None where nothing is tied to anything: a list says that better."""
    kinds = {str(one.emo_id): one.emo_type for one in graph.nodes}
    ties: dict[str, set[str]] = {}
    drawn = [one for one in graph.edges if one.kind not in NOT_DRAWN]
    for edge in drawn:
        ties.setdefault(edge.source, set()).add(edge.target)
        ties.setdefault(edge.target, set()).add(edge.source)
    if not ties:
        return None
    rings = _rings(ties)
    places = {name: place for ring, names in enumerate(rings) for name, place in _around(names, ring, len(rings))}
    longest = LONGEST_OF_FEW if len(places) <= FEW else LONGEST_LABEL
    nodes = [
        DrawnNode(
            name, _short(words.get(name) or kinds.get(name) or name, longest), words.get(name) or name, *place,
            kinds.get(name, "outside"), place[0] < WIDTH / 2 - 1,
        )
        for name, place in places.items()
    ]  # fmt: skip
    edges = [
        DrawnEdge(*places[one.source], *places[one.target], one.kind)
        for one in drawn
        if one.source in places and one.target in places
    ]
    return GraphPicture(nodes, edges, len(ties) - len(places), *_frame(nodes))


def _frame(nodes: Sequence[DrawnNode]) -> tuple[float, float, float, float]:
    """Around the nodes and their words."""
    ends = [one.x + (-1 if one.leftward else 1) * (14 + LETTER * len(one.label)) for one in nodes]
    left, right = (round(pick([*ends, *(one.x for one in nodes)])) for pick in (min, max))
    top, bottom = (round(pick(one.y for one in nodes)) for pick in (min, max))
    return left - 10, top - 40, right - left + 20, bottom - top + 80


def _rings(ties: Mapping[str, set[str]]) -> list[list[str]]:
    """From the most tied outward; parts that are tied to nothing in the middle come in rings after it."""
    waiting = sorted(ties, key=lambda name: (-len(ties[name]), name))
    placed: set[str] = set()
    rings: list[list[str]] = [[waiting[0]]]
    placed.add(waiting[0])
    while len(placed) < min(len(ties), MOST_DRAWN):
        near = [name for inner in rings[-1] for name in sorted(ties[inner]) if name not in placed]
        ring = list(dict.fromkeys(near)) or [name for name in waiting if name not in placed][:8]
        ring = ring[: MOST_DRAWN - len(placed)]
        rings.append(ring)
        placed.update(ring)
    return rings


def _around(names: Sequence[str], ring: int, rings: int) -> list[tuple[str, tuple[float, float]]]:
    reach = ring / max(rings - 1, 1)
    wide, high = (WIDTH / 2 - 180) * reach, (HEIGHT / 2 - 24) * reach
    turn = [pi / 7 * ring + 2 * pi * at / len(names) for at in range(len(names))]
    return [
        (name, (round(WIDTH / 2 + wide * cos(angle), 1), round(HEIGHT / 2 + high * sin(angle), 1)))
        for name, angle in zip(names, turn, strict=True)
    ]


def _short(words: str, longest: int) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"
