"""Finds a quote in a text: exactly, else with white space, quote marks and dashes made alike. No word is cut."""

import re
import unicodedata
from collections.abc import Iterator

from mnemon.documents.structure.sentences import Span

_ALIKE = (
    dict.fromkeys(map(ord, "‘’‚‛′´`＇"), "'")
    | dict.fromkeys(map(ord, "“”„‟″«»＂"), '"')
    | dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
)
# Soft hyphen, zero-width space, direction marks, word joiner, byte-order mark: no reader sees them.
_INVISIBLE = frozenset("\u00ad\u200b\u200e\u200f\u2060\ufeff")
# Scripts without spaces between words have no words to cut.
_SPACED_LETTER = re.compile(
    r"[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_JOINER = "\u200d"
_JOINED_TO_LAST = frozenset("\u200d\ufe0e\ufe0f")


def find_quote(text: str, quote: str) -> Span | None:
    """Where the text says the quote first, in code points; None where it does not."""
    return next(iter(quote_spans(text, quote)), None)


def quote_spans(text: str, quote: str) -> list[Span]:
    """Every place where the text says the quote: "she will" does not say "he will"."""
    wanted = quote.strip()
    if not wanted:
        return []
    return list(_whole_occurrences(text, wanted)) or _folded_occurrences(text, wanted)


def cuts_word(text: str, border: int) -> bool:
    """Whether a word or a written character goes on across this border."""
    if border <= 0 or border >= len(text):
        return False
    before, after = text[border - 1], text[border]
    if after in _JOINED_TO_LAST or before == _JOINER or unicodedata.category(after).startswith("M"):
        return True
    return bool(_SPACED_LETTER.match(before) and _SPACED_LETTER.match(after))


def _folded_occurrences(text: str, quote: str) -> list[Span]:
    folded, origins = _fold(text)
    wanted = _fold(quote)[0].strip()
    if not wanted:
        return []
    return [(origins[start], origins[end - 1] + 1) for start, end in _whole_occurrences(folded, wanted)]


def _whole_occurrences(text: str, wanted: str) -> Iterator[Span]:
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not (cuts_word(text, start) or cuts_word(text, end)):
            yield start, end
        start = text.find(wanted, start + 1)


def _fold(text: str) -> tuple[str, list[int]]:
    """White space to single spaces, quote marks and dashes to the plain ones; and where each character came from."""
    folded: list[str] = []
    origins: list[int] = []
    for position, character in enumerate(text):
        if character in _INVISIBLE:
            continue
        plain = " " if character.isspace() else _ALIKE.get(ord(character), character)
        if plain == " " and folded and folded[-1] == " ":
            continue
        folded.append(plain)
        origins.append(position)
    return "".join(folded), origins
