"""What is likely tied, and yet of another thing, is only suggested."""

import pytest

from mnemon.ask.quoting.turning import CALLS_OFF
from mnemon.semantics.link.cue_words import REVERSES, SAYS_CHANGE
from mnemon.semantics.link.doubts import lettered_apart, only_meant, only_verb, turns_nothing_round
from mnemon.semantics.link.meanings import meanings
from mnemon.semantics.semantic_event import Category

from .test_pairs import said


@pytest.mark.parametrize(
    ("earlier", "later", "apart"),
    [
        ("Helios mends the roof of building A", "For building B we stay with Sunwerk", True),
        ("Boat B goes to the yard and boat C too", "Boat D stays in the water", True),
        ("Helios mends the roof of building A", "Building A is mended by Sunwerk instead", False),
        ("Helios mends the roof", "For building B we stay with Sunwerk", False),
    ],
)
def test_another_letter_is_another_thing(earlier: str, later: str, apart: bool) -> None:
    first = said("d", Category.DECISION, earlier, 1, "a")
    assert lettered_apart(said("e", Category.DECISION, later, 5, "b"), first) is apart


@pytest.mark.parametrize(
    ("promise", "report", "only"),
    [
        ("Abena will call the bank", "Abena called the landlord", True),
        ("Otto will fix the printer", "The scanner is fixed", True),
        ("Otto will fix the printer", "The printer is fixed", False),
    ],
)
def test_the_verb_alone_ties_nothing(promise: str, report: str, only: bool) -> None:
    first = said("p", Category.COMMITMENT, promise, 1, "a", "Abena Asante")
    assert only_verb(said("r", Category.EXECUTION, report, 4, "a", "Abena Asante"), first) is only


@pytest.mark.parametrize(
    ("earlier", "later", "only"),
    [
        ("Jonas does not agree but will not block it", "We agreed to send texts only for cancellations", True),
        ("Jonas does not agree but will not block it", "We agreed to send texts, not to confirm by mail", True),
        ("We agreed to send texts for bookings", "We agreed to send no texts any more", False),
    ],
)
def test_that_both_agree_ties_nothing(earlier: str, later: str, only: bool) -> None:
    first = said("d", Category.DECISION, earlier, 1, "a")
    assert only_meant(said("e", Category.DECISION, later, 5, "b"), first) is only


@pytest.mark.parametrize(
    ("earlier", "later", "silent"),
    [
        ("Jonas does not agree but will not block it", "Prices rise by 4 percent from June", True),
        ("Jonas does not agree but will not block it", "Forget that, we wait", False),
        ("The fair is on 4 May", "The fair: 11 May", False),
    ],
)
def test_what_names_nothing_and_turns_nothing_round_replaces_nothing(earlier: str, later: str, silent: bool) -> None:
    first = said("d", Category.DECISION, earlier, 1, "a")
    assert turns_nothing_round(said("e", Category.CHANGE, later, 1, "a"), first) is silent


@pytest.mark.parametrize(
    ("words", "turns"),
    [
        ("We send texts only for changes and cancellations", False),
        ("The cancellation fee is 20 euro", False),
        ("The cancellation of the fair was announced", True),
        ("We cancelled the fair", True),
    ],
)
def test_what_is_done_about_cancellations_calls_nothing_off(words: str, turns: bool) -> None:
    assert [bool(cue.search(words)) for cue in (REVERSES, SAYS_CHANGE, CALLS_OFF)] == [turns] * 3


def test_english_words_that_are_german_too_mean_nothing() -> None:
    assert not meanings("It will not be as it was") & meanings("That was not so and will not be")
    assert "want" in meanings("Wir wollen das")
