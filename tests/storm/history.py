"""What clients saw, and whether one order of events explains all of it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Write:
    """An acknowledged change of a key, from the first try to the acknowledgement, by the client's own clock."""

    key: str
    unit: str
    version: int
    sequence: int
    asked: float
    told: float


@dataclass(frozen=True)
class Read:
    """How many changes of a key a reader was shown."""

    key: str
    version: int
    asked: float
    told: float


@dataclass
class History:
    """A ledger of everything that was acknowledged."""

    writes: list[Write] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)


@dataclass(frozen=True)
class Stored:
    """An event as the log has it in the end."""

    sequence: int
    unit: str | None
    key: str | None


@dataclass(frozen=True)
class HistoryVerdict:
    lost: list[str]
    doubled: list[str]
    broken: list[str]


def judge(history: History, log: Sequence[Stored]) -> HistoryVerdict:
    """Nothing lost, nothing twice, no gap, and per key an order that agrees with what every client was told, when."""
    by_unit = defaultdict(list)
    for event in log:
        if event.unit is not None:
            by_unit[event.unit].append(event)
    lost = [one.unit for one in history.writes if one.unit not in by_unit]
    doubled = [unit for unit, events in by_unit.items() if len(events) > 1]
    broken = [*_gaps(log), *_moved(history, by_unit), *_versions(history, log), *_order(history)]
    return HistoryVerdict(lost, doubled, broken)


def _gaps(log: Sequence[Stored]) -> Iterable[str]:
    for place, event in enumerate(log, 1):
        if event.sequence != place:
            yield f"sequence {event.sequence} stands where {place} should"
            return


def _moved(history: History, by_unit: dict[str, list[Stored]]) -> Iterable[str]:
    for one in history.writes:
        if one.unit in by_unit and by_unit[one.unit][0].sequence != one.sequence:
            yield f"{one.unit} was acknowledged at {one.sequence} and is at {by_unit[one.unit][0].sequence}"


def _versions(history: History, log: Sequence[Stored]) -> Iterable[str]:
    """The version that was acknowledged is the number of changes of the key up to there."""
    numbers: dict[str, int] = {}
    counts: dict[str, int] = defaultdict(int)
    for event in log:
        if event.key is not None and event.unit is not None:
            counts[event.key] += 1
            numbers[event.unit] = counts[event.key]
    for one in history.writes:
        if one.unit in numbers and numbers[one.unit] != one.version:
            yield f"{one.unit} was acknowledged as version {one.version} of {one.key} and is {numbers[one.unit]}"


def _order(history: History) -> Iterable[str]:
    """Linearizable: who was told before another asked comes before them; a reader sees what was told by then."""
    keys = {one.key for one in history.writes} | {one.key for one in history.reads}
    for key in sorted(keys):
        told = sorted((one for one in history.writes if one.key == key), key=lambda one: one.told)
        for one in history.writes:
            if one.key == key and (before := _newest(told, one.asked)) >= one.version:
                yield f"version {one.version} of {key} was asked for after {before} was told"
        for seen in history.reads:
            if seen.key == key and (before := _newest(told, seen.asked)) > seen.version:
                yield f"a reader of {key} saw {seen.version} after {before} was told"
        reads = sorted((one for one in history.reads if one.key == key), key=lambda one: one.told)
        newest = 0
        waiting = list(reads)
        for seen in sorted(reads, key=lambda one: one.asked):
            while waiting and waiting[0].told < seen.asked:
                newest = max(newest, waiting.pop(0).version)
            if seen.version < newest:
                yield f"a reader of {key} saw {seen.version} after another had seen {newest}"


def _newest(told: Sequence[Write], before: float) -> int:
    newest = 0
    for one in told:
        if one.told >= before:
            break
        newest = max(newest, one.version)
    return newest
