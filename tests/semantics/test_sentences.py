"""Rules get one fact at a time; citations get whole sentences."""

import pytest

from mnemon.documents.sentences import sentences
from mnemon.semantics.sentences import split_clauses, split_sentences


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("we go with postgres. i'll write it up", ["we go with postgres.", "i'll write it up"]),
        ("Rates rise in May.[2] Nobody objected.", ["Rates rise in May.[2]", "Nobody objected."]),
    ],
)
def test_a_stop_that_is_doubtful_parts_facts_but_not_citations(text: str, facts: list[str]) -> None:
    assert [text[start:end] for start, end in split_sentences(text, 0, len(text))] == facts
    assert sentences(text) == [(0, len(text))]


@pytest.mark.parametrize("text", ["Dr. Osei will call.", "See fig. 3 of the plan.", "Ask J. Marsh about it."])
def test_an_abbreviation_ends_neither(text: str) -> None:
    assert split_sentences(text, 0, len(text)) == sentences(text) == [(0, len(text))]


def test_clauses_that_can_stand_alone_are_parted() -> None:
    text = "Ana will write the plan, and Ben will check the numbers"
    clauses = [text[start:end] for start, end in split_clauses(text, 0, len(text))]
    assert clauses == ["Ana will write the plan", "Ben will check the numbers"]
