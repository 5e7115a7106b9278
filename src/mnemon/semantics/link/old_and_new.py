"""The values that a text names, and what it says that was so before: "from the 5th to the 12th", "statt am Montag"."""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from mnemon.documents.structure.calendar_words import MONTHS
from mnemon.semantics.learned.gloss import english
from mnemon.semantics.link.days import days_named
from mnemon.semantics.link.meanings import GERMAN_STOP, SLIGHT, WORD, meanings

_OLD = re.compile(
    r"(?:\b(?:instead\s+of|rather\s+than|in\s+place\s+of|replac(?:es?|ed|ing)|supersed\w+|no\s+longer|from|was|were"
    r"|used\s+to\s+be|had\s+been|until\s+now|so\s+far|previously|formerly|before|not|t(?:akes?|ook)\s+over\s+from"
    r"|succeed(?:s|ed)|out\s+goes|drop(?:s|ped|ping)?"
    r"|statt|anstatt|anstelle|ersetzt|abweichend|nicht\s+mehr|nicht|vom|von|war|waren|bisher|vorher|zuvor|früher|bislang"
    r"|löst|entfällt|streich\w*|kipp\w*|kein\w*)\b|\()\s+"
    r"(?:(?:the|of|on|at|am|um|bis|den|der|die|dem|des|das|ab|zum|auf|in)\s+)*(?P<old>[^;,:()]{1,40}?)"
    r"(?=\s+(?:to|auf|zu[mr]?|nach|and|und|because|since|weil|instead|statt|is|are|ist|wird)\b|[;,:()]|\.\s|\.?$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_COUNTED = {
    word: str(number)
    for listed in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    )
    for number, word in enumerate(listed.split())
}
_WEEKDAY = re.compile(
    r"\b(?P<day>mon|tues|wednes|thurs|fri|satur|sun)day|\b(?P<tag>mon|diens|donners|frei|sams|sonn)tags?\b|\b(?P<mitte>mittwoch)s?\b",
    re.IGNORECASE,
)
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("mon", "tues diens", "wednes mittwoch", "thurs donners", "fri frei", "satur sams", "sun sonn")
    )
    for name in names.split()
}
_MEASURED = re.compile(r"(?P<count>[€$£]?\s?\d+(?:[.,:]\d+)*)\s*(?P<unit>%|€|[^\W\d_]+)?")
_CLOCK = re.compile(r"\b(\d{1,2})[:.](\d\d)\b(?!\.)|\b(\d{1,2})\s*(?:uhr|am|pm|o'clock)\b", re.IGNORECASE)
_MONEY = frozenset({"€", "euro", "euros", "eur", "pounds", "dollars"})
_SHORTEST_UNIT = 3


@lru_cache(maxsize=8192)
def values_in(text: str) -> frozenset[str]:
    """Numbers, also in words, weekdays and months."""
    found = {match[0].lstrip("0") or "0" for match in _NUMBER.finditer(text)}
    for word in WORD.findall(text.lower()):
        if word in _COUNTED:
            found.add(_COUNTED[word])
        if word in MONTHS:
            found.add(f"month {MONTHS[word]}")
    return frozenset(found | {f"weekday {number}" for number in _weekdays(text)})


@lru_cache(maxsize=8192)
def told_as_old(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Values and words of what it says that was so before; a month alone is no value."""
    old = [match["old"] for match in _OLD.finditer(text)]
    told = frozenset[str]().union(*map(values_in, old), *map(meanings, old)) if old else frozenset[str]()
    known = frozenset[str]().union(*map(values_in, old)) if old else frozenset[str]()
    return frozenset(one for one in known if not one.startswith("month")), told - known - SLIGHT - GERMAN_STOP


@lru_cache(maxsize=8192)
def measured(text: str) -> Mapping[str, frozenset[str]]:
    """How much of what: by unit, and weekdays, hours and days of a month by themselves."""
    found: dict[str, set[str]] = defaultdict(set)
    for match in _MEASURED.finditer(text):
        unit, count = (match["unit"] or "").lower(), match["count"].strip()
        if unit in _MONEY or count[0] in "€$£":
            unit, count = "money", count.lstrip("€$£ ")
        if unit:
            found[english(unit) or unit].add(count.replace(",", "."))
    words = [word.lower() for word in WORD.findall(text)]
    for count, unit in pairwise(words):
        if count in _COUNTED and len(unit) >= _SHORTEST_UNIT:
            found[english(unit) or unit].add(_COUNTED[count])
    found["#weekday"] = set(map(str, _weekdays(text)))
    found["#clock"] = {f"{match[1] or match[3]}:{match[2] or '00'}" for match in _CLOCK.finditer(text)}
    found["#day"] = {f"{day}/{month}" for day, month in days_named(text)}
    return {unit: frozenset(counts) for unit, counts in found.items() if counts}


def has_other_value(later: str, earlier: str) -> bool:
    """Both measure the same, and differently."""
    new, old = measured(later), measured(earlier)
    return any(not new[unit] & old[unit] for unit in new.keys() & old.keys())


def _weekdays(text: str) -> set[int]:
    return {_WEEKDAYS[(match["day"] or match["tag"] or match["mitte"]).lower()] for match in _WEEKDAY.finditer(text)}
