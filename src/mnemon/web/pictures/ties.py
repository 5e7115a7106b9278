"""Two columns of names and the ties between them, the thicker the more they share."""

from collections.abc import Sequence
from dataclasses import dataclass

LEFT, RIGHT, WIDTH = 160.0, 300.0, 460.0
ROW, TOP = 26.0, 16.0
MOST_LEFT, MOST_RIGHT = 14, 16
LONGEST_NAME = 20


@dataclass(frozen=True)
class TiedName:
    """A name beside its column: what of it fits, and how many events it has in all."""

    name: str
    shown: str
    y: float
    events: int


@dataclass(frozen=True)
class Tie:
    """A curve from a name on the left to one on the right."""

    left: str
    right: str
    path: str
    width: float
    events: int


@dataclass(frozen=True)
class TiesPicture:
    left: Sequence[TiedName]
    right: Sequence[TiedName]
    ties: Sequence[Tie]
    height: float


def ties_picture(pairs: Sequence[tuple[str, str, int]]) -> TiesPicture | None:
    """The busiest names on both sides; what does not fit stands in the table."""
    left = _busiest([(one, events) for one, _, events in pairs], MOST_LEFT)
    shown = [pair for pair in pairs if pair[0] in left]
    right = _busiest([(other, events) for _, other, events in shown], MOST_RIGHT)
    shown = [pair for pair in shown if pair[1] in right]
    if not shown:
        return None
    left = {name: events for name, events in left.items() if any(pair[0] == name for pair in shown)}
    rows = max(len(left), len(right))
    on_left, on_right = _placed(left, rows), _placed(_near(right, shown, list(left)), rows)
    y_left, y_right = ({one.name: one.y for one in side} for side in (on_left, on_right))
    most = max(events for _, _, events in shown)
    middle = (LEFT + RIGHT) / 2
    ties = [
        Tie(
            one, other,
            f"M{LEFT} {y_left[one]}C{middle} {y_left[one]} {middle} {y_right[other]} {RIGHT} {y_right[other]}",
            round(1.2 + 6 * events / most, 1), events,
        )
        for one, other, events in shown
    ]  # fmt: skip
    return TiesPicture(on_left, on_right, ties, TOP + rows * ROW)


def _busiest(counted: Sequence[tuple[str, int]], most: int) -> dict[str, int]:
    sums: dict[str, int] = {}
    for name, events in counted:
        sums[name] = sums.get(name, 0) + events
    return dict(sorted(sums.items(), key=lambda one: (-one[1], one[0]))[:most])


def _near(names: dict[str, int], pairs: Sequence[tuple[str, str, int]], left: Sequence[str]) -> dict[str, int]:
    """In the order of those whom they are tied to, so that few curves cross."""

    def place(name: str) -> float:
        own = [(left.index(one), events) for one, other, events in pairs if other == name]
        return sum(at * events for at, events in own) / sum(events for _, events in own)

    return {name: names[name] for name in sorted(names, key=lambda one: (place(one), one))}


def _placed(names: dict[str, int], rows: int) -> list[TiedName]:
    """Spread over the height of the longer side."""
    step = rows * ROW / len(names)
    return [
        TiedName(name, _short(name), round(TOP + (at + 0.5) * step - ROW / 2 + 6, 1), events)
        for at, (name, events) in enumerate(names.items())
    ]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1].rstrip()}…"
