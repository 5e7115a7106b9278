"""Claims about what is shown around a quote."""

import pytest

from mnemon.ask.citations import words_after, words_before

TEXT = "The harbourmaster counted seventeen herons beside the eastern breakwater."


@pytest.mark.parametrize("most", range(1, len(TEXT)))
def test_words_around_a_quote_are_whole(most: int) -> None:
    start, end = TEXT.index("seventeen"), TEXT.index(" beside")
    before, after = words_before(TEXT, start, most), words_after(TEXT, end, most)
    assert TEXT[:start].endswith(before) and TEXT[end:].startswith(after)
    assert set(before.split()) <= set(TEXT.split()) or " " not in TEXT[max(0, start - most) : start - 1]
    assert set(after.split()) <= set(TEXT.split()) or " " not in TEXT[end + 1 : end + most]


def test_what_has_no_spaces_is_cut_anywhere() -> None:
    assert words_before("漢字" * 10, 10, 4) == "漢字漢字"
    assert words_after("漢字" * 10, 10, 4) == "漢字漢字"


def test_all_is_shown_where_all_fits() -> None:
    assert words_before(TEXT, len(TEXT), 300) == TEXT
    assert words_after(TEXT, 0, 300) == TEXT
