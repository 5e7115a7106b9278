"""Learns the judgement of answers from our own questions: which statement answers, and whether it does at all.

    .venv/bin/python training/fit_answers.py HOME [collect] [elsewhere] [read ADAPTER] [all]

HOME keeps the store and what was measured of each candidate, so that fitting can be repeated. The questions are
those of `tune`: `read` puts beside each candidate how it reads by an adapter that has not seen them, which
`train_statements.py` writes with `held=tune`. What is known without a reading is fitted anew with `all` alone.
"""

import asyncio
import hashlib
import json
import pickle
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from asked_library import GoldQuestion, Library, is_quoted, load_questions, open_files, open_library
from numpy.typing import NDArray

from mnemon.ask.filters import EVERYTHING
from mnemon.ask.learned.cross_encoder import AskedAsRead, StatementReader
from mnemon.ask.learned.pairs import ReadStatement
from mnemon.ask.quoting import weighed
from mnemon.ask.quoting.judgement import FILE, KnownStatements
from mnemon.documents.access import Reader
from mnemon.log.events import OPERATOR
from mnemon.models.adapters import AdaptedEncoder, Adapter, unpacked
from mnemon.telemetry import configure_logging

Floats = NDArray[np.float64]
# More are measured for learning than an answer compares, and so many of them an answer may quote.
MEASURED, QUOTED = 24, 3
# Whether a question has an answer at all counts so much more than whether the right one is found.
UNANSWERABLE = 2.0
# Of the questions, so many are also asked where nothing is about them.
EVERY_FAR = 12
FOLDS = 5
SAMPLE = Path(__file__).parents[1] / "examples" / "kestrel"
# Below this chance a question is refused: chosen on the curve of `tune`.
ENOUGH = 0.25
# What says nothing of one candidate beside the others of its question.
NOT_RANKED = {"missing", "unheard", "plain_what", "replies", "matter"}
# What the best has beside the others: reckoned anew by the weights that are learned.
BESIDE = re.compile(r"most_\w+|lead|margin|read_lead|any_read")
# What is not known where there is no reading, and where there are no vectors either.
UNKNOWN: dict[KnownStatements, frozenset[str]] = {
    "reading": frozenset(),
    "meaning": frozenset({"read"}),
    "words": frozenset({"read", "similarity"}),
}
# What few examples must not turn around: these never speak for a statement, and those never against it.
NEVER_FOR = (
    "names_missing", "numbers_missing", "of_other", "replaced", "quoted", "question", "empty", "short", "code",
    "missing", "unheard", "once", "long", "blank", "nowhere", "names_nowhere",
)  # fmt: skip
NEVER_AGAINST = (
    "own", "heads", "near", "title", "similarity", "passage", "fits", "fits_new", "fits_soft", "matter", "lead",
    "margin", "in_time", "by_named", "of_named", "told", "stance", "left", "unit", "reply", "section", "list_item",
    "read", "read_lead", "any_read", "settles",
)  # fmt: skip


@dataclass(frozen=True)
class Example:
    """A question, the values of its candidates, which of them are gold, and where the gold is not among them."""

    question: GoldQuestion
    values: list[dict[str, float]]
    gold: list[bool]
    words: list[int]
    texts: list[ReadStatement]
    asked: AskedAsRead

    @property
    def fold(self) -> int:
        return zlib.crc32(self.question.document.encode()) % FOLDS


async def collect(home: Path, kept: Path) -> list[Example]:
    """What was measured before is not measured again: whoever changed what is measured removes the file first."""
    weighed.COMPARED = MEASURED
    examples: list[Example] = pickle.loads(kept.read_bytes()) if kept.exists() else []
    known = {one.question for one in examples}
    questions = load_questions(("tune",))
    # How they read is put beside them later, by an adapter that has not seen them.
    async with open_library(home, questions, read_statements=False) as library:
        for number, question in enumerate(one for one in questions if one not in known):
            examples.append(await _measure(library, question))
            if number % 200 == 199:
                print(number + 1, "of", len(questions) - len(known), flush=True)
                kept.write_bytes(pickle.dumps(examples))
    return examples


async def elsewhere(home: Path) -> list[Example]:
    """Every few questions asked where nothing is about them: of the sample corpus. What is near its matter alone would
    not teach that a question can be far from everything."""
    asked = [one for one in load_questions(("tune",)) if not one.unanswerable][::EVERY_FAR]
    sample = [path for path in sorted(SAMPLE.rglob("*")) if path.suffix in (".md", ".txt", ".eml")]
    async with open_files(home / "elsewhere", sample, read_statements=False) as library:
        nowhere = replace(next(iter(library.documents.values())), text="")
        far = replace(library, documents={one.document: nowhere for one in asked})
        return [
            await _measure(far, replace(one, unanswerable="elsewhere", quotes=(), alternatives=())) for one in asked
        ]


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
    values = [{name: value for name, value in one.values.items() if not BESIDE.fullmatch(name)} for one in found]
    return Example(
        question, values, gold, [len(one.statement.text.split()) for one in found],
        weighed.as_read(found, told.weighing), AskedAsRead(told.need.question, told.need.places),
    )  # fmt: skip


def _is_gold(question: GoldQuestion, quote: str, document: Any, revision: Any, start: int, end: int) -> bool:
    """One of several quotes is enough for a single candidate."""
    alone = replace(question, quotes=[quote], alternatives=())
    return is_quoted(alone, document, [(revision, start, end)])


def _matrix(example: Example, names: list[str]) -> Floats:
    return np.array([[one.get(name, 0.0) for name in names] for one in example.values]).reshape(-1, len(names))


def without(example: Example, gone: frozenset[str]) -> Example:
    """The same question where this is not known."""
    values = [
        {name: value for name, value in one.items() if name not in gone and not BESIDE.fullmatch(name)}
        for one in example.values
    ]
    return replace(example, values=values)


def with_reading(examples: list[Example], adapter: Path) -> list[Example]:
    """Each candidate with how it reads by this adapter, which was not shipped."""
    with held_reader(adapter) as reader:
        return [_read(one, reader) for one in examples]


@contextmanager
def held_reader(adapter: Path) -> Iterator[StatementReader]:
    with np.load(adapter) as file:
        parts = unpacked({name: file[name] for name in file.files})
    made = Adapter("held", hashlib.sha256(adapter.read_bytes()).hexdigest(), parts)
    with tempfile.TemporaryDirectory(prefix="mnemon-held-") as home:
        yield StatementReader(Path(home), loaded=AdaptedEncoder.open(Path(home), None, made))


def _read(example: Example, reader: StatementReader) -> Example:
    logits = reader.read(example.asked, example.texts) if example.texts else []
    assert logits is not None
    return replace(
        example,
        values=[values | {"read": float(logit)} for values, logit in zip(example.values, logits, strict=True)],
    )


def fit_rank(examples: list[Example], names: list[str], penalty: float = 2.0, steps: int = 400) -> Floats:
    """The softmax over a question's candidates should fall on gold ones."""
    data = [one for one in examples if any(one.gold) and not all(one.gold)]
    most = max(len(one.values) for one in data)
    table, gold, there = np.zeros((len(data), most, len(names))), *np.zeros((2, len(data), most), bool)
    for number, one in enumerate(data):
        table[number, : len(one.values)] = _matrix(one, names)
        gold[number, : len(one.gold)] = one.gold
        there[number, : len(one.gold)] = True
    weights, moved, squared = np.zeros(len(names)), np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, steps + 1):
        score = np.where(there, table @ weights, -np.inf)
        chance = np.exp(score - score.max(1, keepdims=True))
        chance /= chance.sum(1, keepdims=True)
        among = np.where(gold, chance, 0.0)
        off = chance - among / np.maximum(among.sum(1, keepdims=True), 1e-12)
        slope = penalty * weights / len(data) + np.einsum("qc,qcn->n", off, table) / len(data)
        moved = 0.9 * moved + 0.1 * slope
        squared = 0.999 * squared + 0.001 * slope**2
        weights -= 0.05 * (moved / (1 - 0.9**step)) / (np.sqrt(squared / (1 - 0.999**step)) + 1e-8)
        _as_meant(weights, names)
    return weights


def fit_chance(
    rows: Floats, right: Floats, counts: Floats, names: list[str], penalty: float = 2.0, steps: int = 1500
) -> Floats:  # fmt: skip
    """Logistic, by the same descent; the last weight is the bias."""
    table = np.hstack([rows, np.ones((len(rows), 1))])
    weights, moved, squared = np.zeros(table.shape[1]), np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for step in range(1, steps + 1):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (counts * (chance - right)) / counts.sum()
        slope += penalty * np.append(weights[:-1], 0) / len(table)
        moved = 0.9 * moved + 0.1 * slope
        squared = 0.999 * squared + 0.001 * slope**2
        weights -= 0.03 * (moved / (1 - 0.9**step)) / (np.sqrt(squared / (1 - 0.999**step)) + 1e-8)
        _as_meant(weights, names)
    return weights


def _as_meant(weights: Floats, names: list[str]) -> None:
    """Hold the signs."""
    for place, name in enumerate(names):
        if (name in NEVER_FOR and weights[place] > 0) or (name in NEVER_AGAINST and weights[place] < 0):
            weights[place] = 0.0


def judged(examples: list[Example], names: list[str], weights: Floats) -> tuple[list[dict[str, float]], Floats]:
    """The best candidate of each question by these weights, with what it has beside the others; whether gold is among
    those that an answer may quote."""
    best, right = [], []
    for one in examples:
        if not one.values:
            continue
        score = _matrix(one, names) @ weights
        order = np.argsort(-score, kind="stable")
        ordered = [one.values[row] for row in order]
        best.append(ordered[0] | weighed.beside_others(ordered, score[order].tolist()))
        right.append(float(any(one.gold[row] for row in order[:QUOTED])))
    return best, np.array(right)


def fit(examples: list[Example], known: KnownStatements) -> dict[str, Any]:
    """Ranking from all that is given, the chance from the best of each."""
    own = [one for one in (without(one, UNKNOWN[known]) for one in examples) if one.values]
    names = sorted({name for one in own for values in one.values for name in values} - NOT_RANKED)
    rank = fit_rank(own, names)
    best, right = judged(own, names, rank)
    weighed_by = sorted({name for values in best for name in values})
    table = np.array([[one.get(name, 0.0) for name in weighed_by] for one in best])
    counts = np.array([UNANSWERABLE if one.question.unanswerable else 1.0 for one in own])
    chance = fit_chance(table, right, counts, weighed_by)
    return {
        "rank": {name: round(float(value), 3) for name, value in zip(names, rank, strict=True)},
        "answer": {"bias": round(float(chance[-1]), 3)}
        | {name: round(float(value), 3) for name, value in zip(weighed_by, chance[:-1], strict=True)},
        "enough": ENOUGH,
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


def of_folds(examples: list[Example], known: KnownStatements) -> list[tuple[float, ...]]:
    """The curve of what was learned from the other folds, weighed by the questions of each."""
    known_only = [without(one, UNKNOWN[known]) for one in examples]
    rows, sizes = [], []
    for fold in range(FOLDS):
        own = [one for one in known_only if one.fold == fold]
        rows.append(curve(fit([one for one in examples if one.fold != fold], known), own))
        sizes.append(len(own))
    return [tuple(np.average(np.array(bar), axis=0, weights=sizes)) for bar in zip(*rows, strict=True)]


def main(home: Path, *steps: str) -> None:
    configure_logging("ERROR")
    kept, kept_far = home / "examples.pickle", home / "elsewhere.pickle"
    if "collect" in steps or not kept.exists():
        kept.write_bytes(pickle.dumps(asyncio.run(collect(home, kept))))
    if "elsewhere" in steps:
        kept_far.write_bytes(pickle.dumps(asyncio.run(elsewhere(home))))
    if "read" in steps:
        adapter = Path(steps[steps.index("read") + 1])
        for file in (one for one in (kept, kept_far) if one.exists()):
            file.write_bytes(pickle.dumps(with_reading(pickle.loads(file.read_bytes()), adapter)))
    examples: list[Example] = pickle.loads(kept.read_bytes())
    examples += pickle.loads(kept_far.read_bytes()) if kept_far.exists() else []
    found = [any(one.gold) for one in examples if not one.question.unanswerable]
    print("gold among candidates:", round(float(np.mean(found)), 3))
    made = json.loads(FILE.read_text(encoding="utf-8"))
    for known in UNKNOWN if "all" in steps else ("reading",):
        if known == "reading" and not any("read" in values for one in examples for values in one.values):
            print(f"{known}: not measured, left as it is")
            continue
        print(f"{known}, five folds by document: bar, right, wrong, refused, unanswerable refused")
        for row in of_folds(examples, known):
            print(" ".join(f"{value:.3f}" for value in row))
        made[known] = fit(examples, known)
    FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
