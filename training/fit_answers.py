"""Learns the judgement of answers from our own questions: which statement answers, and whether it does at all.

    .venv/bin/python training/fit_answers.py HOME [collect] [fit]
    .venv/bin/python training/fit_answers.py HOME read DATA LOGITS.npz ...

HOME keeps the store and what was measured of each candidate, so that fitting can be repeated. `read` puts beside each
candidate how its reading judged it: DATA is the folder that `statement_examples.py` wrote, LOGITS are those that
`train_statements.py` gave what each fold had held back.
"""

import asyncio
import json
import pickle
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from asked_library import GoldQuestion, Library, is_quoted, load_questions, open_library
from numpy.typing import NDArray

from mnemon.ask.filters import EVERYTHING
from mnemon.ask.learned.pairs import ReadStatement
from mnemon.ask.quoting import weighed
from mnemon.ask.quoting.judgement import FILE
from mnemon.cli.context import OPERATOR
from mnemon.documents.access import Reader
from mnemon.telemetry import configure_logging

Floats = NDArray[np.float64]
# More are measured for learning than an answer compares.
MEASURED = 24
# Below this chance a question is refused: chosen on the curve of `tune`.
ENOUGH = 0.15
# What says nothing of one candidate beside the others of its question.
NOT_RANKED = {"missing", "unheard", "dense", "was_read", "plain_what", "replies", "matter", "lead", "margin"}
# What few examples must not turn around: these never speak for a statement, and those never against it.
NEVER_FOR = (
    "names_missing", "numbers_missing", "of_other", "replaced", "quoted", "question", "empty", "short", "code",
    "missing", "unheard", "once", "long",
)  # fmt: skip
NEVER_AGAINST = (
    "own", "heads", "near", "title", "similarity", "passage", "fits", "fits_new", "fits_soft", "matter", "lead",
    "margin", "in_time", "by_named", "of_named", "told", "stance", "left", "unit", "reply", "section", "list_item",
    "read",
)  # fmt: skip


@dataclass(frozen=True)
class Example:
    """A question, the values of its candidates, which of them are gold, and where the gold is not among them."""

    question: GoldQuestion
    values: list[dict[str, float]]
    gold: list[bool]
    words: list[int]
    texts: list[ReadStatement]


async def collect(home: Path) -> list[Example]:
    weighed.COMPARED = MEASURED
    questions = load_questions(("train", "tune"))
    examples = []
    async with open_library(home, questions) as library:
        for number, question in enumerate(questions):
            examples.append(await _measure(library, question))
            if number % 200 == 199:
                print(number + 1, "of", len(questions), flush=True)
    return examples


async def _measure(library: Library, question: GoldQuestion) -> Example:
    asking, document = library.mnemon.asking, library.documents[question.document]
    findings = await asking.find(library.tenant, OPERATOR, question.text, EVERYTHING)
    told = await asking.weigh(library.tenant, Reader.of(OPERATOR), findings)
    found = told.found[:MEASURED]
    gold = [
        not question.unanswerable
        and any(
            _is_gold(question, part, document, one.origin.doc_version_id, one.statement.start, one.statement.end)
            for part in (*question.quotes, *question.alternatives)
        )
        for one in found
    ]
    return Example(
        question, [dict(one.values) for one in found], gold, [len(one.statement.text.split()) for one in found],
        [weighed.as_read(one) for one in found],
    )  # fmt: skip


def _is_gold(question: GoldQuestion, quote: str, document: Any, revision: Any, start: int, end: int) -> bool:
    """One of several quotes is enough for a single candidate."""
    alone = replace(question, quotes=[quote], alternatives=())
    return is_quoted(alone, document, [(revision, start, end)])


def _matrix(example: Example, names: list[str]) -> Floats:
    return np.array([[one.get(name, 0.0) for name in names] for one in example.values]).reshape(-1, len(names))


READ, MEANT = ("read", "was_read"), ("similarity", "dense")


def without(example: Example, gone: tuple[str, ...]) -> Example:
    """The same question where nothing is read together, or where there are no vectors either."""
    values = [{name: value for name, value in one.items() if name not in gone} for one in example.values]
    return replace(example, values=values)


def with_reading(examples: list[Example], data: Path, files: list[Path]) -> list[Example]:
    """Each candidate with the logit of the fold that had not seen its document."""
    with np.load(data / "statements.npz") as file:
        rows, about = file["rows"], json.loads(str(file["about"]))
    parts = []
    for one in files:
        with np.load(one) as file:
            parts.append(file["logits"])
    logits = parts[0]
    for part in parts[1:]:
        logits = np.where(np.isnan(logits), part, logits)
    of: dict[int, list[int]] = {}
    for place, row in enumerate(rows.tolist()):
        of.setdefault(row[0], []).append(place)
    own = [question for question, one in enumerate(about) if one[0] == "own"]
    return [
        replace(
            example,
            values=[
                values | {"read": float(logits[row]), "was_read": 1.0}
                for values, row in zip(example.values, of.get(question, []), strict=True)
            ],
        )
        for question, example in zip(own, examples, strict=True)
    ]


def fit_rank(examples: list[Example], names: list[str], penalty: float = 2.0, steps: int = 250) -> Floats:
    """The softmax over a question's candidates should fall on gold ones."""
    data = [(_matrix(one, names), np.array(one.gold)) for one in examples if any(one.gold) and not all(one.gold)]
    weights, moved, squared = np.zeros(len(names)), np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, steps + 1):
        slope = penalty * weights / len(data)
        for matrix, gold in data:
            score = matrix @ weights
            chance = np.exp(score - score.max())
            chance /= chance.sum()
            among = np.where(gold, chance, 0.0)
            slope += (matrix.T @ (chance - among / among.sum())) / len(data)
        moved = 0.9 * moved + 0.1 * slope
        squared = 0.999 * squared + 0.001 * slope**2
        weights -= 0.05 * (moved / (1 - 0.9**step)) / (np.sqrt(squared / (1 - 0.999**step)) + 1e-8)
        _as_meant(weights, names)
    return weights


def fit_chance(rows: Floats, right: Floats, names: list[str], penalty: float = 2.0, steps: int = 1000) -> Floats:
    """Logistic, by the same descent; the last weight is the bias."""
    table = np.hstack([rows, np.ones((len(rows), 1))])
    weights, moved, squared = np.zeros(table.shape[1]), np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for step in range(1, steps + 1):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (chance - right) / len(table) + penalty * np.append(weights[:-1], 0) / len(table)
        moved = 0.9 * moved + 0.1 * slope
        squared = 0.999 * squared + 0.001 * slope**2
        weights -= 0.05 * (moved / (1 - 0.9**step)) / (np.sqrt(squared / (1 - 0.999**step)) + 1e-8)
        _as_meant(weights, names)
    return weights


def _as_meant(weights: Floats, names: list[str]) -> None:
    """Hold the signs."""
    for place, name in enumerate(names):
        if (name in NEVER_FOR and weights[place] > 0) or (name in NEVER_AGAINST and weights[place] < 0):
            weights[place] = 0.0


def judged(examples: list[Example], names: list[str], weights: Floats) -> tuple[list[dict[str, float]], Floats]:
    """The best candidate of each question by these weights, with what it has beside the others; whether it is gold."""
    best, right = [], []
    for one in examples:
        if not one.values:
            continue
        score = _matrix(one, names) @ weights
        order = np.argsort(-score, kind="stable")
        top = one.values[order[0]]
        others = [one.values[row]["matter"] for row in order[1:] if one.values[row]["of_other"]]
        lead = top["matter"] - max(others) if others and not top["of_other"] else 0.0
        margin = min(2.0, score[order[0]] - score[order[1]]) if len(order) > 1 else 2.0
        best.append(top | {"lead": min(lead, 0.0), "margin": margin})
        right.append(float(one.gold[order[0]]))
    return best, np.array(right)


def fit(examples: list[Example]) -> dict[str, Any]:
    """Ranking from all that is given, the chance from the best of each."""
    both = [*examples, *(without(one, READ) for one in examples), *(without(one, READ + MEANT) for one in examples)]
    names = sorted({name for one in examples for values in one.values for name in values} - NOT_RANKED)
    rank = fit_rank(both, names)
    best, right = judged(both, names, rank)
    weighed_by = sorted({name for values in best for name in values})
    chance = fit_chance(np.array([[one.get(name, 0.0) for name in weighed_by] for one in best]), right, weighed_by)
    return {
        "rank": {name: round(float(value), 3) for name, value in zip(names, rank, strict=True)},
        "answer": {"bias": round(float(chance[-1]), 3)}
        | {name: round(float(value), 3) for name, value in zip(weighed_by, chance[:-1], strict=True)},
        "enough": 0.5,
    }


def curve(made: dict[str, Any], examples: list[Example]) -> list[tuple[float, ...]]:
    """For bars from 0.05 on: right, wrong, refused of the answerable; refused of the unanswerable."""
    names = list(made["rank"])
    best, right = judged(examples, names, np.array([made["rank"][name] for name in names]))
    answer = {name: weight for name, weight in made["answer"].items() if name != "bias"}
    total = [
        made["answer"]["bias"] + sum(weight * one.get(name, 0.0) for name, weight in answer.items()) for one in best
    ]
    chance = 1 / (1 + np.exp(-np.array(total)))
    asked = [one for one in examples if one.values]
    none = np.array([one.question.unanswerable is not None for one in asked])
    rows = []
    for bar in np.arange(0.05, 0.75, 0.05):
        shown = chance >= bar
        rows.append(
            (
                round(float(bar), 2), float((right * shown)[~none].mean()), float(((1 - right) * shown)[~none].mean()),
                float((~shown)[~none].mean()), float((~shown)[none].mean()),
            )
        )  # fmt: skip
    return rows


def main(home: Path, *steps: str) -> None:
    configure_logging("ERROR")
    kept = home / "examples.pickle"
    if "collect" in steps or not kept.exists():
        kept.write_bytes(pickle.dumps(asyncio.run(collect(home))))
    if "read" in steps:
        data, *files = map(Path, steps[steps.index("read") + 1 :])
        kept.write_bytes(pickle.dumps(with_reading(pickle.loads(kept.read_bytes()), data, files)))
    examples: list[Example] = pickle.loads(kept.read_bytes())
    train = [one for one in examples if one.question.split == "train"]
    tune = [one for one in examples if one.question.split == "tune"]
    found = [any(one.gold) for one in tune if not one.question.unanswerable]
    print("gold among candidates, tune:", round(float(np.mean(found)), 3))
    print("learned on train, measured on tune: bar, right, wrong, refused, unanswerable refused")
    for row in curve(fit(train), tune):
        print(" ".join(f"{value:.3f}" for value in row))
    made = fit(examples)
    made["enough"] = ENOUGH
    FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
