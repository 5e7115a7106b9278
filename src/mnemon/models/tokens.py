"""Counts and cuts text by tokens: with the embedding model's tokenizer, or a plain one where there is no model."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.minilm.wordpiece import WordPieces
from mnemon.models.weights import find_weights

TokenSpan = tuple[int, int]

PIECE = 65_536

# A CJK character is a token of its own; other words cost about one token per six letters.
PLAIN_TOKEN = re.compile(
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{1,6}|[^\w\s]"
)


class Tokenizer(Protocol):
    """Knows where the tokens of a text lie, in code points."""

    name: str

    def spans(self, text: str) -> Sequence[TokenSpan]: ...


class ModelTokenizer:
    """The tokenizer of all-MiniLM-L6-v2."""

    name = "all-MiniLM-L6-v2"

    def __init__(self, path: Path) -> None:
        self._words = WordPieces.read(path)

    def spans(self, text: str) -> Sequence[TokenSpan]:
        """Piece by piece, so that a word without end is several tokens and can be cut."""
        return [(at + start, at + end) for at, piece in _pieces(text) for start, end in self._words.encode(piece)[1]]

    def ids(self, text: str) -> list[int]:
        """Token numbers without the marks for start and end."""
        return self._words.encode(text)[0]

    def encode(self, text: str) -> tuple[list[int], list[TokenSpan]]:
        """Token numbers, and where each lies in the text."""
        return self._words.encode(text)


class PlainTokenizer:
    """Cuts at word borders and every six letters: near the model's count, and needs no file."""

    name = "plain"

    def spans(self, text: str) -> Sequence[TokenSpan]:
        return [match.span() for match in PLAIN_TOKEN.finditer(text)]


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Parts that end at white space, where no token can lie across; only a word of absurd length is cut."""
    at = 0
    while at < len(text):
        end = at + PIECE
        while at + PIECE // 2 < end < len(text) and not text[end].isspace():
            end -= 1
        if end == at + PIECE // 2:
            end = at + PIECE
        yield at, text[at:end]
        at = end


@cache
def _tokenizer_at(path: Path) -> ModelTokenizer:
    return ModelTokenizer(path)


def find_tokenizer(folder: Path | None = None) -> Tokenizer:
    """The embedding model's own tokenizer where its files are, else the plain one."""
    try:
        return _tokenizer_at(find_weights(folder).tokenizer)
    except EmbedderUnavailable:
        return PlainTokenizer()


def count_tokens(tokenizer: Tokenizer, text: str) -> int:
    return len(tokenizer.spans(text))
