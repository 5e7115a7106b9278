"""Each way of knowing has weights of its own, and the best statement is weighed beside the others."""

import math
from uuid import UUID

import pytest

from mnemon.ask.quoting.features import Weighing
from mnemon.ask.quoting.judgement import shipped
from mnemon.ask.quoting.needs import need_of
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.surroundings import StatementSource
from mnemon.ask.quoting.told import NOTHING_TOLD
from mnemon.ask.quoting.weighed import LEAD_COUNTS, beside_others, is_undecided, says_it_all


def values(matter: float, of_other: float = 0.0, **more: float) -> dict[str, float]:
    return {"matter": matter, "of_other": of_other, **more}


def test_only_the_judgement_of_a_reading_leans_on_one() -> None:
    judgements = shipped()
    assert set(judgements) == {"words", "meaning", "reading"}
    assert judgements["reading"].rank["read"] > 0
    assert "read" not in judgements["meaning"].rank
    assert {"read", "similarity"}.isdisjoint(judgements["words"].rank)


def test_what_the_best_has_beside_the_others() -> None:
    beside = beside_others([values(0.5), values(0.9, of_other=1.0), values(0.2)], [2.0, 1.5, 0.0])
    assert beside["lead"] == pytest.approx(-0.4)
    assert beside["margin"] == pytest.approx(0.5)
    assert (beside["most_matter"], beside["most_of_other"]) == (0.9, 1.0)
    assert "any_read" not in beside


def test_a_reading_counts_all_statements_together_and_its_lead_is_bounded() -> None:
    beside = beside_others([values(1.0, read=6.0), values(1.0, read=0.0)], [3.0, 1.0])
    assert beside["read_lead"] == LEAD_COUNTS
    assert beside["any_read"] == pytest.approx(math.log(math.exp(6.0) + 1))
    alone = beside_others([values(1.0, read=-1.0)], [0.0])
    assert (alone["read_lead"], alone["any_read"], alone["margin"]) == (0.0, -1.0, 2.0)


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("How much is the rent?", "The rent is 640 EUR per month.", True),
        ("How much is the rent?", "The rent was raised again.", False),
        ("How much is the rent?", "How much is the rent of 640 EUR worth?", False),
        ("How much is the rent of the barn?", "The rent is 640 EUR per month.", False),
        ("Who is the baker?", "The baker is Rosinante.", True),
        ("Who is the baker?", "Baker: Rosinante, 12 Mill Lane", True),
        ("Who is the mayor?", "The mayor's baker is Rosinante.", False),
        ("Who is the baker?", "The baker is ill.", False),
        ("What is the baker's phone number?", "The baker is Rosinante, tel. 0171 555 0133.", True),
        ("What is the phone number of the baker?", "The baker has come on 02.03.2026 for 12,400 EUR.", False),
        ("Wie lautet die E-Mail-Adresse der Bäckerei?", "Bäckerei: brot@rosinante.example", True),
        ("How much does the hall cost?", "The hall was lent to 30 EUR worth of guests.", False),
    ],
)
def test_a_statement_with_every_word_and_the_amount_says_it_all(question: str, text: str, says: bool) -> None:
    origin = StatementSource(UUID(int=1), UUID(int=2), 1, True, "House", "house.md", "text/markdown", None)
    weighing = Weighing(need_of(question), (), 10)
    one = weighing.measured(Statement(0, len(text), text), origin, 0.5, True, 0, frozenset(), NOTHING_TOLD)
    assert says_it_all(one) is says


@pytest.mark.parametrize(
    ("question", "text", "near", "undecided"),
    [
        ("What did we decide about pricing?", "Item: Window cleaning | Price: 1.20 EUR", 0.26, True),
        ("Was wurde zu den Preisen beschlossen?", "Artikel: Fensterreinigung | 1,20 EUR", 0.26, True),
        ("What did we decide about pricing?", "We charge 39 EUR for each berth from June.", 0.55, False),
        ("What did we decide about the hall?", "The hall is let to the choir.", 0.6, False),
        ("How much is window cleaning?", "Item: Window cleaning | Price: 1.20 EUR", 0.26, False),
    ],
)
def test_what_says_little_of_the_matter_and_tells_of_no_event_was_not_decided(
    question: str, text: str, near: float, undecided: bool
) -> None:
    origin = StatementSource(UUID(int=1), UUID(int=2), 1, True, "Prices", "prices.csv", "text/csv", None)
    weighing = Weighing(need_of(question), (), 10)
    one = weighing.measured(Statement(0, len(text), text), origin, 0.5, True, 0, frozenset(), NOTHING_TOLD)
    assert is_undecided(one.known(similarity=near), weighing) is undecided
