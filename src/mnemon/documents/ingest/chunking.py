"""Chunks: passages of a text with what is known of each, cut along its structure; talk is cut by turns."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from mnemon.documents.ingest.content import Chunk, Extraction, Page
from mnemon.documents.ingest.embedded_text import heading_line
from mnemon.documents.ingest.pieces import AFTER_COLON, AFTER_HEADING, CountTokens, Piece, merged, pieces_of
from mnemon.documents.ingest.said_days import SaidDays
from mnemon.documents.ingest.sizes import DEFAULT_SIZES, ChunkSizes
from mnemon.documents.structure.headings import heading_title
from mnemon.documents.structure.reading import read_structure
from mnemon.documents.structure.stored import load_structure
from mnemon.documents.structure.structure import Block, Hints, Structure
from mnemon.documents.structure.turns import SpokenBlock, day_of_headings, spoken_blocks

# Tokens of two parts of one giant word do not add up exactly; this keeps their sum below the cap.
SPARE = 10
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


def chunk(extraction: Extraction, count_tokens: CountTokens, sizes: ChunkSizes = DEFAULT_SIZES) -> list[Chunk]:
    """The chunks of a text, in order; each character that is not white space is in exactly one of them, unless they are
    to overlap."""
    starts = [page.start for page in extraction.pages]
    chunks: list[Chunk] = []
    # Cut to be read and not to be told: nobody asks who says it, and when.
    structure = _structure_of(extraction) if sizes.turns else None
    sections = list(_sections(extraction, structure, count_tokens, sizes))
    if whole := _in_one(sections, sizes):
        made = _chunk(extraction.text, whole, sections[0].headings, 0, count_tokens)
        return [SaidDays.of(extraction, structure).on(_on_pages(made, extraction.pages, starts))]
    days = SaidDays.of(extraction, structure)
    for section in sections:
        fitting = sizes.below_headings(count_tokens(heading_line(section.headings)) if section.headings else 0)
        for run in _runs(section.pieces) if sizes.turns else [section.pieces]:
            groups = list(_groups(run, fitting))
            for number, group in enumerate(groups):
                before = _overlap(groups[number - 1], sizes.overlap) if number else []
                made = _chunk(extraction.text, [*before, *group], section.headings, len(chunks), count_tokens)
                chunks.append(days.on(_on_pages(made, extraction.pages, starts)))
    return chunks


def _in_one(sections: list[ChunkSection], sizes: ChunkSizes) -> list[Piece]:
    """All pieces of a short text without talk, where the settings want it in one chunk; else none."""
    pieces = [piece for section in sections for piece in section.pieces] if sizes.single_piece else []
    fits = sum(piece.weight for piece in pieces) <= sizes.single_piece
    return pieces if fits and all(piece.turn is None for piece in pieces) else []


def _runs(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """What may share a chunk: a turn of a talk, what one person wrote, what nobody says. A heading, or the header of a
    mail, goes with what stands below it."""
    held: list[Piece] = []
    for _, run in groupby(pieces, lambda piece: (piece.turn, piece.speaker, piece.heading)):
        held += run
        if not held[-1].heading:
            yield held
            held = []
    if held:
        yield held


def _overlap(pieces: list[Piece], tokens: int) -> list[Piece]:
    """The last pieces that together have so many tokens at most."""
    kept: list[Piece] = []
    for piece in reversed(pieces) if tokens else ():
        tokens -= piece.weight
        if tokens < 0 or piece.heading:
            break
        kept.insert(0, piece)
    return kept if len(kept) < len(pieces) else kept[1:]


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


def _spoken(extraction: Extraction, structure: Structure | None) -> Iterator[SpokenBlock]:
    blocks = list(covering_blocks(extraction.text, extraction.blocks))
    if structure is None:
        yield from (SpokenBlock(block) for block in blocks)
    else:
        yield from spoken_blocks(extraction.text, blocks, structure)


def _structure_of(extraction: Extraction) -> Structure:
    talk = any(block.kind == "message" for block in extraction.blocks)
    stored = load_structure(extraction.structure)
    return stored or read_structure(extraction.text, extraction.blocks, Hints("chat" if talk else "doc"))


def _sections(
    extraction: Extraction, structure: Structure | None, count: CountTokens, sizes: ChunkSizes
) -> Iterator[ChunkSection]:
    """A heading opens a section. One with nothing below it but a deeper heading is told with that one's text."""
    path: list[tuple[int, str]] = []
    section = ChunkSection(())
    before: Block | None = None
    for spoken in _spoken(extraction, structure):
        block = spoken.block
        if block.kind == "heading":
            level = max(block.level, 1)
            path = [one for one in path if one[0] < level]
            title = heading_title(extraction.text[block.start : block.end])
            # As some draw it by hand: "== Wed 11 Nov ==".
            path.append((level, (title.strip("= ") or title)[:LONGEST_HEADING]))
            headings = tuple(words for _, words in path)
            if section.pieces and not 0 < section.open_level < level:
                yield section
                section = ChunkSection(headings)
            section.headings, section.open_level = headings, level
        else:
            section.open_level = 0
        pieces = pieces_of(extraction.text, spoken, count, sizes)
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


def _groups(pieces: list[Piece], sizes: ChunkSizes) -> Iterator[list[Piece]]:
    """The cheapest way to part the pieces of a run into chunks."""
    if len(pieces) > MANY_PIECES:
        pieces = list(merged(pieces, COARSE))
    best: list[tuple[float, int]] = [(0.0, 0)]
    for until in range(1, len(pieces) + 1):
        best.append(_best_start(pieces, until, best, sizes))
    cuts = [len(pieces)]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    cuts.reverse()
    for start, end in pairwise(cuts):
        yield pieces[start:end]


def _best_start(pieces: list[Piece], until: int, best: list[tuple[float, int]], sizes: ChunkSizes) -> tuple[float, int]:
    """Where the chunk that ends before `until` best begins, and what everything up to there then costs."""
    size, found = 0, (float("inf"), until - 1)
    for start in range(until - 1, -1, -1):
        size += pieces[start].weight
        if size > sizes.cap - SPARE and start < until - 1:
            break
        cost = best[start][0] + _cost_of_size(size, sizes) + (pieces[start].cost if start else 0.0)
        if cost < found[0]:
            found = (cost, start)
    return found


def _cost_of_size(size: int, sizes: ChunkSizes) -> float:
    least, most = sizes.least, sizes.most
    if size < least:
        return ((least - size) / least) ** 2
    return 0.0 if size <= most else 0.1 + 1.5 * ((size - most) / (sizes.cap - most)) ** 2


def _chunk(text: str, group: list[Piece], headings: Sequence[str], ordinal: int, count: CountTokens) -> Chunk:
    start, end = group[0].start, group[-1].end
    tokens = sum(piece.tokens for piece in group)
    if any(one.end == other.start for one, other in pairwise(group)):
        tokens = count(text[start:end])
    said = [piece for piece in group if not piece.heading]
    speakers = {piece.speaker for piece in said}
    speaker = speakers.pop() if len(speakers) == 1 else None
    day = said[0].day or (day_of_headings(headings) if said[0].turn is not None else None) if said else None
    return Chunk(ordinal, start, end, text[start:end], headings, tokens, speaker=speaker, said_on=day)


def _on_pages(made: Chunk, pages: Sequence[Page], starts: list[int]) -> Chunk:
    if not pages:
        return made
    first = max(bisect_right(starts, made.start) - 1, 0)
    last = max(bisect_right(starts, made.end - 1) - 1, 0)
    return replace(made, first_page=pages[first].number, last_page=pages[last].number)
