"""Which words of the question a text says, judged by their stems."""

import re
from collections.abc import Iterable

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
