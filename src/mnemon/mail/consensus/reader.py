"""Who judges sentences: fixed formulas alone, or together with what a learned reader says of them."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Protocol

from mnemon.mail.consensus.formulas import formula_of
from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.situation import Situation
from mnemon.mail.consensus.stances import JUDGED, Stance

PACKAGE = "mnemon.mail.consensus"
# Raise it when rules of consensus change: every thread is then read anew after the next import.
RULES = 2
# How sure a fixed formula is without the reader, counted on labelled threads.
FORMULA_ALONE = 0.8


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence and its most likely stance; `scores` has how likely each of those is that are judged."""

    said: SaidSentence
    stance: Stance
    confidence: float
    by_formula: bool
    scores: dict[Stance, float]


class StanceReader(Protocol):
    """Judges the sentences of one message. `name` is recorded with what it said."""

    name: str

    def judge(self, said: Sequence[SaidSentence], situation: Situation) -> list[JudgedSentence]: ...


class FormulaReader:
    """Fixed formulas alone: where the embedder's weights are not installed."""

    name = f"formulas-{RULES}"

    def judge(self, said: Sequence[SaidSentence], situation: Situation) -> list[JudgedSentence]:
        found = []
        for one in said:
            stance = formula_of(one.words)
            scores: dict[Stance, float] = {stance: FORMULA_ALONE} if stance else {}
            found.append(JudgedSentence(one, stance or "neutral", FORMULA_ALONE, stance is not None, scores))
        return found


def weighed(said: SaidSentence, logits: Sequence[Sequence[float]]) -> JudgedSentence:
    """What the readers and the formula say together; the most likely stance that passes its own mark, else neutral."""
    table, formula = stance_table(), formula_of(said.words)
    scores: dict[Stance, float] = {}
    for stance, *read in zip(JUDGED, *logits, strict=True):
        values = features_of(stance, read, formula)
        scores[stance] = round(_likely(sum(map(float.__mul__, table["weights"][stance], values))), 3)
    if formula is not None and formula != "question":
        # Fixed words are not lost because the reader doubts them.
        return JudgedSentence(said, formula, max(scores[formula], FORMULA_ALONE), True, scores)
    passing = [stance for stance in JUDGED if scores[stance] >= table["marks"][stance]]
    if not passing:
        return JudgedSentence(said, "neutral", round(1 - max(scores.values()), 3), False, scores)
    best = max(passing, key=lambda stance: scores[stance] - table["marks"][stance])
    return JudgedSentence(said, best, scores[best], formula == best, scores)


def features_of(stance: Stance, read: Sequence[float], formula: Stance | None) -> list[float]:
    """What speaks for a stance: a formula for it, a formula for another, and each reader's logit."""
    bounded = [max(-8.0, min(8.0, logit)) for logit in read]
    return [1.0, float(formula == stance), float(formula is not None and formula != stance), *bounded]


def _likely(score: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


@cache
def stance_table() -> dict[str, Any]:
    text = resources.files(PACKAGE).joinpath("stance.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
