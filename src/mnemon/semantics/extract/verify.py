"""Makes a quote evidence: only what the revision's text says is; offsets that others give are hints."""

import re

from mnemon.documents.quotes import cuts_word, quote_spans
from mnemon.semantics.semantic_event import Evidence

MOST_WORDS = 25
# Scripts without spaces have few "words": their quotes are bounded by length.
MOST_CHARACTERS = 400

_WORD = re.compile(r"\S+")


def find_evidence(text: str, quote: str, hint: int | None = None, chunk_id: str | None = None) -> Evidence | None:
    """The occurrence nearest to the hint, or the first; cut after 25 words. None where the text does not say it."""
    spans = quote_spans(text, quote)
    if not spans:
        return None
    start, end = min(spans, key=lambda span: (abs(span[0] - (hint or 0)), span[0]))
    return evidence_at(text, start, end, chunk_id)


def evidence_at(text: str, start: int, end: int, chunk_id: str | None = None) -> Evidence | None:
    """The span without white space at its edges and within the limits of a quote; None where nothing is left."""
    words = []
    for word in _WORD.finditer(text, start, end):
        words.append(word)
        if len(words) == MOST_WORDS:
            break
    if not words:
        return None
    first = words[0].start()
    last = max((word.end() for word in words if word.end() - first <= MOST_CHARACTERS), default=None)
    last = last or _cluster_end(text, first + MOST_CHARACTERS)
    return Evidence(first, last, text[first:last], chunk_id)


def holds(text: str, evidence: Evidence) -> bool:
    """Whether stored evidence is what the promise says: the exact words, at the place, within the limits."""
    return (
        0 <= evidence.start < evidence.end <= len(text)
        and text[evidence.start : evidence.end] == evidence.quote
        and len(evidence.quote.split()) <= MOST_WORDS
        and bool(evidence.quote.strip())
    )


def _cluster_end(text: str, end: int) -> int:
    """The end moved back to where no written character is cut."""
    return max((border for border in range(max(1, end - 50), end + 1) if not cuts_word(text, border)), default=end)
