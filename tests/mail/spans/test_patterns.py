"""Which lines the patterns are tried on: all that they may match."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mnemon.mail.spans import patterns as like

TRIED = [like.OLD_MAIL_LINES, like.OPENING_LINES, like.CODE_LINES, like.BALLOT_LINES, like.ENDING_LINES]


@pytest.mark.parametrize("pattern", TRIED)
def test_no_line_that_a_pattern_matches_is_passed_over(pattern: re.Pattern[str]) -> None:
    @settings(max_examples=400, deadline=None)
    @given(some.from_regex(pattern))
    def check(text: str) -> None:
        assert all(like.may_begin(line[:3]) for line in text.split("\n") if pattern.match(line))

    check()


def test_most_prose_is_passed_over() -> None:
    assert not any(map(like.may_begin, ("I t", "The", "and", "Pleas", "a b")))
    assert all(map(like.may_begin, ("Tha", "THA", "On ", "-- ", " On", "diſ", "")))
