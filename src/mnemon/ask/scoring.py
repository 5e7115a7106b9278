"""The parts of a passage's score, from what was measured: BM25, nearness in meaning, each also with its neighbours."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mnemon.ask.measures import REACH, Measures
from mnemon.ask.wording import days_named, is_one_of, names_in
from mnemon.search.kinds import (
    ASKS,
    COVERED,
    COVERED_NEARBY,
    DAY,
    HEADINGS,
    LENGTH,
    MEANING,
    MEANING_AFTER,
    MEANING_BEFORE,
    MEANING_NEARBY,
    REPLIES,
    REPLY_WORDS,
    SPEAKER,
    WORDS,
    WORDS_AFTER,
    WORDS_BEFORE,
    WORDS_NEARBY,
)
from mnemon.search.ranking import Floats, Ranking, bm25, relevance_of, share_said
from mnemon.search.terms import Corpus, Term

# What a passage is worth to the question for standing beside one that is worth 1.
LENT = 0.5


def parts_of(
    measures: Measures, terms: Sequence[Term], corpus: Corpus, ranking: Ranking, question: str
) -> dict[str, Floats]:
    """One value per passage and part. Parts that nothing is known about are left out."""
    nearby = Neighbourhood(measures, ranking.radius)
    weights = np.array([term.weight for term in terms])
    average = max(corpus.average_length, 1.0)
    parts = {}
    if len(terms):
        parts[WORDS] = bm25(measures.occurrences, measures.length, weights, average, ranking)
        wide = nearby.summed(measures.length)
        widened = average * wide.mean() / max(measures.length.mean(), 1.0) if len(wide) else average
        parts[WORDS_NEARBY] = bm25(nearby.summed(measures.occurrences), wide, weights, widened, ranking)
        parts[HEADINGS] = measures.in_headings @ weights
    if measures.similarity is not None:
        parts[MEANING] = measures.similarity
        parts[MEANING_NEARBY] = nearby.summed(measures.similarity) / nearby.summed(np.ones(len(measures.places)))
    return parts | _context_of(measures, weights, parts, nearby) | _told_by(measures, question)


def _context_of(
    measures: Measures, weights: Floats, parts: dict[str, Floats], nearby: "Neighbourhood"
) -> dict[str, Floats]:
    """How much of the question stands here, and what stands right before and after."""
    before, after = _steps(measures)
    asked_before = before(measures.asks)
    found = {ASKS: measures.asks, REPLIES: asked_before, LENGTH: np.log1p(measures.length)}
    if WORDS in parts:
        words = parts[WORDS]
        found[COVERED] = share_said(measures.occurrences > 0, weights)
        found[COVERED_NEARBY] = share_said(nearby.summed(measures.occurrences) > 0, weights)
        found |= {WORDS_BEFORE: before(words), WORDS_AFTER: after(words), REPLY_WORDS: asked_before * before(words)}
    if MEANING in parts:
        found |= {MEANING_BEFORE: before(parts[MEANING]), MEANING_AFTER: after(parts[MEANING])}
    return found


def _told_by(measures: Measures, question: str) -> dict[str, Floats]:
    """Whether the question names who speaks, or when it was said."""
    named = names_in(question, measures.speakers)
    speaks = [float(is_one_of(speaker, named)) for speaker in measures.speakers]
    when = days_named(question)
    fits = [float(when is not None and day is not None and when(day)) for day in measures.days]
    return {SPEAKER: np.array(speaks, dtype=np.float64), DAY: np.array(fits, dtype=np.float64)}


def _steps(measures: Measures) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """The value of the passage before, and of the one after, of the same revision; 0 where that was not measured."""
    places = measures.places
    follows = np.array(
        [one[0] == other[0] and one[1] + 1 == other[1] for one, other in pairwise(places)], dtype=np.float64
    )

    def before(values: Floats) -> Floats:
        return np.concatenate([[0.0], follows * values[:-1]]) if len(values) else values

    def after(values: Floats) -> Floats:
        return np.concatenate([follows * values[1:], [0.0]]) if len(values) else values

    return before, after


def relevance_in_context(measures: Measures, said: Floats, ranking: Ranking) -> Floats:
    """Each passage's relevance, or what its neighbours lend it: an answer often stands beside the question's words."""
    own = relevance_of(said, measures.similarity)
    return np.maximum(own, LENT * Neighbourhood(measures, ranking.radius).best_of_neighbours(own))


def has_words(measures: Measures) -> NDArray[np.bool_]:
    """Which words each passage has. One of its title or headings is its own: what stands below does not repeat it."""
    has: NDArray[np.bool_] = (measures.occurrences + measures.in_headings) > 0
    return has


class Neighbourhood:
    """Which passages of the same revision lie near each other, and how much each counts for the other."""

    def __init__(self, measures: Measures, radius: int) -> None:
        self._pairs: list[tuple[int, Floats]] = []
        numbers: dict[object, int] = {}
        revision = np.array([numbers.setdefault(one, len(numbers)) for one, _ in measures.places])
        for step in range(1, min(REACH, len(measures.places))):
            closeness = 1 - (measures.centre[step:] - measures.centre[:-step]) / radius
            weight: Floats = np.where(revision[step:] == revision[:-step], np.maximum(closeness, 0), 0)
            if not weight.any():
                break
            self._pairs.append((step, weight))

    def summed(self, values: NDArray[np.float64]) -> Floats:
        """Each passage's own values and its neighbours', the nearer the more."""
        total = values.copy()
        for step, weight in self._pairs:
            factor = weight[:, None] if values.ndim == 2 else weight
            total[step:] += factor * values[:-step]
            total[:-step] += factor * values[step:]
        return total

    def best_of_neighbours(self, values: Floats) -> Floats:
        """The greatest value beside each passage, the nearer the more."""
        best = np.zeros(len(values))
        for step, weight in self._pairs:
            best[step:] = np.maximum(best[step:], weight * values[:-step])
            best[:-step] = np.maximum(best[:-step], weight * values[step:])
        return best
