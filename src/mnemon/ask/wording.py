"""Whether a word of a text is a word of the question, judged by its stem."""

import re
from collections.abc import Iterable

WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


def says(words: Iterable[str], lexeme: str) -> bool:
    """Whether one of these words has this stem. Stems are cut at the end, and may end in i where words have a y."""
    stem = lexeme[:-1] if lexeme.endswith("i") and len(lexeme) > 3 else lexeme
    longest = len(lexeme) + 4
    return any(word == lexeme or (word.startswith(stem) and len(stem) > 2 and len(word) <= longest) for word in words)
