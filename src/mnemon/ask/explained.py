"""Why a question was answered as it was, or refused: what spoke for each statement that was weighed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnemon.ask.quoting.weighed import Weighed

# Statements that are shown, best first.
SHOWN = 8


@dataclass(frozen=True)
class ExplainedStatement:
    """A statement, its score, and what each value adds to that."""

    text: str
    title: str
    start: int
    end: int
    score: float
    adds: dict[str, float]


@dataclass(frozen=True)
class WeighedExplanation:
    """What the question was taken to need, the chance that the best statement answers it, and the least one told."""

    kind: str
    words: Sequence[str]
    chance: float
    enough: float
    weighed: int
    best: Sequence[ExplainedStatement]


def explain(weighed: "Weighed") -> WeighedExplanation:
    best = [
        ExplainedStatement(
            one.statement.text, one.origin.title, one.statement.start, one.statement.end, round(one.score, 4),
            weighed.judgement.adds(one.values),
        )
        for one in weighed.found[:SHOWN]
    ]  # fmt: skip
    need, enough = weighed.need, weighed.judgement.enough
    return WeighedExplanation(need.kind, need.words, round(weighed.chance, 4), enough, len(weighed.found), best)
