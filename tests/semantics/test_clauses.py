"""Rules get one fact at a time; citations get whole sentences."""

import pytest

from mnemon.documents.structure.sentences import sentences
from mnemon.semantics.rules.clauses import LONGEST_SENTENCE, split_clauses, split_facts


def facts_of(text: str) -> list[tuple[int, int]]:
    return split_facts(text, 0, len(text), sentences(text))


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("we go with postgres. i'll write it up", ["we go with postgres.", "i'll write it up"]),
        ("Rates rise in May.[2] Nobody objected.", ["Rates rise in May.[2]", "Nobody objected."]),
    ],
)
def test_a_stop_that_is_doubtful_parts_facts_but_not_citations(text: str, facts: list[str]) -> None:
    assert [text[start:end] for start, end in facts_of(text)] == facts
    assert sentences(text) == [(0, len(text))]


@pytest.mark.parametrize("text", ["Dr. Osei will call.", "See fig. 3 of the plan.", "Ask J. Marsh about it."])
def test_an_abbreviation_ends_neither(text: str) -> None:
    assert facts_of(text) == sentences(text) == [(0, len(text))]


def test_clauses_that_can_stand_alone_are_parted() -> None:
    text = "Ana will write the plan, and Ben will check the numbers"
    clauses = [text[start:end] for start, end in split_clauses(text, 0, len(text))]
    assert clauses == ["Ana will write the plan", "Ben will check the numbers"]


@pytest.mark.parametrize("word", ["reviewed the plan ", "moved\tit\n", "we agreed, and we sent it, and "])
def test_a_run_without_an_end_is_read_in_parts_that_leave_no_word_out(word: str) -> None:
    text = word * 3000
    spans = facts_of(text)
    assert max(end - start for start, end in spans) <= LONGEST_SENTENCE
    assert [part for start, end in spans for part in text[start:end].split()] == text.split()


def test_a_word_without_an_end_is_cut() -> None:
    text = "a" * 9001
    assert "".join(text[start:end] for start, end in facts_of(text)) == text
