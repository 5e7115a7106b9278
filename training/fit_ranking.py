"""Fits the weights of a passage's parts on the questions of `ranking_examples.py`, and says what they are worth.

`python training/fit_ranking.py DATA [HELD]`: DATA has `ranking.npz` and `ranking.json`. Prints recall@10 on the split
HELD (tune) of weights fitted on the rest, then the weights fitted on everything, as `ask/passage_weights.py` has them.
"""

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

AT, STEPS, RATE, DECAY = 10, 200, 0.05, 0.002
# A claim or question of a meeting counts this much beside a question of our own: there are ten times as many of those.
OF_MEETINGS = 3.0
Floats = NDArray[np.float64]


class Question:
    """Its candidates' parts in standard deviations, and which are gold."""

    def __init__(self, told: dict, parts: Floats, labels: NDArray[np.bool_]) -> None:
        self.told, self.labels, self.weight = told, labels, 1.0 if told["of"] == "own" else OF_MEETINGS
        spread = parts.std(axis=0)
        self.parts = np.where(spread > 1e-9, (parts - parts.mean(axis=0)) / np.where(spread > 1e-9, spread, 1), 0.0)

    def recall(self, score: Floats) -> float:
        best = np.argsort(-score, kind="stable")[:AT]
        return float(self.labels[best].sum() / max(self.labels.sum(), 1))

    def first(self, score: Floats) -> bool:
        return bool(self.labels[int(np.argmax(score))])


def load(folder: Path) -> tuple[list[str], list[Question]]:
    told = json.loads((folder / "ranking.json").read_text())
    with np.load(folder / "ranking.npz") as file:
        parts, labels = file["parts"].astype(np.float64), file["labels"]
    questions, at = [], 0
    for one in told["questions"]:
        end = at + one["candidates"]
        if one["dense"] and labels[at:end].any():
            questions.append(Question(one, parts[at:end], labels[at:end]))
        at = end
    return told["parts"], questions


class Together:
    """The candidates of all questions in one table."""

    def __init__(self, questions: list[Question]) -> None:
        self.parts = np.concatenate([one.parts for one in questions])
        self.gold = np.concatenate([one.labels for one in questions])
        sizes = np.array([len(one.labels) for one in questions])
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.question = np.repeat(np.arange(len(questions)), sizes)
        each = np.array([one.weight / one.labels.sum() for one in questions])
        self.share = (each / sum(one.weight for one in questions))[self.question]

    def gradient(self, weights: Floats) -> Floats:
        """Of the mean over gold passages of how surely each is told from all that are not."""
        score = self.parts @ weights
        raised = np.exp(score - np.maximum.reduceat(score, self.starts)[self.question])
        others = np.add.reduceat(np.where(self.gold, 0.0, raised), self.starts)[self.question]
        total = raised + others
        pushed = np.add.reduceat(np.where(self.gold, self.share / total, 0.0), self.starts)[self.question]
        pull = np.where(self.gold, self.share * (raised / total - 1), raised * pushed)
        found: Floats = self.parts.T @ pull
        return found


def fit(questions: list[Question], start: Floats) -> Floats:
    """Adam over everything at once; deterministic."""
    table = Together(questions)
    weights, mean, square = start.copy(), np.zeros(len(start)), np.zeros(len(start))
    for step in range(1, STEPS + 1):
        gradient = DECAY * weights + table.gradient(weights)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def report(name: str, questions: list[Question], weights: Floats) -> None:
    told = []
    for of in ("own", "meetings"):
        some = [one for one in questions if one.told["of"] == of]
        if some:
            recall = np.mean([one.recall(one.parts @ weights) for one in some])
            first = np.mean([one.first(one.parts @ weights) for one in some])
            told.append(f"{of} ({len(some)}) recall@10 {recall:.3f} first {first:.3f}")
    print(f"{name:30} " + "  ".join(told))


def main() -> int:
    names, questions = load(Path(sys.argv[1]))
    held = sys.argv[2] if len(sys.argv) > 2 else "tune"
    before = np.zeros(len(names))
    before[:5] = (0.5, 1.0, 1.0, 0.5, 0.5)
    apart = [one for one in questions if one.told["split"] == held or _meeting_held(one)]
    rest = [one for one in questions if one not in apart]
    report("added by hand", apart, before)
    fitted = fit(rest, before)
    report("fitted on the others", apart, fitted)
    weights = fit(questions, before)
    report("fitted on all, of all", questions, weights)
    print(json.dumps(dict(zip(names, weights.round(3).tolist(), strict=True)), indent=1))
    return 0


def _meeting_held(one: Question) -> bool:
    return one.told["of"] == "meetings" and sum(one.told["group"].encode()) % 5 == 0


if __name__ == "__main__":
    sys.exit(main())
