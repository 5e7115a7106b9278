"""Finds a quote in a revision's text. Only what is found here is evidence; offsets that others give are hints."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from mnemon.semantics.semantic_event import Evidence

MOST_WORDS = 25
# Scripts without spaces have few "words": their quotes are bounded by length.
MOST_CHARACTERS = 400

_QUOTE_MARKS = dict.fromkeys(map(ord, "‘’‚‛′´`＇"), "'") | dict.fromkeys(map(ord, "“”„‟″«»＂"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_SAME_LENGTH = _QUOTE_MARKS | _DASHES
# Soft hyphen, zero-width space, direction marks, word joiner, byte-order mark: no reader sees them.
_INVISIBLE = frozenset("\u00ad\u200b\u200e\u200f\u2060\ufeff")
_SPACED_LETTER = re.compile(
    r"[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Haystack:
    """A revision's text, folded once for all the quotes that are looked for in it."""

    text: str

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        return _fold(self.text)

    def find(self, quote: str, hint: int | None = None, chunk_id: str | None = None) -> Evidence | None:
        """The occurrence nearest to the hint, or the first; cut after 25 words. None where the text does not say it."""
        wanted = quote.strip()
        if not wanted:
            return None
        spans = list(_occurrences(self.text, wanted)) or list(self._folded_occurrences(wanted))
        whole = [span for span in spans if _stands_alone(self.text, *span)]
        if not whole:
            return None
        start, end = min(whole, key=lambda span: (abs(span[0] - (hint or 0)), span[0]))
        return evidence_at(self.text, start, end, chunk_id)

    def _folded_occurrences(self, quote: str) -> Iterator[tuple[int, int]]:
        folded, origins = self._folded
        wanted = _fold(quote)[0].strip()
        if wanted:
            for start, end in _occurrences(folded, wanted):
                yield origins[start], origins[end - 1] + 1


def find_quote(text: str, quote: str, hint: int | None = None, chunk_id: str | None = None) -> Evidence | None:
    return Haystack(text).find(quote, hint, chunk_id)


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


def _fold(text: str) -> tuple[str, list[int]]:
    """White space to single spaces, quote marks and dashes to the plain ones; and where each character came from."""
    folded: list[str] = []
    origins: list[int] = []
    for position, character in enumerate(text):
        if character in _INVISIBLE:
            continue
        if character.isspace():
            if folded and folded[-1] == " ":
                continue
            character = " "
        folded.append(_SAME_LENGTH.get(ord(character), character))
        origins.append(position)
    return "".join(folded), origins


def _occurrences(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    at = text.find(wanted)
    while at >= 0:
        yield at, at + len(wanted)
        at = text.find(wanted, at + 1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """No word and no written character is cut: "he will" is not proven by "she will"."""
    return not (_joined(text, start) or _joined(text, end))


def _joined(text: str, border: int) -> bool:
    if border <= 0 or border >= len(text):
        return False
    before, after = text[border - 1], text[border]
    if after in _JOINERS or before == "\u200d" or unicodedata.category(after).startswith("M"):
        return True
    return bool(_SPACED_LETTER.match(before) and _SPACED_LETTER.match(after))


def _cluster_end(text: str, end: int) -> int:
    """The end moved back to where no written character is cut."""
    return max((border for border in range(max(1, end - 50), end + 1) if not _joined(text, border)), default=end)
