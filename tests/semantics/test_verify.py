"""A quote is evidence only where the text really says it."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemon.semantics.extract.verify import MOST_CHARACTERS, MOST_WORDS, evidence_at, find_evidence, holds
from mnemon.semantics.semantic_event import Evidence

# Combining marks, emoji with joiners, right-to-left letters and marks, CRLF, odd spaces, quotes and dashes.
PIECES = [
    "e\u0301", "n\u0303o", "👩‍👩‍👧", "👍🏽", "❤️", "שלום", "مرحبا", "\u200f", "\r\n", "\u00a0", "\u2003", "“so”",
    "it’s", "–", "—", "-", "\u00ad", "\u200b", "漢字", "かな", "word", "Word", "12", ".", "\t", "\u0130", "x\u0338",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=6) | st.just(" "), max_size=60).map("".join)


def test_an_exact_quote_is_found_where_it_stands() -> None:
    text = "Minutes. We will use Postgres for billing. Thanks."
    assert find_evidence(text, "use Postgres") == Evidence(17, 29, "use Postgres")


def test_a_quote_is_given_in_the_words_of_the_text() -> None:
    text = "She said:\r\n“we’re  going –\tfor now – with\u00a0tiers”."
    found = find_evidence(text, '"we\'re going - for now - with tiers"')
    assert found
    assert found.quote == text[found.start : found.end] == "“we’re  going –\tfor now – with\u00a0tiers”"


@pytest.mark.parametrize("quote", ["", "   ", "we will use MySQL", "USE POSTGRES", "\u200b", "he will pay"])
def test_what_the_text_does_not_say_is_not_found(quote: str) -> None:
    assert find_evidence("We will use Postgres, and she will pay.", quote) is None


def test_a_letter_is_not_cut_from_its_accents() -> None:
    assert find_evidence("the cafe\u0301 opens", "the cafe") is None
    assert find_evidence("a 👩‍👩‍👧 family", "a 👩") is None


def test_scripts_without_spaces_are_searched_within_their_runs() -> None:
    assert find_evidence("我们决定使用数据库", "决定使用") == Evidence(2, 6, "决定使用")


def test_the_nearest_occurrence_to_the_hint_is_taken() -> None:
    text = "I agree. No. I agree. Yes. I agree."
    assert [find_evidence(text, "I agree", hint).start for hint in (None, 0, 12, 22, 999)] == [0, 0, 13, 27, 27]  # type: ignore[union-attr]


def test_a_long_quote_is_cut_after_its_limit_of_words() -> None:
    text = " ".join(f"word{number}" for number in range(40))
    found = find_evidence(text, text)
    assert found
    assert found.quote.split()[-1] == f"word{MOST_WORDS - 1}"


def test_a_long_run_without_spaces_is_cut_too() -> None:
    found = evidence_at("漢" * 1000, 0, 1000)
    assert found
    assert len(found.quote) == MOST_CHARACTERS


def test_stored_evidence_that_moved_or_changed_does_not_hold() -> None:
    text = "We decided to wait."
    good = Evidence(0, 10, "We decided")
    assert holds(text, good)
    assert not holds(text, Evidence(1, 11, "We decided"))
    assert not holds(text, Evidence(0, 10, "We refused"))
    assert not holds(text, Evidence(0, 99, text))
    assert not holds(text, Evidence(5, 5, ""))


@given(texts, st.integers(0, 200), st.integers(0, 200), st.none() | st.integers(-5, 500))
@example("a\r\nb", 0, 4, None)
def test_any_span_of_any_text_is_found_again_word_for_word(
    text: str, first: int, second: int, hint: int | None
) -> None:
    """Whatever is asked for, what comes back stands in the text at the place it names."""
    quote = text[min(first, second) : max(first, second)]
    found = find_evidence(text, quote, hint)
    if found:
        assert holds(text, found)
    whole = evidence_at(text, min(first, second), max(first, second))
    if whole:
        assert holds(text, whole)


@given(texts)
def test_a_whole_text_is_found_in_itself_however_its_spaces_and_quotes_were_changed(text: str) -> None:
    told = " ".join(text.replace("’", "'").replace("“", '"').replace("”", '"').replace("–", "-").split())
    # A mark or a joiner belongs to the sign before it, which is a space here: such a word has no beginning of its own.
    whole = all(unicodedata.category(word[0]) not in ("Mn", "Mc", "Me", "Cf") for word in told.split())
    if told and whole and len(told.split()) <= MOST_WORDS and len(text) <= MOST_CHARACTERS:
        found = find_evidence(text, told)
        assert found
        assert holds(text, found)


@given(texts, texts)
def test_a_quote_that_is_not_in_the_text_is_never_found(text: str, quote: str) -> None:
    found = find_evidence(text, quote)
    letters = {letter for letter in quote if letter.isalnum()}
    if found:
        assert letters <= set(text)
