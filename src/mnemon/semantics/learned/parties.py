"""The parties of a contract by the names that it gives them: "Lakeside Playhouse Inc. (the "House")", "Mieter: …"."""

import re
from collections.abc import Iterator
from functools import lru_cache

_TERM = r"(?P<term>[A-ZÄÖÜ][\w-]+(?: [A-ZÄÖÜ][\w-]+)?)"
_CALLED = (
    r"(?:hereinafter|hereafter|herein|referred to as|im Folgenden|nachfolgend|nachstehend|fortan|kurz|called|genannt"
    r"|the|der|die|das|als|as)"
)
_QUOTE = "[\"'“”„«»‚‘’]"
# In brackets behind the name, or behind a word that says that it is a name.
_DEFINED = re.compile(
    rf"\(\s*(?:{_QUOTE}?{_CALLED}[\s:,]+)*{_QUOTE}?(?:the\s+)?{_TERM}{_QUOTE}?(?:\s+genannt)?\s*\)"
    rf"|[,–—-]\s*(?:(?:hereinafter|hereafter|im Folgenden|nachfolgend|nachstehend|fortan|kurz)\b[^\n\"“„«»;]{{0,40}}?)"
    rf"{_QUOTE}?\s*(?:(?:the|der|die|das)\s+)?{_TERM.replace('term', 'later')}{_QUOTE}",
)
# "Vermieter: Karl Huber", "Lender (Party A): Anna Kovacs".
_LABELLED = re.compile(rf"^\W*{_TERM}(?:\s*\([^)\n]*\))?:\s+(?P<name>[^\n]{{2,100}})$", re.MULTILINE)
# "Anna Kovacs as the Lender", "dem Vermieter Karl Huber", "the Lender, Anna Kovacs,".
_AS = rf"\s*,?\s+(?:as|als)\s+(?:the\s+|de[rmn]\s+|die\s+)?{_TERM}"
_BEFORE = rf"\b(?:[Tt]he|[Dd]e[rmn]|[Dd]ie)\s+{_TERM},?\s+(?:(?:Frau|Herrn?|Mr\.?|Ms\.?|Mrs\.?)\s+)?"
_BORDER = re.compile(
    r".*(?:\b(?i:between|zwischen)\b|\)\s*,?\s*(?i:and|und)\b|\n\s*\n|[\"”“«],?\s*(?i:and|und)\b|(?:\n|[–—-]\s|genannt,?\s)\s*(?i:and|und)\b|\d\.\s)",
    re.DOTALL,
)
_AGENT = re.compile(r"\b(?:vertreten|represented|acting|handelnd)\b.*", re.DOTALL)
_ARTICLE = re.compile(r"\A\W*(?i:der|dem|den|die|das|the|and|und)\s+(?=[^\W\d_a-zäöüß])")
_PLACE_AFTER = re.compile(r",\s.*", re.DOTALL)
_REACH = 240
# German sets the article's case on its nouns: "des Leihnehmers".
_SHORTEST_STEM = 4


def party_called(text: str, term: str, listed: tuple[str, ...] = ()) -> str | None:
    """The full name of the party that the contract calls so; of those who take part, the only one with that word."""
    plain = re.sub(r"\A(?:the|der|die|das|des|dem|den)\s+", "", term.lower())
    for called, name in _parties(text, listed):
        if called == plain or (len(called) >= _SHORTEST_STEM and plain in (f"{called}s", f"{called}es", f"{called}n")):
            return name
    fits = [name for name in listed if plain in name.lower().split() and len(name.split()) > 1]
    return fits[0] if len(fits) == 1 and len(plain) >= _SHORTEST_STEM else None


@lru_cache(maxsize=64)
def _parties(text: str, listed: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(dict(reversed([*_found(text, listed)])).items())


def _found(text: str, listed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Terms in small letters, the surest way of naming them first."""
    for match in _DEFINED.finditer(text):
        before = _BORDER.sub("", text[max(0, match.start() - _REACH) : match.start()])
        if name := _name(before, listed):
            yield (match["term"] or match["later"]).lower(), name
    for match in _LABELLED.finditer(text):
        if own := next((name for name in listed if name in match["name"]), None):
            yield match["term"].lower(), own
    for name in listed:
        for pattern in (re.escape(name) + _AS, _BEFORE + re.escape(name)):
            if found := re.search(pattern, text):
                yield found["term"].lower(), name


def _name(words: str, listed: tuple[str, ...]) -> str | None:
    """Who takes part and is named there; else the words that are written like a name."""
    own = _AGENT.sub("", words)
    places = [(own.find(name), name) for name in listed if name in own]
    if places:
        return min(places)[1]
    plain = _PLACE_AFTER.sub("", _ARTICLE.sub("", own.strip())).strip(' ,–—-"“”„')
    return plain if plain[:1].isupper() and len(plain) <= 80 and "\n" not in plain else None
