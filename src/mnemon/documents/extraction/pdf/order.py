"""The order in which the runs of a page are read.

Most files draw text as it is read, and then their own order is the best there is. Where they do not (lines drawn across
two columns, or here and there) the order is found from the places alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

from mnemon.documents.extraction.pdf.runs import TextRun

# Beyond this a page is a drawing, and looking for columns would cost more than it gives.
MOST_RUNS = 3_000
LEAST_IN_COLUMN = 4
LEAST_LETTERS = 18
FULL_LINE = 0.7


@dataclass(frozen=True, slots=True)
class Gutter:
    """The empty strip between two columns of running text."""

    left: float
    right: float

    def side(self, run: TextRun) -> int:
        """-1 for left of it, 1 for right of it, 0 for what lies across."""
        return -1 if run.right <= self.right else 1 if run.left >= self.left else 0


def in_reading_order(runs: list[TextRun]) -> list[TextRun]:
    if len(runs) > MOST_RUNS:
        return runs
    gutter = find_gutter(runs)
    if (gutter and _is_interleaved(runs, gutter)) or _is_scattered(runs):
        return list(_by_place(runs, gutter, 0))
    return runs


def _is_scattered(runs: list[TextRun]) -> bool:
    """Whether the file often goes back up within a column: more than headers and footers explain."""
    back = sum(after.bottom > before.top and after.shares_column(before) for before, after in pairwise(runs))
    return back > max(2, len(runs) // 20)


def _is_interleaved(runs: list[TextRun], gutter: Gutter) -> bool:
    sides = [side for run in runs if (side := gutter.side(run))]
    changes = sum(before != after for before, after in pairwise(sides))
    bands = sum(1 for across, _ in groupby(runs, lambda run: gutter.side(run) == 0) if not across)
    return changes > 2 * bands + 2


def _by_place(runs: list[TextRun], gutter: Gutter | None, depth: int) -> Iterator[TextRun]:
    """Row by row; where there are columns, each band between lines that lie across them column by column."""
    rows = sorted(runs, key=lambda run: (-round(run.middle), run.left))
    if gutter is None or depth > 3:
        yield from _in_rows(rows)
        return
    for across, band in groupby(rows, lambda run: gutter.side(run) == 0):
        if across:
            yield from _in_rows(list(band))
            continue
        held = list(band)
        for wanted in (-1, 1):
            column = [run for run in held if gutter.side(run) == wanted]
            yield from _by_place(column, find_gutter(column), depth + 1)


def _in_rows(rows: list[TextRun]) -> Iterator[TextRun]:
    """From the top; what shares a row from left to right."""
    row: list[TextRun] = []
    for run in rows:
        if row and not run.shares_row(row[0]):
            yield from sorted(row, key=lambda one: one.left)
            row = []
        row.append(run)
    yield from sorted(row, key=lambda one: one.left)


def find_gutter(runs: list[TextRun]) -> Gutter | None:
    """The strip that parts most runs into two columns that both look like running text."""
    if len(runs) < 2 * LEAST_IN_COLUMN:
        return None
    best: tuple[int, Gutter] | None = None
    for start in sorted({round(run.left) for run in runs}):
        right = [run for run in runs if run.left >= start - 1]
        left = [run for run in runs if run.right < start - 4]
        across = len(runs) - len(left) - len(right)
        parted = min(len(left), len(right)) - 2 * across
        if parted >= LEAST_IN_COLUMN and (best is None or parted > best[0]) and _are_columns(left, right):
            best = parted, Gutter(start - 1, max(run.right for run in left))
    return best and best[1]


def _are_columns(left: list[TextRun], right: list[TextRun]) -> bool:
    """Long, mostly full lines on both sides, side by side: a table has short cells."""
    beside = min(max(run.top for run in side) for side in (left, right)) - max(
        min(run.bottom for run in side) for side in (left, right)
    )
    return beside > 3 * median(run.height for run in left) and _runs_on(left) and _runs_on(right)


def _runs_on(column: list[TextRun]) -> bool:
    widest = max(run.right - run.left for run in column)
    return (
        median(len(run.text) for run in column) >= LEAST_LETTERS
        and median(run.right - run.left for run in column) >= FULL_LINE * widest
    )
