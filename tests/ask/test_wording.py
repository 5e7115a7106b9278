"""A listener hears the stems that a look at every pair of word and stem would find."""

import pytest

from mnemon.ask.wording import Listener, says, words_of

STEMS = ("ferret", "citi", "approv", "go", "ox", "spi", "i", "categori", "ferr", "ski")
TEXTS = (
    "Ferrets and a ferret's cities; approved approvals.",
    "Go on, going goes gone: an ox, oxen, the spies spied, categories of categorial skis.",
    "Nothing of the kind. I, II, III.",
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_every_stem_that_a_word_has_is_heard(text: str) -> None:
    expected = {stem for word in words_of(text) for stem in STEMS if says(word, stem)}
    assert Listener(STEMS).heard_in(text) == expected


def test_a_stem_is_heard_in_its_forms_only() -> None:
    assert says("cities", "citi") and says("city", "citi") and says("go", "go")
    assert not says("going", "go") and not says("citizenships", "citi") and not says("ferry", "ferret")
