"""What is likely tied, and yet of another thing, is only suggested."""

import pytest

from mnemon.semantics.link.doubts import lettered_apart, only_verb
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
