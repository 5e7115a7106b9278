"""A message's text in pieces: what is new with the stances marked, what is quoted folded away."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from mnemon.mail.consensus.outputs import ConsensusShown, Said
from mnemon.mail.spans.labels import LabelledSpan

# What a reader opens only when they want it, and how it is called.
FOLDED = {"quote": "quoted", "signature": "of signature", "footer": "of the list’s footer", "forwarded": "forwarded"}
STANCES = {
    "support": "supports", "support_conditional": "supports, if", "object": "objects", "withdraw": "withdraws",
    "question": "asks", "conclude": "concludes", "neutral": "remarks",
}  # fmt: skip
# A statement says more than a vote that stands in the same words.
MARKED = frozenset(STANCES) - {"neutral"}
# No narrower than this are lines that were broken for their width; and what begins a line of its own: a list, a table,
# an address, what is set in from the left.
WRAPPED = 50
OWN_LINE = re.compile(r"\s|[-*+•>|#\[(]|\d+[.):]|\w+://|--")


@dataclass(frozen=True)
class StanceMark:
    """Words of a message that take a stance: the colour, and the words for those who see none."""

    start: int
    end: int
    stance: str
    words: str
    # Of the first piece that shows it: links lead there.
    anchor: str


@dataclass(frozen=True)
class MailPiece:
    """Words in a row that look the same."""

    text: str
    mark: StanceMark | None = None
    begins_mark: bool = False


@dataclass(frozen=True)
class ShownPart:
    """A part of a message: `folded` says what it is where it is closed at first."""

    label: str
    folded: str
    lines: int
    pieces: Sequence[MailPiece]


def marks_of(consensus: ConsensusShown | None) -> dict[str, list[StanceMark]]:
    """By message, in the order of the text, without overlaps: the surest words first."""
    found: dict[str, list[StanceMark]] = {}
    if consensus is None:
        return found
    for one in sorted(consensus.statements, key=lambda each: -each.confidence):
        taken = found.setdefault(one.message_key, [])
        if one.stance in MARKED and not any(one.start < other.end and other.start < one.end for other in taken):
            taken.append(StanceMark(one.start, one.end, one.stance, STANCES[one.stance], anchor_of(one)))
    return {key: sorted(marks, key=lambda each: each.start) for key, marks in found.items()}


def anchor_of(said: Said) -> str:
    return f"s-{said.message_key}-{said.start}"


def parts_of(text: str, spans: Sequence[LabelledSpan], marks: Sequence[StanceMark] = ()) -> list[ShownPart]:
    """Every character once, in order; neighbours of one kind are one part."""
    places = [(label, *_trimmed(text, start, end)) for label, start, end in _joined(spans, len(text))]
    flowing = _flowing(text, [(first, last) for label, first, last in places if label == "new"])
    shown: list[ShownPart] = []
    for label, first, last in places:
        if first >= last:
            continue
        pieces = list(_pieces(flowing if label == "new" else text, first, last, marks))
        # What takes a stance is shown, wherever it stands.
        folded = "" if any(piece.mark for piece in pieces) else FOLDED.get(label, "")
        shown.append(ShownPart(label, folded, text.count("\n", first, last) + 1, pieces))
    return shown


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the empty lines before it and the space after it."""
    said = text[start:end]
    return start + len(said) - len(said.lstrip("\n")), start + len(said.rstrip())


def _joined(spans: Iterable[LabelledSpan], length: int) -> Iterator[tuple[str, int, int]]:
    last: tuple[str, int, int] | None = None
    for one in spans:
        if last is not None and last[0] == one.label:
            last = (one.label, last[1], one.end)
            continue
        if last is not None:
            yield last
        last = (one.label, one.start, one.end)
    yield last if last is not None else ("new", 0, length)


def _flowing(text: str, places: Iterable[tuple[int, int]]) -> str:
    """As long as before, with a space for each line break that only kept a line from growing too wide: readers have
    screens of every width. Such a break comes where the next word would not have fitted into the widest line around."""
    shown = list(text)
    for start, end in places:
        for at in _kept_width(text[start:end]):
            shown[start + at] = " "
    return "".join(shown)


def _kept_width(text: str) -> Iterator[int]:
    """Where the line breaks are that only kept a line from growing too wide."""
    at = 0
    for has_words, block in groupby(text.split("\n"), key=lambda line: bool(line.strip())):
        lines = list(block)
        widest = max(map(len, lines)) if has_words else 0
        for line, following in pairwise([*lines, ""]):
            at += len(line) + 1
            full = len(line) + 1 + len(following.partition(" ")[0]) > widest >= WRAPPED
            if full and following.strip() and not OWN_LINE.match(following) and not line.rstrip().endswith(":"):
                yield at - 1


def _pieces(text: str, start: int, end: int, marks: Sequence[StanceMark]) -> Iterator[MailPiece]:
    at = start
    for mark in marks:
        first, last = max(mark.start, at), min(mark.end, end)
        if first >= last:
            continue
        if first > at:
            yield MailPiece(text[at:first])
        yield MailPiece(text[first:last], mark, begins_mark=first == mark.start)
        at = last
    if at < end:
        yield MailPiece(text[at:end])
