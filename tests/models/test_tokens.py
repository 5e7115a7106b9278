"""Tokens are counted and cut in code points of the text as it is."""

import importlib.util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.models import tokens
from mnemon.models.tokens import (
    ModelTokenizer,
    PlainTokenizer,
    Tokenizer,
    count_tokens,
    find_tokenizer,
)
from mnemon.models.weights import find_weights

TOKENIZERS: list[Tokenizer] = [ModelTokenizer(find_weights().tokenizer), PlainTokenizer()]


@pytest.fixture(params=TOKENIZERS, ids=lambda one: one.name)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    chosen: Tokenizer = request.param
    return chosen


def test_spans_are_offsets_into_the_original_text(tokenizer: Tokenizer) -> None:
    text = "Café 😀 vu — 数据"
    assert [text[start:end] for start, end in tokenizer.spans(text)] == ["Café", "😀", "vu", "—", "数", "据"]


def test_counting_leaves_out_the_models_own_marks() -> None:
    assert count_tokens(TOKENIZERS[0], "the budget was approved") == 4
    assert count_tokens(TOKENIZERS[0], "") == 0


def test_no_limit_of_the_model_cuts_a_count(tokenizer: Tokenizer) -> None:
    assert count_tokens(tokenizer, "word " * 5_000) == 5_000


@settings(max_examples=100, deadline=None)
@given(words=st.lists(st.text("abcé.数😀", min_size=1, max_size=12), max_size=60), piece=st.integers(32, 200))
def test_reading_in_pieces_changes_nothing(words: list[str], piece: int) -> None:
    text = " ".join(words)
    whole = TOKENIZERS[0].spans(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "PIECE", piece)
        assert TOKENIZERS[0].spans(text) == whole


def test_a_word_without_end_is_still_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "PIECE", 50)
    spans = TOKENIZERS[0].spans("x" * 1_000)
    assert spans[0][0] == 0
    assert spans[-1][1] == 1_000


def test_the_plain_count_is_near_the_models() -> None:
    text = (find_weights().folder / "README.md").read_text()
    ratio = count_tokens(PlainTokenizer(), text) / count_tokens(TOKENIZERS[0], text)
    assert 0.8 < ratio < 1.25


def test_without_weights_the_plain_tokenizer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_tokenizer().name == "all-MiniLM-L6-v2"
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    assert find_tokenizer().name == "plain"
