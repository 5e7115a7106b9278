"""Tokens are those of the library that publishes them, at the same places."""

import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from mnemon.models.minilm import wordpiece
from mnemon.models.minilm.wordpiece import WordPieces
from mnemon.models.weights import find_weights

ROOT = Path(__file__).parents[2]
# Characters that are newer than the library's tables, or were moved since: it takes the newer accents for letters and
# the newer stops for words. None of them is in a text that people write today.
MOST_NEWER = 560
COMMON = ((0x0, 0x5FF), (0x1E00, 0x22FF), (0x3000, 0xA4CF), (0xAC00, 0xD7FF), (0xF900, 0xFFFF), (0x1F300, 0x1FAFF))
MIXED = "aZ é\u00df\u0130 1.,-_[]()\t\n\u00a0\u200b\x00\x0b数据가e\u0301😀ﬁ\u2028“„…"


@pytest.fixture(scope="module")
def library() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(find_weights().tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@pytest.fixture(scope="module")
def ours() -> WordPieces:
    return WordPieces.read(find_weights().tokenizer)


def theirs(library: Tokenizer, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    found = library.encode(text, add_special_tokens=False)
    return found.ids, found.offsets


def test_whole_documents_are_read_alike(library: Tokenizer, ours: WordPieces) -> None:
    files = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob("examples/**/*.txt")]
    assert len(files) > 100
    for file in files:
        text = file.read_text()
        assert ours.encode(text) == theirs(library, text), file


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.text(), st.text(MIXED), st.lists(st.sampled_from([*MIXED, "[SEP]", "[CLS]", "über", "x" * 101]))))
def test_any_text_is_read_alike(library: Tokenizer, ours: WordPieces, parts: str | list[str]) -> None:
    text = "".join(parts)
    if any(differs(library, ours, character) for character in set(text)):
        return
    assert ours.encode(text) == theirs(library, text)


def test_every_common_character_is_read_alike(library: Tokenizer, ours: WordPieces) -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    other = [ord(one) for one in characters if differs(library, ours, one)]
    assert len(other) < MOST_NEWER
    assert not [hex(code) for code in other if any(first <= code <= last for first, last in COMMON)]


def differs(library: Tokenizer, ours: WordPieces, character: str) -> bool:
    if unicodedata.category(character) == "Cs":
        return False
    text = f"a{character}b"
    return ours.encode(text) != theirs(library, text)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordpiece, "REMEMBERED", 10)
    pieces = WordPieces.read(find_weights().tokenizer)
    words = [f"word{number}" for number in range(100)]
    again = [pieces.encode(" ".join(words)) for _ in range(2)]
    assert again[0] == again[1]
    assert len(pieces._known) <= 10
    pieces.encode("y" * 1_000)
    assert max(map(len, pieces._known)) < 100
