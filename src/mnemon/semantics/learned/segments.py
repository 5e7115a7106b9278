"""Cuts a unit into the smallest parts that can each state an event of their own."""

import re
from collections.abc import Iterator

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
