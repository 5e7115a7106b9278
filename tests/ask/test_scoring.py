"""What the learned ranking looks at beside words and meaning."""

from datetime import date
from uuid import UUID

import numpy as np

from mnemon.ask.measures import Measures
from mnemon.ask.scoring import parts_of
from mnemon.documents.ingest.chunk_store import PASSAGE
from mnemon.search.ranking import Ranking
from mnemon.search.terms import Corpus, Term

TALK, OTHER = UUID(int=1), UUID(int=2)


def measured() -> Measures:
    """A question, its reply, and a passage of another text."""
    return Measures(
        places=[(TALK, 4), (TALK, 5), (OTHER, 6)],
        candidate=np.array([True, True, True]),
        centre=np.array([10.0, 60.0, 10.0]),
        length=np.array([5.0, 6.0, 7.0]),
        speakers=["Anna Berg", "Ben", None],
        days=[date(2026, 5, 8), date(2026, 6, 1), None],
        asks=np.array([1.0, 0.0, 0.0]),
        similarity=np.array([0.9, 0.2, 0.1]),
        occurrences=np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]]),
        in_headings=np.zeros((3, 2)),
    )


def parts(question: str) -> dict[str, list[float]]:
    terms = [Term("boat", "'boat'", 1, 1, 2.0), Term("red", "'red'", 2, 1, 1.0)]
    found = parts_of(measured(), terms, Corpus(3, 6.0), Ranking(), question)
    return {name: [round(float(one), 3) for one in values] for name, values in found.items()}


def test_a_reply_is_known_by_the_question_before_it_in_the_same_text() -> None:
    found = parts("boat red?")
    assert found["asks"] == [1, 0, 0]
    assert found["replies"] == [0, 1, 0]
    assert found["words_before"][1] == found["words"][0] > 0 == found["words_before"][2]
    assert found["meaning_after"] == [0.2, 0, 0]


def test_the_share_of_the_question_counts_rare_words_more() -> None:
    assert parts("boat red?")["covered"] == [0.667, 0, 0.333]


def test_the_speaker_and_the_day_that_are_named_count() -> None:
    assert parts("What did Anna say?")["speaker"] == [1, 0, 0]
    assert parts("What did Ben say in June 2026?")["day"] == [0, 1, 0]
    assert parts("What may Ben do?")["day"] == [0, 0, 0]


def test_every_part_has_a_weight() -> None:
    assert set(PASSAGE.weights) == set(parts("boat?"))
