"""Writes the rows of a table so that each of them tells what its values are: `Task: report | Owner: Anna`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.hygiene import clean
from mnemon.documents.extraction.writing import TextWriter

CELL_BORDER = " | "
MOST_COLUMNS = 1_000
LONGEST_HEADING = 80
# A table of more rows is written several to a passage: each passage is embedded.
MOST_RECORDS = 4_000
TOGETHER = 800
# How many rows above the headings may be a title or a remark.
MOST_ABOVE = 10
_LETTER = re.compile(r"[^\W\d_]")

RowCells = Sequence[str]


def write_rows(writer: TextWriter, rows: Iterable[RowCells]) -> None:
    """The lines above the headings as they are, then each row with its headings."""
    full = (cells for row in rows if any(cells := [_cell(cell) for cell in row]))
    first = list(islice(full, MOST_RECORDS + MOST_ABOVE + 1))
    above = _above(first)
    for row in first[:above]:
        writer.block("paragraph", CELL_BORDER.join(filter(None, row)))
    headings = _headings(first[above:])
    begin = above + bool(headings)
    lines = (_line(headings, row) for row in chain(first[begin:], full))
    for record in lines if len(first) - begin <= MOST_RECORDS else _together(lines):
        writer.block("record", record)


def _cell(value: str) -> str:
    return " ".join(clean(value).split())


def _above(rows: Sequence[RowCells]) -> int:
    """How many rows stand above a table of several columns: a title, a remark."""
    widest = max((_width(row) for row in rows), default=0)
    if widest < 2:
        return 0
    return next((number for number, row in enumerate(rows[:MOST_ABOVE]) if _width(row) > 1), 0)


def _width(row: RowCells) -> int:
    return sum(bool(cell) for cell in row)


def _headings(rows: Sequence[RowCells]) -> RowCells:
    """The first row, where it is names for what stands below: each another one, none of them a number."""
    if len(rows) < 2:
        return ()
    named = [cell for cell in rows[0] if cell]
    if len(rows[0]) > MOST_COLUMNS:
        raise ExtractionFailed(
            f"The table has {len(rows[0]):,} columns, the limit is {MOST_COLUMNS:,}.", reason="too_long"
        )
    differ = len(named) > 1 and len({name.casefold() for name in named}) == len(named)
    return rows[0] if differ and all(len(one) <= LONGEST_HEADING and _LETTER.search(one) for one in named) else ()


def _line(headings: RowCells, row: RowCells) -> str:
    named = (headings[at].rstrip(": ") if at < len(headings) else "" for at in range(len(row)))
    pairs = zip(named, row, strict=True)
    return CELL_BORDER.join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def _together(lines: Iterable[str]) -> Iterator[str]:
    held: list[str] = []
    length = 0
    for line in lines:
        if held and length + len(line) > TOGETHER:
            yield "\n".join(held)
            held, length = [], 0
        held.append(line)
        length += len(line)
    if held:
        yield "\n".join(held)
