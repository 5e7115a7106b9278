"""Finds a quote in a text: exactly, else with white space, quote marks and dashes made alike."""

import unicodedata

_ALIKE = (
    dict.fromkeys(map(ord, "‘’‚‛′´`＇"), "'")
    | dict.fromkeys(map(ord, "“”„‟″«»＂"), '"')
    | dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
)
# No reader sees them.
_INVISIBLE = frozenset("\u00ad\u200b\u200e\u200f\u2060\ufeff")


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where the text says the quote, in code points; None where it does not."""
    wanted = quote.strip()
    if not wanted:
        return None
    at = _whole(text, wanted)
    if at is not None:
        return at, at + len(wanted)
    folded, origins = _folded(text)
    plain = _folded(wanted)[0].strip()
    at = _whole(folded, plain) if plain else None
    return None if at is None else (origins[at], origins[at + len(plain) - 1] + 1)


def _whole(text: str, wanted: str) -> int | None:
    """The first occurrence that cuts no word: "he will" is not said by "she will"."""
    at = text.find(wanted)
    while at >= 0:
        if not (_inside_word(text, at) or _inside_word(text, at + len(wanted))):
            return at
        at = text.find(wanted, at + 1)
    return None


def _inside_word(text: str, border: int) -> bool:
    if not 0 < border < len(text):
        return False
    if unicodedata.category(text[border]).startswith("M"):
        return True
    return _spaced_letter(text[border - 1]) and _spaced_letter(text[border])


def _spaced_letter(character: str) -> bool:
    """Scripts without spaces between words have no words to cut."""
    return character.isalnum() and not "\u0e00" <= character <= "\u0eff" and not "\u3040" <= character <= "\u9fff"


def _folded(text: str) -> tuple[str, list[int]]:
    """The text made alike, and where each of its characters came from."""
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
