"""The learned judgement: which statement answers best, and whether it answers at all."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from mnemon.ask.quoting.features import CandidateStatement, StatementValues

FILE = Path(__file__).with_name("judgement.json")

# What is known of statements: their words alone; how near they are in meaning too; how each reads as an answer too.
KnownStatements = Literal["words", "meaning", "reading"]


@dataclass(frozen=True)
class Judgement:
    """`rank` orders statements; `answer` gives the chance, from 0 to 1, that the best one is right; below `enough` the
    question is refused."""

    rank: Mapping[str, float]
    answer: Mapping[str, float]
    enough: float

    def ranked(self, found: Sequence[CandidateStatement]) -> list[CandidateStatement]:
        weighed = [replace(one, score=self.score(one.values)) for one in found]
        return sorted(weighed, key=lambda one: (-one.score, one.statement.start))

    def score(self, values: StatementValues) -> float:
        return sum(weight * values.get(name, 0.0) for name, weight in self.rank.items())

    def chance(self, values: StatementValues) -> float:
        """That a statement with these values answers the question."""
        total = self.answer.get("bias", 0.0) + sum(
            weight * values.get(name, 0.0) for name, weight in self.answer.items() if name != "bias"
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    def adds(self, values: StatementValues) -> dict[str, float]:
        """What each value adds to the place of a statement; those that add nothing are left out."""
        parts = {name: weight * values.get(name, 0.0) for name, weight in self.rank.items()}
        return {name: round(value, 4) for name, value in parts.items() if abs(value) >= 0.005}


@cache
def shipped() -> Mapping[KnownStatements, Judgement]:
    """A judgement for each way of knowing: what words have to carry alone, they need not carry beside a reading."""
    given = json.loads(FILE.read_text(encoding="utf-8"))
    return {known: Judgement(one["rank"], one["answer"], one["enough"]) for known, one in given.items()}
