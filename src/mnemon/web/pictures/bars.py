"""Bars beside their names: how many of each."""

from collections.abc import Mapping
from dataclasses import dataclass

WIDTH = 120.0


@dataclass(frozen=True)
class Bar:
    """One bar: how long it is drawn, and whether it speaks for, against or neither."""

    name: str
    count: int
    width: float
    side: str


def bars_of(counts: Mapping[str, int]) -> list[Bar]:
    most = max(counts.values(), default=0)
    return [Bar(name, count, round(WIDTH * count / most, 1), _side(name)) for name, count in counts.items()]


def _side(value: str) -> str:
    return "for" if value.startswith("+") and value != "+0" else "against" if value.startswith("-1") else "neither"
