"""Diffs of text: structured, small, and good in both directions."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

FORMAT = "lines/1"
# Comparisons that a search for a smaller diff may cost. Lines that repeat make it cubic, and all others wait for it.
MOST_STEPS = 3_000_000

Diff = dict[str, Any]
Hunk = tuple[int, int, int, int]


def diff_texts(old: str, new: str) -> Diff:
    """`{"format": "lines/1", "hunks": [{"line": n, "removed": […], "added": […]}]}`; lines count from 0 in the old."""
    before, after = _lines(old), _lines(new)
    hunks = [
        {"line": start, "removed": before[start:stop], "added": after[low:high]}
        for start, stop, low, high in changes(before, after)
    ]
    return {"format": FORMAT, "hunks": hunks}


def changes(before: Sequence[str], after: Sequence[str]) -> list[Hunk]:
    """Where the two differ: (start, stop) in the one and in the other."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle, other = before[head : len(before) - tail], after[head : len(after) - tail]
    return [(head + i1, head + i2, head + j1, head + j2) for i1, i2, j1, j2 in _differing(middle, other)]


def _differing(before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """Between lines that each side has once, which are sure to match, the smallest diff that can be found in time."""
    left, start, low = MOST_STEPS, 0, 0
    for stop, high in [*_anchors(before, after), (len(before), len(after))]:
        gap, other = before[start:stop], after[low:high]
        steps = _steps(gap, other)
        if gap and other and steps <= left:
            left -= steps
            matcher = SequenceMatcher(None, gap, other, autojunk=False)
            yield from (
                (start + i1, start + i2, low + j1, low + j2)
                for tag, i1, i2, j1, j2 in matcher.get_opcodes()
                if tag != "equal"
            )
        elif gap or other:
            yield start, stop, low, high
        start, low = stop + 1, high + 1


def _steps(before: Sequence[str], after: Sequence[str]) -> int:
    """The most that a search can cost: each pair of equal lines, once for every block that is found."""
    counts = Counter(after)
    pairs = sum(number * counts[line] for line, number in Counter(before).items())
    return pairs * min(len(before), len(after), pairs)


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that both sides have exactly once, as many as stand in the same order on both."""
    here, there = Counter(before), Counter(after)
    places = {line: place for place, line in enumerate(after) if there[line] == 1}
    pairs = [(place, places[line]) for place, line in enumerate(before) if here[line] == 1 and line in places]
    tops: list[int] = []
    ends: list[int] = []
    previous: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        tops[length : length + 1] = [place]
        ends[length : length + 1] = [number]
        previous.append(ends[length - 1] if length else None)
    chain: list[tuple[int, int]] = []
    last = ends[-1] if ends else None
    while last is not None:
        chain.append(pairs[last])
        last = previous[last]
    return chain[::-1]


def _lines(text: str) -> list[str]:
    """Split at line feeds alone, which is what normalized text has; `splitlines` would split at more."""
    pieces = text.split("\n")
    lines = [piece + "\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def merge_texts(base: str, ours: str, theirs: str) -> str | None:
    """Three-way: changes of both sides where they touch different lines; None where they clash."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    root, left, right = _lines(base), _lines(ours), _lines(theirs)
    edits = sorted(
        {(start, stop, tuple(left[low:high])) for start, stop, low, high in changes(root, left)}
        | {(start, stop, tuple(right[low:high])) for start, stop, low, high in changes(root, right)}
    )
    merged: list[str] = []
    position = 0
    for number, (start, stop, lines) in enumerate(edits):
        # Edits that touch, even end to end, may depend on each other: that is for a person to say.
        if number and start <= position:
            return None
        merged += root[position:start] + list(lines)
        position = stop
    return "".join(merged + root[position:])
