"""Which words of the question a text says, judged by their stems."""

import re
from collections.abc import Iterable

WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


class Listener:
    """Hears a question's stems in texts. It remembers each word that it has judged."""

    def __init__(self, lexemes: Iterable[str]) -> None:
        self._lexemes = tuple(lexemes)
        self._heard: dict[str, frozenset[str]] = {}

    def heard_in(self, text: str) -> frozenset[str]:
        """The stems that the text says."""
        said: set[str] = set()
        for word in words_of(text):
            heard = self._heard.get(word)
            if heard is None:
                heard = self._heard[word] = frozenset(lexeme for lexeme in self._lexemes if says(word, lexeme))
            said |= heard
        return frozenset(said)


def says(word: str, lexeme: str) -> bool:
    """Whether the word has this stem. Stems are cut at the end, and may end in i where words have a y."""
    stem = lexeme[:-1] if lexeme.endswith("i") and len(lexeme) > 3 else lexeme
    return word == lexeme or (len(stem) > 2 and word.startswith(stem) and len(word) <= len(lexeme) + 4)
