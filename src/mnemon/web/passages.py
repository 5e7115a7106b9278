"""A revision's text in pieces to show: headings, page numbers, and the cited words marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mnemon.documents.ingest.revision_texts import RevisionText
from mnemon.errors import InvalidRequest

# As much as a browser shows at once, and how much stands before the cited words in a longer text.
LONGEST, BEFORE = 60_000, 5_000


@dataclass(frozen=True)
class Piece:
    """A stretch of the text that looks the same all through."""

    text: str
    marked: bool
    heading: bool
    # Set where a page begins.
    page: int | None


@dataclass(frozen=True)
class View:
    """A part of a text; `earlier` and `later` are where its neighbours begin."""

    pieces: Sequence[Piece]
    pages: Sequence[int]
    marked: bool
    earlier: int | None
    later: int | None


def view_of(content: RevisionText, start: int = 0, end: int = 0, at: int = -1) -> View:
    """The part that holds the span, or begins at an offset. Offsets count code points, as everywhere."""
    length = len(content.text)
    marked = end > 0
    if marked and not 0 <= start < end <= length:
        raise InvalidRequest(f"{start}-{end} is no span of this text of {length} characters.")
    first = at if at >= 0 else start - BEFORE if marked and length > LONGEST else 0
    first = max(0, min(first, length))
    last = min(length, first + LONGEST)
    pages = [page.number for page in content.pages if marked and page.start < end and page.end > start]
    return View(
        pieces=_pieces(content, first, last, start if marked else -1, end),
        pages=pages,
        marked=marked,
        earlier=max(0, first - LONGEST) if first else None,
        later=last if last < length else None,
    )


def _pieces(content: RevisionText, first: int, last: int, start: int, end: int) -> list[Piece]:
    headings = [(block.start, block.end) for block in content.blocks if block.kind == "heading"]
    begins = {page.start: page.number for page in content.pages}
    edges = {first, last, start, end, *begins, *(edge for span in headings for edge in span)}
    cuts = sorted(edge for edge in edges if first <= edge <= last)
    within = _within(headings, cuts)
    return [
        Piece(content.text[left:right], start <= left < end, left in within, begins.get(left))
        for left, right in pairwise(cuts)
    ]


def _within(spans: Sequence[tuple[int, int]], cuts: Sequence[int]) -> set[int]:
    """The cuts that lie in a span. Both are in order."""
    found, place = set(), 0
    for cut in cuts:
        while place < len(spans) and spans[place][1] <= cut:
            place += 1
        if place < len(spans) and spans[place][0] <= cut:
            found.add(cut)
    return found
