"""Compares what two quotes say by their words, for merging and linking."""

import re
from functools import lru_cache

from mnemon.semantics.word_lists import words

_WORD = re.compile(r"[^\W_][\w’'.-]*[^\W_]|[^\W_]")
_STOP = words("""a an the and or but so of in on at to for from by with about as into over under after before until till
    within is are was were be been being has have had do does did will shall would could can may might should
    must i we you he she it they me us him her them my our your his its their this that these those there here
    who which what when where how than then too also just now ok okay yes not no n't 'll 's 've 're all each
    every any some both""")
_NEGATIVE = re.compile(r"\b(?:not|never|no|none|nobody|nothing|cannot|without)\b|n['’]t\b|\bno longer\b", re.IGNORECASE)
_VALUE = re.compile(r"\d[\d.,:]*")


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
