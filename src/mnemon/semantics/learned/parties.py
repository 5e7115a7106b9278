"""The parties of a contract by the names that it gives them: "Lakeside Playhouse Inc. (the "House")"."""

import re
from functools import lru_cache

_DEFINED = re.compile(
    r"(?P<name>[^\W\d_a-zäöüß][^()\n;]{2,80}?),?\s*\(\s*(?:(?:hereinafter|hereafter|im Folgenden|nachfolgend"
    r"|nachstehend|kurz|the|der|die|das|called|genannt)[\s:,]*)*[\"'“„»]?"
    r"(?P<term>[A-ZÄÖÜ][\w-]+(?: [A-ZÄÖÜ][\w-]+)?)[\"'”“«]?"
    r"(?:\s+genannt)?\s*\)"
)
_BEFORE_NAME = re.compile(r".*\b(?i:between|and|zwischen|und|der|dem|den|die|das|the)\s+(?=[^\W\d_a-zäöüß])", re.DOTALL)
_PLACE_AFTER = re.compile(r",\s.*", re.DOTALL)
# German sets the article's case on its nouns: "des Leihnehmers".
_SHORTEST_STEM = 4


def party_called(text: str, term: str) -> str | None:
    """The full name of the party that the contract calls so."""
    plain = term.lower()
    for called, name in _parties(text):
        if called == plain or (len(called) >= _SHORTEST_STEM and plain in (f"{called}s", f"{called}es", f"{called}n")):
            return name
    return None


@lru_cache(maxsize=64)
def _parties(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((match["term"].lower(), _name(match["name"])) for match in _DEFINED.finditer(text))


def _name(words: str) -> str:
    return _PLACE_AFTER.sub("", _BEFORE_NAME.sub("", words)).strip()
