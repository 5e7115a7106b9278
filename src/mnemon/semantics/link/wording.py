"""Compares what two quotes say by their words, for merging and linking."""

import re
from functools import lru_cache

from mnemon.semantics.rules.people import NOT_NAMES
from mnemon.semantics.rules.word_lists import one_of, words

_WORD = re.compile(r"[^\W_][\w’'.-]*[^\W_]|[^\W_]")
_STOP = words("""a an the and or but so of in on at to for from by with about as into over under after before until till
    within is are was were be been being has have had do does did will shall would could can may might should
    must i we you he she it they me us him her them my our your his its their this that these those there here
    who which what when where how than then too also just now ok okay yes not no n't 'll 's 've 're all each
    every any some both""")
_NEGATIVE = re.compile(r"\b(?:not|never|no|none|nobody|nothing|cannot|without)\b|n['’]t\b|\bno longer\b", re.IGNORECASE)
_COUNT = one_of("two three four five six seven eight nine ten eleven twelve fifteen twenty thirty fifty")
_MEASURE = re.compile(
    r"(?P<before>[^\W\d_]*)\s*(?P<count>[$€£]\s?\d(?:[\d.,]*\d)?"
    rf"|\b(?:(?i:{_COUNT})|(?!(?:19|20)\d\d\b)\d(?:[\d.,]*\d)?)\b"
    r"(?=\s*%|\s+(?!(?:in|on|at|for|to|by|of|and|or|is|was|as|from|with|until|before|after)\b)[a-z]))"
)
# What is told apart by its number.
_NUMBERED = words("""article block chapter clause floor gate group hall item level line lot node number option page part
    phase platform point release room section sprint stage step team tier track unit version week""")
_PROPER = re.compile(r"(?<=\w[\s,])\s*([A-Z][\w’'-]*\w)")
_VALUE = re.compile(r"\d[\d.,:]*")
# One letter that tells things apart: "Option A", "hall b2". Not the article, nor who speaks.
_LETTER = re.compile(
    r"(?<=[^\W\d_]\s)(?:[B-HJ-Z]|A(?=\s*(?:[.,;:)]|$|is\b|was\b|will\b|and\b|or\b)))\b|\b[A-Za-z]+-?\d[\w.-]*"
)
_CALENDAR = words(
    """january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays mr mrs ms dr prof i"""
)
_OPENING_NAME = re.compile(r"\W*(?P<name>[A-ZÀ-Ž][^\W\d_]+)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
# Numbers that say when: they change with a decision and do not name what it is about.
_WHEN = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)?(?:\s+(?:and|to|-|–)\s+\d{{1,2}}(?:st|nd|rd|th)?)?\s+(?:of\s+)?{_MONTH}(?:\s+\d{{4}})?"
    rf"|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}[:.]\d\d\b(?:\s*[ap]m)?"
    rf"|\b\d{{1,2}}\s*[ap]m\b|\b\d{{1,2}}\.\d{{1,2}}\.(?:\d{{2,4}})?|\b{_MONTH}\s+\d{{4}}",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Words that carry meaning, in their plain form."""
    found = (match[0].lower().replace("’", "'") for match in _WORD.finditer(text))
    return frozenset(_stem(word) for word in found if word not in _STOP and len(word) > 1)


@lru_cache(maxsize=4096)
def values(text: str) -> frozenset[str]:
    """Numbers, amounts and times: two quotes with other values do not say the same."""
    return frozenset(match[0].strip(".,:") for match in _VALUE.finditer(text))


@lru_cache(maxsize=4096)
def measures(text: str) -> frozenset[str]:
    """How much of something: "40,000 euros", "five users", "$49". In "Windows 10" and "block 4" a number is a name."""
    return frozenset(text[start:end].lower() for start, end in _measures(text))


@lru_cache(maxsize=4096)
def without_measures(text: str) -> str:
    """The text with how much left out, and of what kept."""
    for start, end in reversed(_measures(text)):
        text = text[:start] + text[end:]
    return text


def _measures(text: str) -> list[tuple[int, int]]:
    return [
        match.span("count")
        for match in _MEASURE.finditer(text)
        if not match["count"][0].isdigit()
        or not (match["before"][:1].isupper() or match["before"].lower() in _NUMBERED)
    ]


@lru_cache(maxsize=4096)
def proper_words(text: str) -> frozenset[str]:
    """Words with a capital letter that do not begin the text."""
    return frozenset(_PROPER.findall(text))


@lru_cache(maxsize=4096)
def marks(text: str) -> frozenset[str]:
    """What tells two alike statements apart: names, single letters, identifiers. Not months and titles."""
    named = (word for word in proper_words(text) if word.lower() not in _CALENDAR)
    return frozenset(word.lower() for word in (*named, *_LETTER.findall(text)))


@lru_cache(maxsize=4096)
def naming_numbers(text: str) -> frozenset[str]:
    """Numbers that name a thing, "dock number 3", "Python 3.12", and say neither when nor how much."""
    return values(_WHEN.sub(" ", without_measures(text)))


def opening_name(text: str) -> str | None:
    """The first word where its capital letter may be a name's: any word that is not known for something else."""
    match = _OPENING_NAME.match(text)
    word = match["name"].lower() if match else ""
    return word if word and word not in _STOP and word not in NOT_NAMES else None


@lru_cache(maxsize=4096)
def is_negative(text: str) -> bool:
    return _NEGATIVE.search(text) is not None


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Shared words as a share of all words."""
    return len(first & second) / len(first | second) if first and second else 0.0


def _stem(word: str) -> str:
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4), ("'s", 3)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word
