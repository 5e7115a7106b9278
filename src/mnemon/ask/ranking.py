"""How passages are ranked: the parts of a score, their weights, and the two ways to put them together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mnemon.settings import Settings

Floats = NDArray[np.float64]
Fusion = Literal["weighted", "rrf"]

WORDS, WORDS_NEARBY, MEANING, MEANING_NEARBY, HEADINGS = (
    "words",
    "words_nearby",
    "meaning",
    "meaning_nearby",
    "headings",
)
PARTS = (WORDS, WORDS_NEARBY, MEANING, MEANING_NEARBY, HEADINGS)
# Chosen by cross-validation over conversations: docs/decisions has the measurements.
WEIGHTS = {WORDS: 0.5, WORDS_NEARBY: 1.0, MEANING: 1.0, MEANING_NEARBY: 0.5, HEADINGS: 0.5}


@dataclass(frozen=True)
class Ranking:
    """The constants of one way to rank."""

    fusion: Fusion = "weighted"
    rrf_constant: int = 60
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    # BM25: how soon a repeated word stops counting, and how much a long passage is held against it.
    k1: float = 0.9
    b: float = 0.4
    # Neighbours count less with their distance, and not at all this many characters away: the turns of a talk explain
    # each other, chunks of a page each stand for themselves.
    radius: int = 700
    # Passages taken from each of the two searches into the ranking.
    candidates: int = 50

    @classmethod
    def of(cls, settings: Settings) -> "Ranking":
        return cls(fusion=settings.search_fusion, rrf_constant=settings.rrf_constant)


def fuse(parts: Mapping[str, Floats], ranking: Ranking) -> tuple[Floats, dict[str, Floats]]:
    """The score of each passage, and what each part contributes to it; the contributions add up to the score."""
    if ranking.fusion == "rrf":
        shares = {name: _reciprocal(parts[name], ranking.rrf_constant) for name in (WORDS, MEANING) if name in parts}
    else:
        shares = {name: ranking.weights[name] * _standard(values) for name, values in parts.items()}
    total: Floats = np.sum(list(shares.values()), axis=0) if shares else np.zeros(0)
    return total, shares


def _standard(values: Floats) -> Floats:
    """In standard deviations from the mean of these passages, so that parts of different scales can be added."""
    spread = values.std() if len(values) else 0.0
    standard: Floats = (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)
    return standard


def _reciprocal(values: Floats, constant: int) -> Floats:
    """Reciprocal rank; a passage that a search did not find at all gets nothing from it."""
    ranks = np.empty(len(values))
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return np.where(values > 0, 1 / (constant + ranks), 0.0)
