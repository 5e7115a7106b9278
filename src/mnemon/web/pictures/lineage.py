"""The picture of what led to an event and what followed: one line each, a branch for each that several came of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ROW, STEP, LEFT, TOP = 34.0, 24.0, 12.0, 18.0
DEEPEST_DRAWN = 10
MOST_DRAWN = 60


@dataclass(frozen=True)
class LineageNode:
    """One event: where it stands, and the curve from what caused it."""

    event: Mapping[str, Any]
    x: float
    y: float
    path: str
    is_here: bool


@dataclass(frozen=True)
class LineagePicture:
    nodes: Sequence[LineageNode]
    height: float
    # Where the words begin: right of the deepest event.
    words: float


def lineage_picture(here: str, events: Sequence[Mapping[str, Any]]) -> LineagePicture | None:
    """None where the event stands alone. Each event below its cause, further in where several came of one."""
    shown = list({one["id"]: one for one in events}.values())[:MOST_DRAWN]
    if len(shown) < 2:
        return None
    known = {one["id"]: one for one in shown}
    below: dict[str | None, list[Mapping[str, Any]]] = {}
    for one in shown:
        cause = one.get("caused_by")
        below.setdefault(cause if cause in known else None, []).append(one)
    nodes: list[LineageNode] = []
    places: dict[str, tuple[float, float]] = {}
    waiting = [(one, 0) for one in reversed(below.get(None, []))]
    while waiting:
        one, depth = waiting.pop()
        x, y = LEFT + min(depth, DEEPEST_DRAWN) * STEP, TOP + len(nodes) * ROW
        places[one["id"]] = (x, y)
        nodes.append(LineageNode(one, x, y, _curve(places.get(one.get("caused_by") or ""), x, y), one["id"] == here))
        following = below.get(one["id"], [])
        inward = depth + (len(following) > 1)
        waiting += [(each, inward) for each in reversed(following)]
    return LineagePicture(nodes, TOP + len(nodes) * ROW, max(one.x for one in nodes) + 16)


def _curve(cause: tuple[float, float] | None, x: float, y: float) -> str:
    if cause is None:
        return ""
    return f"M{cause[0]} {cause[1]}C{cause[0]} {y - 6} {cause[0]} {y} {x} {y}"
