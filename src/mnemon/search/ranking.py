"""One ranking for every kind: the parts of a score with the kind's weights, and a relevance that means the same.

The order is made by the parts, each in standard deviations among the candidates (or by reciprocal ranks). The score
that is shown is the relevance: 0.4 for the share of the question's words that a text has, the rare ones counting more,
and 0.6 for how near its meaning is; 0 is nothing in common, 1 the same. The end of the order, where no text is
relevant enough (`is_relevant`), is not shown at all, so that nonsense finds nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mnemon.search.kinds import MEANING, WORDS
from mnemon.settings import Settings

Floats = NDArray[np.float64]
Fusion = Literal["weighted", "rrf"]

# What the question's words count for in the relevance; its meaning counts for the rest.
WORDS_SHARE = 0.4
# What a text must reach to be shown. Words that nobody wrote, random letters above all, are near to something in any
# corpus: where most of a question is made of them, a text that has none of its words must be nearer. Chosen on LoCoMo,
# ExplainMeetSum and nonsense: docs/decisions/0036.
RELEVANT, RELEVANT_TO_UNKNOWN = 0.18, 0.23
KNOWN = 0.5


@dataclass(frozen=True)
class Ranking:
    """The constants of one way to rank."""

    fusion: Fusion = "weighted"
    rrf_constant: int = 60
    # In place of the kind's own.
    weights: Mapping[str, float] | None = None
    # BM25: how soon a repeated word stops counting, and how much a long text is held against it.
    k1: float = 0.9
    b: float = 0.4
    # Neighbours count less with their distance, and not at all this many characters away: the turns of a talk explain
    # each other, chunks of a page each stand for themselves.
    radius: int = 700
    # Texts taken from each of the two searches into the ranking.
    candidates: int = 50

    @classmethod
    def of(cls, settings: Settings) -> "Ranking":
        return cls(fusion=settings.search_fusion, rrf_constant=settings.rrf_constant)


@dataclass(frozen=True)
class RankedCandidates:
    """Which of the candidates are shown, best first, with the score of each and what its place is made of. `below` are
    those that are not relevant enough, in the same order."""

    order: list[int]
    below: list[int]
    # By candidate, as are the shares of each part in its place.
    score: Floats
    shares: dict[str, Floats]


def relevance_of(said: Floats, similarity: Floats | None) -> Floats:
    """From the share of the question's words that each text has, and how near its meaning is if that is known."""
    if similarity is None:
        return said
    relevance: Floats = WORDS_SHARE * said + (1 - WORDS_SHARE) * np.maximum(similarity, 0)
    return relevance


def share_said(has: NDArray[np.bool_], weights: Floats) -> Floats:
    """The share of the question's words that each text has, by their weights."""
    total = float(weights.sum())
    said: Floats = has @ weights / total if total else np.zeros(len(has))
    return said


def is_relevant(relevance: Floats, said: Floats, known: float, dense: bool) -> NDArray[np.bool_]:
    """Which texts are worth showing. `known` is the share of the question's words, by weight, that any text has."""
    if not dense:
        # One of the words is all that can be asked for.
        return relevance > 0
    bar = np.where((said > 0) | (known >= KNOWN), RELEVANT, RELEVANT_TO_UNKNOWN)
    shown: NDArray[np.bool_] = relevance >= bar
    return shown


def rank(
    parts: Mapping[str, Floats], relevance: Floats, relevant: NDArray[np.bool_], weights: Mapping[str, float],
    ranking: Ranking,
) -> RankedCandidates:  # fmt: skip
    """Put candidates in order. What stands above another is taken to be as relevant, so scores never rise; the end of
    the order, from where on nothing is relevant, is cut off."""
    place, shares = fuse(parts, weights, ranking)
    order = np.argsort(-place, kind="stable") if len(place) else np.zeros(0, dtype=np.int64)
    evened = np.maximum.accumulate(relevance[order][::-1])[::-1]
    shown = int(np.flatnonzero(relevant[order]).max(initial=-1)) + 1
    score = np.zeros(len(relevance))
    score[order] = np.minimum(evened, 1.0)
    in_order = [int(row) for row in order]
    return RankedCandidates(in_order[:shown], in_order[shown:], score, shares)


def fuse(
    parts: Mapping[str, Floats], weights: Mapping[str, float], ranking: Ranking
) -> tuple[Floats, dict[str, Floats]]:
    """The place of each candidate as a number, and what each part adds to it."""
    if ranking.fusion == "rrf":
        shares = {name: _reciprocal(parts[name], ranking.rrf_constant) for name in (WORDS, MEANING) if name in parts}
    else:
        weights = ranking.weights or weights
        shares = {name: weights[name] * _standard(values) for name, values in parts.items() if name in weights}
    total: Floats = np.sum(list(shares.values()), axis=0) if shares else np.zeros(0)
    return total, shares


def bm25(occurrences: Floats, length: Floats, weights: Floats, average: float, ranking: Ranking) -> Floats:
    """How well texts of these lengths say the words, by how often each stands in them."""
    norm = ranking.k1 * (1 - ranking.b + ranking.b * length / average)
    score: Floats = (occurrences * (ranking.k1 + 1) / (occurrences + norm[:, None])) @ weights
    return score


def _standard(values: Floats) -> Floats:
    """In standard deviations from the mean of these texts, so that parts of different scales can be added."""
    spread = values.std() if len(values) else 0.0
    standard: Floats = (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)
    return standard


def _reciprocal(values: Floats, constant: int) -> Floats:
    """Reciprocal rank; a text that a search did not find at all gets nothing from it."""
    ranks = np.empty(len(values))
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return np.where(values > 0, 1 / (constant + ranks), 0.0)
