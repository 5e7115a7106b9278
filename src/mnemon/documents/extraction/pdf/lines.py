"""Runs of a page put into lines, and what is said again on every page told apart."""

import re
from collections import Counter
from dataclasses import dataclass

from mnemon.documents.extraction.pdf.runs import TextRun

DIGITS = re.compile(r"\d+")
PAGE_NUMBER = re.compile(r"\W*(?:page|seite|p\.?)?\s*\d{1,4}\s*(?:(?:of|von|/)\s*\d{1,4})?\W*", re.IGNORECASE)
# The part of a page, from its edge, where running headers and footers stand.
MARGIN = 0.12
CONSIDERED = 3
NUMBERED = re.compile(r"\d{1,4}\b.*|.*\b(?:\d{1,4}|[ivxl]{1,6})")


@dataclass(slots=True)
class PageLine:
    """The runs of one row that belong together, from left to right."""

    runs: list[TextRun]
    left: float
    bottom: float
    right: float
    top: float
    # Of most of its letters.
    height: float

    @property
    def text(self) -> str:
        return " ".join(run.text for run in self.runs)

    @property
    def bold(self) -> bool:
        return all(run.bold for run in self.runs)

    @property
    def fixed(self) -> bool:
        return all(run.fixed for run in self.runs)


@dataclass(slots=True)
class PageLines:
    """A page's lines in reading order: the body, and what stands in its margins."""

    width: float
    height: float
    body: list[PageLine]
    header: list[PageLine]
    footer: list[PageLine]


def lines_of(runs: list[TextRun]) -> list[PageLine]:
    """Neighbours in reading order that share a row make one line."""
    rows: list[list[TextRun]] = []
    for run in runs:
        if rows and run.shares_row(rows[-1][-1]) and run.left > rows[-1][-1].right - 0.5 * run.height:
            rows[-1].append(run)
        else:
            rows.append([run])
    return [_line(row) for row in rows]


def _line(row: list[TextRun]) -> PageLine:
    return PageLine(
        row,
        min(run.left for run in row),
        min(run.bottom for run in row),
        max(run.right for run in row),
        max(run.top for run in row),
        max(row, key=lambda run: len(run.text)).height,
    )


def part_margins(pages: list[PageLines]) -> None:
    """Move running headers, footers and page numbers from the bodies to the margins."""
    edges = [_edges(page) for page in pages]
    said = Counter(key for both in edges for key in {_key(line) for edge in both for line in edge})
    # Chapter titles change from page to page; their place does not.
    placed = Counter(_place(edge[0]) for both in edges for edge in both if edge and NUMBERED.fullmatch(edge[0].text))
    often = max(2, round(len(pages) * 0.4)) if len(pages) < 8 else max(3, round(len(pages) * 0.25))
    for page, both in zip(pages, edges, strict=True):
        page.header, page.footer = ([line for line in edge if _is_running(line, said, often)] for edge in both)
        for margin, edge in zip((page.header, page.footer), both, strict=True):
            if edge and not margin and NUMBERED.fullmatch(edge[0].text) and placed[_place(edge[0])] >= often:
                margin.append(edge[0])
        page.footer.reverse()
        moved = {id(line) for line in (*page.header, *page.footer)}
        page.body = [line for line in page.body if id(line) not in moved]


def _edges(page: PageLines) -> tuple[list[PageLine], list[PageLine]]:
    """The highest and the lowest few lines, the outermost first, if they stand in the margins."""
    by_height = sorted(page.body, key=lambda line: -line.top)
    top = [line for line in by_height[:CONSIDERED] if line.bottom > page.height * (1 - MARGIN)]
    bottom = [line for line in by_height[-CONSIDERED:] if line.top < page.height * MARGIN and line not in top]
    return top, bottom[::-1]


def _place(line: PageLine) -> int:
    return round(line.bottom / 4)


def _key(line: PageLine) -> tuple[str, int]:
    return DIGITS.sub("#", line.text.casefold()), _place(line)


def _is_running(line: PageLine, said: Counter[tuple[str, int]], often: int) -> bool:
    text, place = _key(line)
    times = sum(said[text, near] for near in (place - 1, place, place + 1))
    return times >= often or (len(line.text) < 24 and bool(PAGE_NUMBER.fullmatch(line.text)))
