"""One rule ranks every kind of text: relevance from 0 to 1, never rising down the order, the irrelevant end cut."""

import math

import numpy as np
import pytest

from mnemon.memory.vectors import MEMORY
from mnemon.search.kinds import MEANING, WORDS
from mnemon.search.ranking import (
    RELEVANT,
    RELEVANT_TO_UNKNOWN,
    Ranking,
    is_relevant,
    rank,
    relevance_of,
    share_said,
)
from mnemon.search.terms import Term, lookups, rarity


def term(name: str, texts: int, of: int = 100_000) -> Term:
    return Term(name, name, len(name), texts, rarity(texts, of))


def test_relevance_is_the_share_of_words_and_the_nearness_of_meaning() -> None:
    said = share_said(np.array([[True, True], [True, False], [False, False]]), np.array([3.0, 1.0]))
    assert said.tolist() == [1.0, 0.75, 0.0]
    assert relevance_of(said, np.array([1.0, 0.5, -0.2])) == pytest.approx([1.0, 0.6, 0.0])
    assert relevance_of(said, None).tolist() == said.tolist()


def test_what_stands_above_another_is_as_relevant_and_the_end_is_cut_off() -> None:
    relevance = np.array([0.3, 0.5, RELEVANT - 0.01, 0.0])
    parts = {WORDS: np.array([4.0, 3.0, 2.0, 1.0]), MEANING: np.array([4.0, 3.0, 2.0, 1.0])}
    standing = rank(parts, relevance, np.array([False, True, False, False]), MEMORY.weights, Ranking())
    assert (standing.order, standing.below) == ([0, 1], [2, 3])
    assert standing.score[:2].tolist() == [0.5, 0.5]
    assert rank(parts, relevance, relevance > 1, MEMORY.weights, Ranking()).order == []
    nothing = np.zeros(0)
    assert rank({WORDS: nothing}, nothing, nothing > 0, MEMORY.weights, Ranking()).order == []


def test_a_text_is_shown_for_a_word_or_for_its_meaning_and_words_that_nobody_wrote_must_be_nearer() -> None:
    relevance = np.array([RELEVANT_TO_UNKNOWN, RELEVANT, RELEVANT, RELEVANT - 0.01])
    said = np.array([0.0, 0.0, 0.1, 0.1])
    assert is_relevant(relevance, said, 0.2, dense=True).tolist() == [True, False, True, False]
    assert is_relevant(relevance, said, 0.8, dense=True).tolist() == [True, True, True, False]
    # Without vectors, one of the words is all that can be asked for.
    assert is_relevant(said, said, 0.2, dense=False).tolist() == [False, False, True, True]


def test_rare_words_are_looked_up_together_and_common_ones_in_the_heaviest_combinations() -> None:
    rare, budget, week = term("x", 10), term("budget", 5_000), term("week", 50_000)
    found = lookups([rare, budget, week])
    assert found.one_of[0] == [rare.key] and found.every[0] == [] and found.bars[0] == math.inf
    assert list(found.every[1:]) == [[budget.key, week.key], [budget.key], [week.key]]
    assert list(found.bars[1:]) == sorted(found.bars[1:], reverse=True)
    # Within a part of the texts, words are found in fewer.
    assert lookups([rare, budget, week], share=0.01).every == [[]]
    assert lookups([term("unknown", 0)]).bars == []
