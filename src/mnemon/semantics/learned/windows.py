"""Lays a revision out for the learned reader: windows of tokens that hold headings, speakers and neighbours."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemon.documents.structure.sentences import Span
from mnemon.models.tokens import ModelTokenizer
from mnemon.semantics.learned.gloss import english, is_german
from mnemon.semantics.learned.segments import segments_of
from mnemon.semantics.rules.layout import Unit

START, END = 101, 102
# What a window judges; with the line before it, the line after it and the heading it stays below the model's 256.
MOST_JUDGED = 128
MOST_OF_UNIT = 96
MOST_BEFORE = 32
MOST_AFTER = 24
MOST_HEADING = 16
MOST_SPEAKER = 8
_PIECE = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")


@dataclass(frozen=True)
class Segment:
    """A part of a unit: where it stands in the text, and which tokens of its window are its own."""

    unit: int
    start: int
    end: int
    first_token: int
    last_token: int


@dataclass(frozen=True)
class ReadingWindow:
    ids: tuple[int, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class _Line:
    """A unit in tokens: what stands before its words, its words, and where each token lies in the text."""

    before: tuple[int, ...]
    ids: tuple[int, ...]
    offsets: tuple[Span, ...]
    heading: str


def windows_of(units: Sequence[Unit], title: str, tokenizer: ModelTokenizer) -> Iterator[ReadingWindow]:
    """Every unit is judged in one window; the lines around a window are there to be seen only."""
    german = is_german(" ".join(unit.text for unit in units))
    lines = [_line(unit, german, tokenizer) for unit in units]
    first = 0
    while first < len(units):
        last, size = first, 0
        while last < len(units) and (last == first or size + len(lines[last].ids) <= MOST_JUDGED):
            size += len(lines[last].ids)
            last += 1
        yield _window(units, lines, first, last, title, german, tokenizer)
        first = last


def _window(
    units: Sequence[Unit],
    lines: list[_Line],
    first: int,
    last: int,
    title: str,
    german: bool,
    tokenizer: ModelTokenizer,
) -> ReadingWindow:
    ids = [START, *_heading(title, german, tokenizer), END]
    if first > 0:
        ids += [*lines[first - 1].before, *lines[first - 1].ids[-MOST_BEFORE:], END]
    heading, found = None, []
    for place in range(first, last):
        line = lines[place]
        if line.heading != heading:
            heading = line.heading
            ids += [*_heading(heading, german, tokenizer), END] if heading else []
        ids += line.before
        for start, end in segments_of(units[place]):
            inside = [at for at, (begin, _) in enumerate(line.offsets) if start <= begin < end]
            if inside:
                found.append(Segment(place, start, end, len(ids) + inside[0], len(ids) + inside[-1] + 1))
        ids += [*line.ids, END]
    if last < len(units):
        ids += [*lines[last].before, *lines[last].ids[:MOST_AFTER], END]
    return ReadingWindow(tuple(ids), tuple(found))


def _line(unit: Unit, german: bool, tokenizer: ModelTokenizer) -> _Line:
    box = {None: "", True: "[x] ", False: "[ ] "}[unit.ticked]
    mark = {"row": "| ", "item": "- ", "sentence": ""}[unit.form]
    # In a table its columns speak; in a list whoever its item is about, also in the sentences after the first.
    speaker = unit.speaker or ("" if unit.leads else unit.label) or " ".join(unit.cells)
    before = [
        *(tokenizer.ids(f"{speaker}:")[:MOST_SPEAKER] if speaker else ()),
        *(tokenizer.ids(mark + box) if mark + box else ()),
    ]
    ids, offsets = encode_words(unit.text, german, tokenizer)
    placed = [(unit.start + start, unit.start + end) for start, end in offsets]
    return _Line(tuple(before), tuple(ids[:MOST_OF_UNIT]), tuple(placed[:MOST_OF_UNIT]), unit.heading)


def _heading(text: str, german: bool, tokenizer: ModelTokenizer) -> list[int]:
    return encode_words(text, german, tokenizer)[0][:MOST_HEADING]


def encode_words(text: str, german: bool, tokenizer: ModelTokenizer) -> tuple[list[int], list[Span]]:
    """Token numbers, and the span of the word that each stands for; of German words, those of their meaning."""
    if not german:
        return tokenizer.encode(text)
    ids: list[int] = []
    offsets: list[Span] = []
    for match in _PIECE.finditer(text):
        found = tokenizer.ids(english(match[0]) or match[0])
        ids += found
        offsets += [match.span()] * len(found)
    return ids, offsets
