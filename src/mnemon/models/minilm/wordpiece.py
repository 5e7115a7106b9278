"""BERT's tokens, of lower case and without accents, and where each lies in the text.

The library that publishes this weighs 38 MB with what it brings, of which nothing else is used
(docs/decisions/0056); the tests compare this with it.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

Token = tuple[int, int, int]

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MARK = re.compile("(" + "|".join(re.escape(mark) for mark in MARKS) + ")")
# Not \S: Python counts control characters as space that are left out here, inside a word too.
STRETCH = re.compile("[^\t\n\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
PRINTED_ASCII = re.compile(r"[!-~]+")
ASCII_WORD = re.compile(r"[0-9A-Za-z]+|[!-/:-@\[-`{-~]")
IDEOGRAPHS = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip
LONGEST_WORD = 100
# Stretches without space that are remembered, and how long one may be: most words of a text come again.
REMEMBERED, LONGEST_REMEMBERED = 50_000, 40


class WordPieces:
    """Safe to share between threads: what is remembered is the same whoever finds it."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._numbers = vocabulary
        self._unknown = vocabulary["[UNK]"]
        self._longest = max(len(piece) for piece in vocabulary)
        self._known: dict[str, tuple[Token, ...]] = {}

    @classmethod
    def read(cls, path: Path) -> "WordPieces":
        """From a `tokenizer.json`."""
        return cls(json.loads(path.read_bytes())["model"]["vocab"])

    def encode(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Numbers without the marks for start and end, and the places of the tokens in code points."""
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        known = self._known
        for stretch in STRETCH.finditer(text):
            at = stretch.start()
            for number, start, end in known.get(stretch[0]) or self._tokens(stretch[0]):
                ids.append(number)
                spans.append((at + start, at + end))
        return ids, spans

    def _tokens(self, stretch: str) -> tuple[Token, ...]:
        found = tuple(self._read(stretch))
        if len(stretch) <= LONGEST_REMEMBERED:
            if len(self._known) >= REMEMBERED:
                self._known = {}
            self._known[stretch] = found
        return found

    def _read(self, stretch: str) -> Iterator[Token]:
        at = 0
        for number, part in enumerate(MARK.split(stretch) if "[" in stretch else (stretch,)):
            if number % 2:
                yield self._numbers[part], at, at + len(part)
            else:
                for word, places in _ascii_words(part) if PRINTED_ASCII.fullmatch(part) else _words(part):
                    for token, first, last in self._pieces(word):
                        yield token, at + places[first], at + places[last - 1] + 1
            at += len(part)

    def _pieces(self, word: str) -> list[Token]:
        """The longest known beginning, then the longest known goings-on; or all of it is unknown."""
        found: list[Token] = []
        at, start = len(word) if len(word) > LONGEST_WORD else 0, ""
        while at < len(word):
            for end in range(min(len(word), at + self._longest), at, -1):
                number = self._numbers.get(start + word[at:end])
                if number is not None:
                    found.append((number, at, end))
                    at, start = end, "##"
                    break
            else:
                return [(self._unknown, 0, len(word))]
        return found or [(self._unknown, 0, len(word))]


def _ascii_words(part: str) -> Iterator[tuple[str, range]]:
    for match in ASCII_WORD.finditer(part.lower()):
        yield match[0], range(match.start(), match.end())


def _words(part: str) -> Iterator[tuple[str, list[int]]]:
    """Words as they are looked up, and the place of each of their letters."""
    word = ""
    places: list[int] = []
    for at, character in enumerate(part):
        for letter in _letters(character):
            if _stands_alone(letter):
                if word:
                    yield word, places
                yield letter, [at]
                word, places = "", []
            else:
                word += letter
                places.append(at)
    if word:
        yield word, places


def _letters(character: str) -> str:
    """Small, without accents; nothing of a control character."""
    if character <= "\x7f":
        return character.lower() if character.isprintable() else ""
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    parts = unicodedata.normalize("NFD", character)
    return "".join(part.lower() for part in parts if unicodedata.category(part) != "Mn")


def _stands_alone(letter: str) -> bool:
    if letter <= "\x7f":
        return not letter.isalnum()
    code = ord(letter)
    return unicodedata.category(letter)[0] == "P" or any(first <= code <= last for first, last in IDEOGRAPHS)
