"""Pieces: what a chunk is put together from and never cut into; paragraphs, sentences, rows, items, turns."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from mnemon.documents.ingest.sizes import ChunkSizes
from mnemon.documents.structure.sentences import Span, sentences
from mnemon.documents.structure.structure import Block
from mnemon.documents.structure.turns import SpokenBlock

CountTokens = Callable[[str], int]

# Tokenizers count a word of absurd length as one unknown token; by its length it weighs more.
CHARACTERS_PER_TOKEN = 10
SHORT_CHARACTERS = 600
TINY = 24

# What it costs to begin a chunk here: nothing between paragraphs, most right after a heading.
AT_PARAGRAPH, AT_ROW, AT_SENTENCE, AFTER_COLON, IN_SENTENCE, AFTER_HEADING = 0.0, 0.1, 0.2, 0.5, 0.6, 3.0

ITEM_START = re.compile(r"^[ \t]*(?:[-*+•‣◦▪●○–—·]|\(?\d{1,3}[.)]|\(?[a-zA-Z][)])[ \t]", re.MULTILINE)
LINE_START = re.compile(r"^", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """`text[start:end]`, how much of a chunk it fills, and what it costs to begin a chunk with it."""

    start: int
    end: int
    tokens: int
    cost: float
    # A heading, or the header of a mail: it tells of what stands below it.
    heading: bool = False
    speaker: str | None = None
    # Which turn of a talk it belongs to, and the day of that; None for what nobody says.
    turn: int | None = None
    day: date | None = None

    @property
    def weight(self) -> int:
        return max(self.tokens, (self.end - self.start) // CHARACTERS_PER_TOKEN)


def pieces_of(text: str, spoken: SpokenBlock, count: CountTokens, sizes: ChunkSizes) -> list[Piece]:
    """The pieces of one block, in order, holding all of it that is not white space."""
    block = spoken.block
    found = list(_cut(text, block, count, sizes))
    if not found:
        return []
    first = replace(found[0], cost=AT_PARAGRAPH)
    return [
        replace(
            piece, speaker=block.speaker, heading=block.kind in ("heading", "header"), turn=spoken.turn, day=spoken.day
        )
        for piece in merged([first, *found[1:]], TINY)
    ]


def _cut(text: str, block: Block, count: CountTokens, sizes: ChunkSizes) -> Iterator[Piece]:
    longest = sizes.longest_piece
    if block.kind in ("table", "list", "code", "header", "record"):
        whole = _piece(text, (block.start, block.end), count, AT_PARAGRAPH)
        if whole is None or whole.weight <= sizes.whole:
            yield from [whole] if whole else []
            return
        for row in _rows(text, block):
            yield from _sentence_pieces(text, row, count, AT_ROW, longest)
    else:
        yield from _sentence_pieces(text, (block.start, block.end), count, AT_SENTENCE, longest)


def _rows(text: str, block: Block) -> Iterator[Span]:
    pattern = ITEM_START if block.kind == "list" else LINE_START
    starts = [match.start() for match in pattern.finditer(text, block.start, block.end)]
    borders = sorted({block.start, *starts, block.end})
    yield from pairwise(borders)


def _sentence_pieces(text: str, span: Span, count: CountTokens, cost: float, longest: int) -> Iterator[Piece]:
    if span[1] - span[0] <= SHORT_CHARACTERS:
        whole = _piece(text, span, count, cost)
        if whole is None or whole.weight <= longest // 2:
            yield from [whole] if whole else []
            return
    for sentence in sentences(text, *span):
        for part in _shorter(text, sentence, count, longest):
            yield replace(part, cost=cost if part.start == span[0] or cost == AT_SENTENCE else AT_SENTENCE)


def _shorter(text: str, span: Span, count: CountTokens, longest: int) -> Iterator[Piece]:
    """The sentence itself, or parts of it that end at white space where there is any."""
    first = True
    for part in _lengths(text, span, longest * CHARACTERS_PER_TOKEN):
        for piece in _halved(text, part, count, longest):
            yield piece if first else replace(piece, cost=IN_SENTENCE)
            first = False


def _lengths(text: str, span: Span, longest: int) -> Iterator[Span]:
    start, end = span
    while end - start > longest:
        cut = _cut_before(text, start + longest // 2, start + longest)
        yield start, cut
        start = cut
    yield start, end


def _halved(text: str, span: Span, count: CountTokens, longest: int) -> Iterator[Piece]:
    piece = _piece(text, span, count, AT_SENTENCE)
    if piece is None:
        return
    if piece.weight <= longest or piece.end - piece.start < 2:
        yield piece
        return
    middle = (piece.start + piece.end) // 2
    cut = _cut_before(text, piece.start + 1, min(middle + (piece.end - middle) // 2, piece.end - 1))
    yield from _halved(text, (piece.start, cut), count, longest)
    yield from _halved(text, (cut, piece.end), count, longest)


def _cut_before(text: str, least: int, most: int) -> int:
    """The last good place for a cut in [least, most]: after white space, else after a sign, else between letters."""
    for good in (str.isspace, lambda one: not one.isalnum() and not unicodedata.combining(one)):
        for at in range(most, least, -1):
            if good(text[at - 1]) and not unicodedata.combining(text[at]):
                return at
    at = most
    while at > least and (unicodedata.combining(text[at]) or text[at] in "\u200d\ufe0f" or text[at - 1] == "\u200d"):
        at -= 1
    return at if at > least else most


def _piece(text: str, span: Span, count: CountTokens, cost: float) -> Piece | None:
    raw = text[span[0] : span[1]]
    start = span[0] + len(raw) - len(raw.lstrip())
    words = raw.strip()
    return Piece(start, start + len(words), count(words), cost) if words else None


def merged(pieces: list[Piece], most: int) -> Iterator[Piece]:
    """Small neighbours become one piece: less to weigh, and nobody wants a chunk to begin between them."""
    held = pieces[0]
    for piece in pieces[1:]:
        if held.weight + piece.weight <= most and held.heading == piece.heading:
            speaker = held.speaker if held.speaker == piece.speaker else None
            held = replace(held, end=piece.end, tokens=held.tokens + piece.tokens, speaker=speaker)
        else:
            yield held
            held = piece
    yield held
