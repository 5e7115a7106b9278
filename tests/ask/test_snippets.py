"""A snippet is a stretch of whole sentences that says most of the question and enough to be understood."""

from mnemon.ask.snippets import LONGEST, snippet_of
from mnemon.ask.wording import Listener
from mnemon.search.terms import Term

OFFICE = Term("offic", "offic", 1, 1, 1.0)
HEARS = Listener(["offic"])


def test_a_snippet_shows_more_than_a_heading() -> None:
    passage = "## 4. Office\n\nThe lease ends in September. Some would like to move."
    shown = snippet_of(passage, 100, [OFFICE], HEARS)
    assert (shown.start, shown.text) == (100, passage)
    assert shown.end == 100 + len(passage)


def test_a_snippet_that_says_enough_is_not_made_longer() -> None:
    long = "The office " + "and its lease " * 8 + "end."
    assert snippet_of(f"{long} Another sentence.", 0, [OFFICE], HEARS).text == long


def test_a_snippet_is_never_longer_than_the_limit() -> None:
    passage = "## Office\n\n" + "word " * 100 + "end."
    assert len(snippet_of(passage, 0, [OFFICE], HEARS).text) <= LONGEST
