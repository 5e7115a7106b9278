"""Places: the rectangles that a span of text covers on the pages it was read from."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from mnemon.documents.ingest.content import Glyphs, Page

# Number of the page, then left, bottom, right and top in PDF points from its lower left corner.
Rectangle = tuple[int, float, float, float, float]


def rectangles(pages: Sequence[Page], start: int, end: int) -> list[Rectangle]:
    """One rectangle for each line, or part of a line, that `text[start:end]` stands on, in reading order."""
    found: list[Rectangle] = []
    first = max(bisect_right(pages, start, key=lambda page: page.start) - 1, 0)
    for page in pages[first:]:
        if page.start >= end:
            break
        found += _on_page(page, start, end)
    return found


def _on_page(page: Page, start: int, end: int) -> Iterator[Rectangle]:
    for run in page.glyphs:
        if run.start < end and run.end > start:
            left, right = _reach(run, max(start, run.start), min(end, run.end))
            yield page.number, left, run.bottom, right, run.top


def _reach(run: Glyphs, start: int, end: int) -> tuple[float, float]:
    """From where to where the characters reach; the whole run where their widths are not known."""
    if not run.widths:
        return run.left, run.right
    left = run.left + sum(run.widths[: start - run.start]) / 10
    right = run.right if end == run.end else left + sum(run.widths[start - run.start : end - run.start]) / 10
    return left, right
