"""Chunks: passages of 350-500 tokens along the structure of a text, never across sections."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from mnemon.documents.ingest.content import Chunk, Extraction, Page
from mnemon.documents.ingest.pieces import AFTER_COLON, AFTER_HEADING, CountTokens, Piece, merged, pieces_of
from mnemon.documents.structure.headings import heading_title
from mnemon.documents.structure.structure import Block

LEAST, MOST = 350, 500
HARD_CAP = 800
# Tokens of two parts of one giant word do not add up exactly; this keeps their sum below the cap.
FULL = HARD_CAP - 10
LONGEST_HEADING = 200
# A section of more pieces is weighed in coarser ones, since each is compared with all that fit into a chunk with it.
MANY_PIECES, COARSE = 2_000, 40


@dataclass(slots=True)
class ChunkSection:
    """The pieces below one heading, the heading itself included."""

    headings: tuple[str, ...]
    pieces: list[Piece] = field(default_factory=list)
    # The level of the heading whose text is still awaited, or 0.
    open_level: int = 0


def chunk(extraction: Extraction, count_tokens: CountTokens) -> list[Chunk]:
    """The chunks of a text, in order; each character that is not white space is in exactly one of them."""
    starts = [page.start for page in extraction.pages]
    chunks: list[Chunk] = []
    for section in _sections(extraction, count_tokens):
        for group in _groups(section.pieces):
            made = _chunk(extraction.text, group, section.headings, len(chunks), count_tokens)
            chunks.append(_on_pages(made, extraction.pages, starts))
    return chunks


def covering_blocks(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, and a paragraph wherever text stands between them."""
    at = 0
    for block in blocks:
        yield from _gap(text, at, block.start)
        yield block
        at = block.end
    yield from _gap(text, at, len(text))


def _gap(text: str, start: int, end: int) -> Iterator[Block]:
    if start < end and not text[start:end].isspace():
        yield Block("paragraph", start, end)


def _sections(extraction: Extraction, count: CountTokens) -> Iterator[ChunkSection]:
    """A heading opens a section. One with nothing below it but a deeper heading is told with that one's text."""
    path: list[tuple[int, str]] = []
    section = ChunkSection(())
    before: Block | None = None
    for block in covering_blocks(extraction.text, extraction.blocks):
        if block.kind == "heading":
            level = max(block.level, 1)
            path = [one for one in path if one[0] < level]
            path.append((level, heading_title(extraction.text[block.start : block.end])[:LONGEST_HEADING]))
            headings = tuple(words for _, words in path)
            if section.pieces and not 0 < section.open_level < level:
                yield section
                section = ChunkSection(headings)
            section.headings, section.open_level = headings, level
        else:
            section.open_level = 0
        pieces = pieces_of(extraction.text, block, count)
        section.pieces += _joined(pieces, section.pieces, extraction.text, before)
        before = block
    if section.pieces:
        yield section


def _joined(pieces: list[Piece], earlier: list[Piece], text: str, before: Block | None) -> list[Piece]:
    """The pieces, the first with what it costs to part it from what stands before it."""
    if not pieces or not earlier or before is None:
        return pieces
    cost = pieces[0].cost
    if before.kind == "heading":
        cost = AFTER_HEADING
    elif text[before.end - 1] == ":":
        cost = AFTER_COLON
    return [replace(pieces[0], cost=cost), *pieces[1:]]


def _groups(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """The cheapest way to part the pieces of a section into chunks."""
    if len(pieces) > MANY_PIECES:
        pieces = list(merged(pieces, COARSE))
    best: list[tuple[float, int]] = [(0.0, 0)]
    for until in range(1, len(pieces) + 1):
        best.append(_best_start(pieces, until, best))
    cuts = [len(pieces)]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    cuts.reverse()
    for start, end in pairwise(cuts):
        yield pieces[start:end]


def _best_start(pieces: list[Piece], until: int, best: list[tuple[float, int]]) -> tuple[float, int]:
    """Where the chunk that ends before `until` best begins, and what everything up to there then costs."""
    size, found = 0, (float("inf"), until - 1)
    for start in range(until - 1, -1, -1):
        size += pieces[start].weight
        if size > FULL and start < until - 1:
            break
        cost = best[start][0] + _cost_of_size(size) + (pieces[start].cost if start else 0.0)
        if cost < found[0]:
            found = (cost, start)
    return found


def _cost_of_size(size: int) -> float:
    if size < LEAST:
        return ((LEAST - size) / LEAST) ** 2
    return 0.0 if size <= MOST else 0.1 + 1.5 * ((size - MOST) / (HARD_CAP - MOST)) ** 2


def _chunk(text: str, group: list[Piece], headings: Sequence[str], ordinal: int, count: CountTokens) -> Chunk:
    start, end = group[0].start, group[-1].end
    tokens = sum(piece.tokens for piece in group)
    if any(one.end == other.start for one, other in pairwise(group)):
        tokens = count(text[start:end])
    speakers = {piece.speaker for piece in group if not piece.heading}
    speaker = speakers.pop() if len(speakers) == 1 else None
    return Chunk(ordinal, start, end, text[start:end], headings, tokens, speaker=speaker)


def _on_pages(made: Chunk, pages: Sequence[Page], starts: list[int]) -> Chunk:
    if not pages:
        return made
    first = max(bisect_right(starts, made.start) - 1, 0)
    last = max(bisect_right(starts, made.end - 1) - 1, 0)
    return replace(made, first_page=pages[first].number, last_page=pages[last].number)
