"""Refits the last, linear layer of the reader to corrections, and says how it does on those that were held back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
# Fewer say nothing that would hold for the next text.
LEAST_LABELS = 20
FOLDS = 5
STEPS = 30
# How much the shipped weights count against a tenant's few corrections: as much as this many of them.
RIDGE = 4.0
# What is gained by less than this is chance.
LEAST_GAIN = 0.005


@dataclass(frozen=True)
class LabelledProposal:
    """What speaks for an event, and whether a person says that it is one."""

    document: str
    start: int
    features: tuple[float, ...]
    right: bool


@dataclass(frozen=True)
class ReaderFigures:
    """How well confidence told right from wrong: mean log-loss, and the share on the right side of one half."""

    log_loss: float
    accuracy: float


@dataclass(frozen=True)
class Refit:
    """Weights that are fitted to all corrections, and how weights that had not seen a correction judged it."""

    weights: tuple[float, ...]
    labels: int
    before: ReaderFigures
    after: ReaderFigures

    @property
    def is_better(self) -> bool:
        gained = self.before.log_loss - self.after.log_loss
        return gained >= LEAST_GAIN and self.after.accuracy >= self.before.accuracy


def refit(labelled: Sequence[LabelledProposal], shipped: Sequence[float]) -> Refit:
    """Each fifth is judged by weights that were fitted to the others. Nothing is random."""
    ordered = sorted(labelled, key=lambda one: (one.document, one.start, one.features))
    rows = np.array([one.features for one in ordered], dtype=float)
    right = np.array([one.right for one in ordered], dtype=float)
    start = np.array(shipped, dtype=float)
    held = np.zeros(len(ordered))
    folds = _folds(ordered)
    for fold in range(FOLDS):
        other = folds != fold
        held[~other] = _likely(rows[~other] @ fit(rows[other], right[other], start))
    return Refit(
        tuple(round(float(one), 4) for one in fit(rows, right, start)), len(ordered),
        _figures(_likely(rows @ start), right), _figures(held, right),
    )  # fmt: skip


def fit(rows: Numbers, right: Numbers, start: Numbers) -> Numbers:
    """Newton's steps on the log-loss; what no correction speaks of stays as it was."""
    weights = start.copy()
    for _ in range(STEPS):
        likely = _likely(rows @ weights)
        slope = rows.T @ (likely - right) + RIDGE * (weights - start)
        curve = (rows * (likely * (1 - likely))[:, None]).T @ rows + RIDGE * np.eye(len(weights))
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def _folds(ordered: Sequence[LabelledProposal]) -> NDArray[np.int64]:
    """By document, since the sentences of one are alike; where there are few, by place."""
    documents = sorted({one.document for one in ordered})
    if len(documents) < FOLDS:
        return np.arange(len(ordered)) % FOLDS
    return np.array([documents.index(one.document) % FOLDS for one in ordered])


def _figures(likely: Numbers, right: Numbers) -> ReaderFigures:
    sure = np.clip(likely, 1e-6, 1 - 1e-6)
    loss = -np.mean(right * np.log(sure) + (1 - right) * np.log(1 - sure))
    return ReaderFigures(round(float(loss), 4), round(float(np.mean((likely >= 0.5) == (right > 0.5))), 4))


def _likely(scores: Numbers) -> Numbers:
    likely: Numbers = 1 / (1 + np.exp(-np.clip(scores, -30, 30)))
    return likely
