"""Each way of knowing has weights of its own, and the best statement is weighed beside the others."""

import math

import pytest

from mnemon.ask.quoting.judgement import shipped
from mnemon.ask.quoting.weighed import LEAD_COUNTS, beside_others


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
