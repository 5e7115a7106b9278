"""The stages of a run as one line: how long each took, one after the other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WIDTH = 120.0
ENDING = "_ms"


@dataclass(frozen=True)
class Stage:
    """One stage: where it begins on the line and how long it is drawn."""

    name: str
    seconds: float
    left: float
    width: float


def stages_of(stats: Mapping[str, Any] | None) -> list[Stage]:
    """In the order in which they were done; none where nothing was timed."""
    told = {name.removesuffix(ENDING): value for name, value in (stats or {}).items() if name.endswith(ENDING)}
    taken = {name: value for name, value in told.items() if isinstance(value, int) and value > 0}
    whole = sum(taken.values())
    stages, left = [], 0.0
    for name, value in taken.items():
        width = WIDTH * value / whole
        stages.append(Stage(name.replace("_", " "), value / 1000, round(left, 1), round(width, 1)))
        left += width
    return stages
