"""A quote is found where the text says it, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.documents.quotes import find_quote

TEXT = "She said: “the  budget\nis final” — and he\u00adld on. He will; she will not. Größe naïve 🐾."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("She said", "She said"),
        ('"the budget is final" - and', "“the  budget\nis final” — and"),
        ("held on", "he\u00adld on"),
        ("  He will;  ", "He will;"),
        ("Größe naïve 🐾", "Größe naïve 🐾"),
    ],
)
def test_the_words_are_found_whatever_their_marks_and_spaces(quote: str, found: str) -> None:
    span = find_quote(TEXT, quote)
    assert span is not None
    assert TEXT[span[0] : span[1]] == found


@pytest.mark.parametrize("quote", ["", "   ", "the budget was final", "he wil", "e will", "Grösse", "she said"])
def test_what_the_text_does_not_say_is_not_found(quote: str) -> None:
    assert find_quote(TEXT, quote) is None


# A mark or a joiner after a space belongs to the space, and is no part of its own.
unmarked = st.text(st.characters(exclude_categories=["Cs", "M"], exclude_characters="\u200d"), max_size=80)


def test_a_quote_is_found_with_other_marks_where_the_exact_ones_stand_inside_a_word() -> None:
    text = 'she said "no"; he said  “no”'
    assert find_quote(text, 'he said "no"') == (15, len(text))


@given(unmarked, st.data())
def test_any_part_between_spaces_is_found_exactly(text: str, data: st.DataObject) -> None:
    words = text.split(" ")
    first = data.draw(st.integers(0, len(words)))
    last = data.draw(st.integers(first, len(words)))
    quote = " ".join(words[first:last])
    span = find_quote(text, quote)
    if quote.strip():
        assert span is not None
        assert text[span[0] : span[1]].split() == quote.split()
