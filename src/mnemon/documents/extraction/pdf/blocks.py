"""Lines of a PDF put into paragraphs, headings, lists and tables."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from mnemon.documents.extraction.pdf.lines import PageLine
from mnemon.documents.structure.structure import BlockKind

ITEM = re.compile(r"[•‣◦▪●○–·*-](?:\s|$)|(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")
SENTENCE_END = re.compile(r"[.!?:;]['\"”’)\]]*$")
LEADERS = re.compile(r"(?:\. ?){5}|…{2}|_{6}")
LARGER = 1.15
LONGEST_HEADING = 200
MOST_LEVELS = 4
# Cells of several lines stand between the rows of a table.
ROWS_APART = 12
# In heights of a line, from one line's foot to the next one's head.
PARAGRAPH_GAP = 0.45


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, before their text is written."""

    kind: BlockKind
    lines: list[PageLine] = field(default_factory=list)
    level: int = 0

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class Sizes:
    """The height of the running text, and those heights that only headings have, largest first."""

    body: float
    headings: Sequence[float]

    def level(self, line: PageLine) -> int:
        """The level of a heading in letters of this size; 0 for those of the running text."""
        if line.height < self.body * LARGER or not self.headings:
            return 0
        return 1 + min(range(len(self.headings)), key=lambda number: abs(self.headings[number] - line.height))


def sizes_of(pages: Sequence[Sequence[PageLine]]) -> Sizes:
    letters: Counter[float] = Counter()
    for page in pages:
        for line in page:
            letters[_rounded(line.height)] += len(line.text)
    if not letters:
        return Sizes(0.0, ())
    body = max(letters, key=lambda height: (letters[height], -height))
    larger = sorted((height for height in letters if height >= body * LARGER), reverse=True)
    return Sizes(body, _apart(larger)[:MOST_LEVELS])


def _rounded(height: float) -> float:
    return round(height * 2) / 2


def _apart(heights: list[float]) -> list[float]:
    """Sizes that differ by a hair are one."""
    kept: list[float] = []
    for height in heights:
        if not kept or height < kept[-1] * 0.94:
            kept.append(height)
    return kept


def paragraphs_of(lines: list[PageLine], sizes: Sizes) -> list[Paragraph]:
    tables = _table_lines(lines)
    found: list[Paragraph] = []
    for number, line in enumerate(lines):
        kind, level = _kind(line, sizes, number in tables)
        last = found[-1] if found else None
        if last and _goes_on(last, line, kind, level, lines[number - 1]):
            last.lines.append(line)
        else:
            found.append(Paragraph(kind, [line], level))
    return list(_settled(found, sizes))


def _kind(line: PageLine, sizes: Sizes, in_table: bool) -> tuple[BlockKind, int]:
    level = sizes.level(line)
    if LEADERS.search(line.text):
        return "table", 0
    if level and any(one.isalpha() for one in line.text):
        return "heading", level
    if in_table:
        return "table", 0
    if line.fixed:
        return "code", 0
    return ("list", 0) if ITEM.match(line.text) else ("paragraph", 0)


def _goes_on(last: Paragraph, line: PageLine, kind: BlockKind, level: int, before: PageLine) -> bool:
    """Whether the line belongs to the paragraph that stands before it."""
    if "table" in (last.kind, kind):
        return last.kind == kind and line.top <= before.bottom + line.height
    gap = before.bottom - line.top
    if not -line.height < gap < PARAGRAPH_GAP * line.height:
        return False
    if "code" in (last.kind, kind):
        # A name in such letters may fill a line of a sentence that is not at its end.
        return last.kind == kind or (last.kind == "paragraph" and not SENTENCE_END.search(before.text))
    if "heading" in (last.kind, kind):
        return last.kind == kind and last.level == level and abs(line.height - before.height) < 0.06 * line.height
    if kind == "list":
        return False
    if abs(line.height - before.height) > 0.2 * before.height or line.bold != before.bold:
        return False
    if line.left > before.right or line.right < before.left:
        return False
    return not _begins_anew(last, line, before)


def _begins_anew(last: Paragraph, line: PageLine, before: PageLine) -> bool:
    """An indent after the end of a sentence, or a line that ended before it was full."""
    ended = bool(SENTENCE_END.search(before.text))
    right = max(line.right, *(one.right for one in last.lines))
    # Its first word would have fitted on the line before: that line was ended on purpose.
    fits = before.right + _first_word_width(line) + 0.4 * line.height < right and not before.text.endswith("-")
    if last.kind == "list" and line.left < last.lines[0].left - 1:
        return True
    if last.kind == "list" and line.left > last.lines[0].left + 1:
        return False
    indented = line.left > before.left + 0.8 * line.height
    return (indented and ended) or (fits and (ended or not line.text[0].islower()))


def _first_word_width(line: PageLine) -> float:
    run = line.runs[0]
    letters = len(run.text.split(" ", 1)[0])
    return sum(run.widths[:letters]) / 10 if run.widths else (run.right - run.left) * letters / len(run.text)


def _table_lines(lines: list[PageLine]) -> set[int]:
    """Numbers of lines of several cells, two of which begin or end where those of the next such line do."""
    found: set[int] = set()
    rows = [number for number, line in enumerate(lines) if len(line.runs) > 1]
    for before, number in pairwise(rows):
        if number - before <= ROWS_APART and _aligned(lines[before], lines[number]) > 1:
            found |= {before, number}
    return found


def _aligned(row: PageLine, other: PageLine) -> int:
    return sum(
        any(abs(cell.left - one.left) < 4 or abs(cell.right - one.right) < 4 for one in row.runs) for cell in other.runs
    )


def _settled(found: list[Paragraph], sizes: Sizes) -> Iterator[Paragraph]:
    """Headings that are too long are text; a short bold line on its own is a heading; items make one list."""
    held: Paragraph | None = None
    for paragraph in found:
        if paragraph.kind == "heading" and (len(paragraph.text) > LONGEST_HEADING or len(paragraph.lines) > 3):
            paragraph.kind, paragraph.level = "paragraph", 0
        elif paragraph.kind in ("paragraph", "list") and _is_bold_heading(paragraph):
            paragraph.kind, paragraph.level = "heading", min(len(sizes.headings) + 1, MOST_LEVELS + 1)
        if held and held.kind == paragraph.kind == "list" and _is_next_item(held, paragraph):
            held.lines += paragraph.lines
            continue
        if held:
            yield held
        held = paragraph
    if held:
        yield held


def _is_next_item(held: Paragraph, paragraph: Paragraph) -> bool:
    gap = held.lines[-1].bottom - paragraph.lines[0].top
    return -paragraph.lines[0].height < gap < 1.5 * paragraph.lines[0].height


def _is_bold_heading(paragraph: Paragraph) -> bool:
    line = paragraph.lines[0]
    return (
        len(paragraph.lines) == len(line.runs) == 1
        and line.bold
        and len(line.text) <= 80
        and not re.search(r"[.,;!?]$", line.text)
        and sum(one.isalpha() for one in line.text) >= 3
    )
