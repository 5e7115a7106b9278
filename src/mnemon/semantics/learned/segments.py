"""Cuts a unit into the smallest parts that can each state an event of their own."""

import re
from collections.abc import Iterator, Sequence

from mnemon.documents.structure.lines import UNFINISHED
from mnemon.documents.structure.sentences import Span, trimmed
from mnemon.semantics.rules.layout import Unit

# Finer than the clauses that rules read: the learned reader joins neighbours that say one thing. The stop of
# "16. März", of "B. Lindgren" and of "no. 31" ends nothing.
_BORDER = re.compile(
    r"(?P<strong>\s*\n\s*|[;]\s+|\s+(?:—|–|--|->|→)\s+|(?<!\d)(?<!\b\w)(?:\.\s+(?=[^\W\d])"
    r"|(?<!\b[Nn][or])(?<!\b[Nn]os)\.\s+(?=\d))|[!?…]\s+(?=\w))"
    r"|(?P<weak>,\s+|\s+(?=(?:and|but|so|because|while|und|aber|denn|weil|während|sondern)\s))"
)
_CELL_BORDER = re.compile(r"(?P<strong>\s*[|\t;]\s*)")
_FEWEST_WORDS = 3
# Nobody wraps a line that is shorter; a greeting or a head stands on one.
_SHORTEST_WRAPPED = 40
# After a weak border a part has to be able to stand alone.
_FEWEST_AFTER_WEAK = 4


def segments_of(unit: Unit) -> list[Span]:
    """Spans of the revision's text, in order, without white space at the edges."""
    border = _CELL_BORDER if unit.form == "row" else _BORDER
    return [
        span
        for start, end in _parts(unit.text, border)
        if (span := trimmed(unit.text, start, end)) and (span := (span[0] + unit.start, span[1] + unit.start))
    ]


def within_lines(text: str, segments: Sequence[Span], start: int, end: int) -> Span:
    """Where the line was only full: the quote begins and ends with a segment that a line break does not part."""
    places = [place for place, (first, last) in enumerate(segments) if first < end and last > start]
    if not places:
        return start, end
    first, last = places[0], places[-1]
    while first and _is_wrapped(text, segments[first - 1][1], segments[first][0]):
        first -= 1
    while last + 1 < len(segments) and _is_wrapped(text, segments[last][1], segments[last + 1][0]):
        last += 1
    return min(start, segments[first][0]), max(end, segments[last][1])


def _is_wrapped(text: str, end: int, start: int) -> bool:
    line = text[text.rfind("\n", 0, end) + 1 : end]
    full = text[end:start].count("\n") == 1 and len(line) >= _SHORTEST_WRAPPED and line[-1].isalnum()
    # A capital may begin something new.
    return full and (text[start].islower() or UNFINISHED.search(line) is not None)


def _parts(text: str, border: re.Pattern[str]) -> Iterator[Span]:
    begin = 0
    for match in border.finditer(text):
        fewest = _FEWEST_WORDS if match["strong"] else _FEWEST_AFTER_WEAK
        if _words(text[begin : match.start()]) >= _FEWEST_WORDS and _words(text[match.end() :]) >= fewest:
            # A full stop stays with what it ends.
            yield begin, match.start() + len(match[0].rstrip(" \t\n;|–—-→,>"))
            begin = match.end()
    yield begin, len(text)


def _words(text: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in text.split())
