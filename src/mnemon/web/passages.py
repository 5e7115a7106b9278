"""A revision's text in pieces to show: headings, page numbers, and the cited words marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mnemon.documents.ingest.content import Page
from mnemon.documents.ingest.places import rectangles
from mnemon.documents.ingest.revision_texts import RevisionText
from mnemon.errors import InvalidRequest

# As much as a browser shows at once, and how much stands before the cited words in a longer text.
LONGEST, BEFORE = 60_000, 5_000


@dataclass(frozen=True)
class TextPiece:
    """A stretch of the text that looks the same all through."""

    text: str
    marked: bool
    heading: bool
    # Set where a page begins.
    page: int | None


@dataclass(frozen=True)
class TextView:
    """A part of a text; `earlier` and `later` are where its neighbours begin."""

    pieces: Sequence[TextPiece]
    pages: Sequence[int]
    marked: bool
    # Of the cited words: the heading above them, and who says them, where the text tells.
    section: str | None
    speaker: str | None
    earlier: int | None
    later: int | None
    # The part of the text that is shown.
    first: int
    last: int


@dataclass(frozen=True)
class Sheet:
    """A page of a PDF as a picture, and where the cited words stand on it: left, top, width, height in points."""

    number: int
    count: int
    width: float
    height: float
    marks: Sequence[tuple[float, float, float, float]]


def sheet_of(pages: Sequence[Page], number: int, start: int = 0, end: int = 0) -> Sheet | None:
    """The page that was asked for, or the first with the cited words, or the first."""
    if not pages:
        return None
    places = rectangles(pages, start, end) if end > start >= 0 else []
    wanted = number or (places[0][0] if places else pages[0].number)
    page = next((one for one in pages if one.number == wanted), pages[0])
    marks = [
        (left - 1, page.height - top - 1, right - left + 2, top - bottom + 2)
        for on, left, bottom, right, top in places
        if on == page.number
    ]
    return Sheet(page.number, len(pages), page.width, page.height, marks)


def view_of(content: RevisionText, start: int = 0, end: int = 0, at: int = -1) -> TextView:
    """The part that holds the span, or begins at an offset. Offsets count code points, as everywhere."""
    length = len(content.text)
    marked = end > 0
    if marked and not 0 <= start < end <= length:
        raise InvalidRequest(f"{start}-{end} is no span of this text of {length} characters.")
    first = at if at >= 0 else start - BEFORE if marked and length > LONGEST else 0
    first = max(0, min(first, length))
    last = min(length, first + LONGEST)
    pages = [page.number for page in content.pages if marked and page.start < end and page.end > start]
    headings = _headings(content)
    above = [span for span in headings if span[1] <= start] if marked else []
    said = (one.speaker for one in content.parts if marked and one.start < end and one.end > start)
    return TextView(
        pieces=_pieces(content, headings, first, last, start if marked else -1, end),
        pages=pages,
        marked=marked,
        section=_plain_heading(content.text[slice(*above[-1])]) if above else None,
        speaker=next((one for one in said if one), None),
        earlier=max(0, first - LONGEST) if first else None,
        later=last if last < length else None,
        first=first,
        last=last,
    )


def _plain_heading(line: str) -> str:
    """Without the marks of its format."""
    return line.strip().lstrip("#").strip(" *_")


def _headings(content: RevisionText) -> list[tuple[int, int]]:
    """Whole lines where the format marks them, and what the reading found besides, in order."""
    marked = [(block.start, block.end) for block in content.blocks if block.kind == "heading"]
    read = [(part.start, part.end) for part in content.parts if part.kind in ("heading", "lead")]
    inside = _within(marked, [start for start, _ in read])
    return sorted([*marked, *(span for span in read if span[0] not in inside)])


def _pieces(
    content: RevisionText, headings: Sequence[tuple[int, int]], first: int, last: int, start: int, end: int
) -> list[TextPiece]:
    begins = {page.start: page.number for page in content.pages}
    edges = {first, last, start, end, *begins, *(edge for span in headings for edge in span)}
    cuts = sorted(edge for edge in edges if first <= edge <= last)
    within = _within(headings, cuts)
    return [
        TextPiece(content.text[left:right], start <= left < end, left in within, begins.get(left))
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
