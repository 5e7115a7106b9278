"""The picture of how events lie in time: a column for each day, week or month, stacked by category."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from mnemon.semantics.outputs import EventDensity

WIDTH, HEIGHT = 1000.0, 120.0
MOST_COLUMNS = 80
# From the bottom up: what people look for first stands on the ground.
ORDER = (
    "Decision", "Commitment", "QualityRisk", "Change", "Execution", "Feedback", "Collaboration", "Stakeholder",
)  # fmt: skip
DAYS = {"day": 1, "week": 7}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
NAMES = {"day": "%-d %b %Y", "week": "week of %-d %b %Y", "month": "%B %Y", "quarter": "%B %Y", "year": "%Y"}


@dataclass(frozen=True)
class Stack:
    """One category in one column."""

    category: str
    events: int
    top: float
    height: float


@dataclass(frozen=True)
class TimeColumn:
    """One unit of time: what stands in it, and the first and last day that its link asks for."""

    name: str
    first: date
    last: date
    left: float
    width: float
    stacks: Sequence[Stack]

    @property
    def events(self) -> int:
        return sum(one.events for one in self.stacks)


@dataclass(frozen=True)
class DensityPicture:
    """The columns, the most that one of them holds, and the number of each category."""

    unit: str
    columns: Sequence[TimeColumn]
    most: int
    categories: Sequence[tuple[str, int]]
    counted: int
    complete: bool

    @property
    def first(self) -> date:
        return self.columns[0].first

    @property
    def last(self) -> date:
        return self.columns[-1].last

    @property
    def days(self) -> int:
        return (self.last - self.first).days


def density_picture(density: EventDensity) -> DensityPicture | None:
    """None where there is nothing to draw. Gaps are drawn as gaps; of very many columns, the latest."""
    if not density.counts:
        return None
    by_day: dict[date, dict[str, int]] = {}
    for one in density.counts:
        by_day.setdefault(_day(one.since), {})[one.category] = one.events
    days = [min(by_day)]
    while days[-1] < max(by_day):
        days.append(following(days[-1], density.unit))
    days = days[-MOST_COLUMNS:]
    most = max(sum(by_day.get(day, {}).values()) for day in days)
    step = WIDTH / len(days)
    columns = [
        TimeColumn(
            f"{day:{NAMES[density.unit]}}", day, following(day, density.unit) - timedelta(days=1),
            round(at * step, 2), round(max(step - min(4.0, step / 5), 1.0), 2), _stacks(by_day.get(day, {}), most),
        )
        for at, day in enumerate(days)
    ]  # fmt: skip
    totals = [(name, sum(each.get(name, 0) for each in by_day.values())) for name in ORDER]
    return DensityPicture(
        density.unit, columns, most, [one for one in totals if one[1]], density.counted, density.complete
    )


def following(day: date, unit: str) -> date:
    """The first day of the next unit."""
    if unit in DAYS:
        return day + timedelta(days=DAYS[unit])
    months = day.year * 12 + day.month - 1 + MONTHS[unit]
    return date(months // 12, months % 12 + 1, 1)


def _stacks(counts: dict[str, int], most: int) -> list[Stack]:
    stacks, ground = [], HEIGHT
    for name in ORDER:
        if events := counts.get(name, 0):
            height = HEIGHT * events / most
            ground -= height
            stacks.append(Stack(name, events, round(ground, 2), round(height, 2)))
    return stacks


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
