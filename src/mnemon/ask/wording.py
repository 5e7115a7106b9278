"""Which words of the question a text says, judged by their stems."""

import re
from collections.abc import Callable, Iterable
from datetime import date

from mnemon.documents.structure.calendar_words import MONTHS

WORD = re.compile(r"\w+")
SHORTEST_STEM = 3
SHORTEST_NAME = 3
# Words that name a time.
TIME = re.compile(
    r"\d{1,4}[./:-]\d|\b(19|20)\d\d\b|\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|"
    r"april|may|june|july|august|september|october|november|december|yesterday|today|tomorrow|tonight|"
    r"(last|next|this) (week|weekend|month|year|night|summer|winter|spring|fall)|ago)\b",
    re.IGNORECASE,
)
_MONTH_NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))
# "May" is a month only where it looks like one.
MAY = re.compile(r"\b(?:in|of|since|during|until|by|from|last|on|\d{1,2}(?:st|nd|rd|th|\.)?) May\b|\bMay \d")
MONTH = re.compile(rf"\b(?!may\b)({_MONTH_NAMES})\b", re.IGNORECASE)
YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
DAY_OF_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?:{_MONTH_NAMES})\b|\b(?:{_MONTH_NAMES})\.? (\d{{1,2}})\b",
    re.IGNORECASE,
)


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


def names_in(question: str, speakers: Iterable[str | None]) -> tuple[str, ...]:
    """The words of the question that are names of these speakers, in its order."""
    known = {word for speaker in set(speakers) if speaker for word in words_of(speaker)}
    asked = dict.fromkeys(words_of(question))
    return tuple(word for word in asked if word in known and len(word) >= SHORTEST_NAME)


def is_one_of(speaker: str | None, named: Iterable[str]) -> bool:
    """Whether a speaker has one of these names."""
    return speaker is not None and not set(words_of(speaker)).isdisjoint(named)


def days_named(question: str) -> Callable[[date], bool] | None:
    """Whether a day fits the months and years that the question names; None where it names none."""
    months = {MONTHS[word.lower()] for word in MONTH.findall(question)}
    if MAY.search(question):
        months.add(MONTHS["may"])
    years = {int(word) for word in YEAR.findall(question)}
    numbers = {int(word) for pair in DAY_OF_MONTH.findall(question) for word in pair if word}
    if not months and not years:
        return None
    return lambda day: (
        (not months or day.month in months) and (not years or day.year in years) and (not numbers or day.day in numbers)
    )


class Listener:
    """Hears a question's stems in texts. It remembers each word that it has judged."""

    def __init__(self, lexemes: Iterable[str]) -> None:
        # By their beginning, so that most words of a text are compared with none of them.
        self._lexemes: dict[str, list[str]] = {}
        for lexeme in lexemes:
            self._lexemes.setdefault(lexeme[:SHORTEST_STEM], []).append(lexeme)
        self._heard: dict[str, frozenset[str]] = {}

    def heard_in(self, text: str) -> frozenset[str]:
        """The stems that the text says."""
        said: set[str] = set()
        for word in words_of(text):
            heard = self._heard.get(word)
            if heard is None:
                alike = self._lexemes.get(word[:SHORTEST_STEM], ())
                heard = self._heard[word] = frozenset(lexeme for lexeme in alike if says(word, lexeme))
            if heard:
                said |= heard
        return frozenset(said)


def says(word: str, lexeme: str) -> bool:
    """Whether the word has this stem. Stems are cut at the end, and may end in i where words have a y."""
    stem = lexeme[:-1] if lexeme.endswith("i") and len(lexeme) > SHORTEST_STEM else lexeme
    return word == lexeme or (len(stem) >= SHORTEST_STEM and word.startswith(stem) and len(word) <= len(lexeme) + 4)
