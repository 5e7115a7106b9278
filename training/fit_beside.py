"""Learns which statements an answer quotes beside the best one.

    .venv/bin/python training/fit_beside.py HOME [collect ADAPTER]

Asks the questions of `tune`, read by an adapter that has not learned from them (`train_statements.py` with
`held=tune`), and looks at those that follow the best one. What it prints is of five folds by document; what it writes
is learned from all.
"""

import asyncio
import json
import math
import pickle
import sys
import zlib
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from asked_library import GoldQuestion, Library, StoredDocument, is_quoted, load_questions, open_library
from fit_answers import Floats, fit_chance, held_reader

from mnemon.ask.filters import EVERYTHING
from mnemon.ask.quoting import beside
from mnemon.ask.quoting.features import CandidateStatement, StatementValues
from mnemon.ask.quoting.weighed import Weighed
from mnemon.documents.access import Reader
from mnemon.log.events import OPERATOR
from mnemon.telemetry import configure_logging

FOLDS = 5
# What a further statement must be worth: about as many words as were quoted before there was a bar of this kind.
ENOUGH = 0.05
TRIED = (0.05, 0.055, 0.06, 0.065, 0.07, 0.08, 0.09, 0.1, 0.12, 0.15)


@dataclass(frozen=True)
class Further:
    """A statement after the best one: its values, whether it is gold, and its words."""

    values: StatementValues
    gold: bool
    words: int

    def worth(self, weights: dict[str, float]) -> float:
        return beside.worth_of(self.values, self.words, weights)


@dataclass(frozen=True)
class Followed:
    """A question that is answered, what is known of the best statement, and those that follow it."""

    question: GoldQuestion
    gold: bool
    words: int
    others: list[Further]

    @property
    def fold(self) -> int:
        return zlib.crc32(self.question.document.encode()) % FOLDS

    def quoted(self, weights: dict[str, float], enough: float) -> list[Further]:
        best = sorted(self.others, key=lambda one: -one.worth(weights))[: beside.MOST]
        return [one for one in best if one.worth(weights) >= enough]


async def collect(home: Path, adapter: Path) -> list[Followed]:
    questions = load_questions(("tune",))
    with held_reader(adapter) as reader:
        async with open_library(home, questions) as library:
            library.mnemon.searcher.statement_reader = reader
            return [one for question in questions if (one := await _followed(library, question))]


async def _followed(library: Library, question: GoldQuestion) -> Followed | None:
    findings = await library.mnemon.asking.find(library.tenant, OPERATOR, question.text, EVERYTHING)
    weighed = await library.mnemon.asking.weigh(library.tenant, Reader.of(OPERATOR), findings)
    return followed(question, library.documents[question.document], weighed) if weighed.enough else None


def followed(question: GoldQuestion, document: StoredDocument, weighed: Weighed) -> Followed:
    found = weighed.found

    def is_gold(one: CandidateStatement) -> bool:
        cited = [(one.origin.doc_version_id, one.statement.start, one.statement.end)]
        parts = () if question.unanswerable else (*question.quotes, *question.alternatives)
        return any(is_quoted(replace(question, quotes=[part], alternatives=()), document, cited) for part in parts)

    def words(one: CandidateStatement) -> int:
        return len(one.statement.text.split())

    others = [
        Further(beside.beside_values(found[0], one, place, weighed.weighing), is_gold(one), words(one))
        for place, one in beside.others_of(found, weighed.weighing)
    ]
    return Followed(question, is_gold(found[0]), words(found[0]), others)


def learned(asked: list[Followed]) -> dict[str, float]:
    others = [further for one in asked for further in one.others]
    names = sorted(others[0].values)
    table: Floats = np.array([[one.values[name] for name in names] for one in others])
    gold = np.array([float(one.gold) for one in others])
    weights = fit_chance(table, gold, np.ones(len(gold)), names)
    return dict(zip([*names, "bias"], (round(float(value), 3) for value in weights), strict=True))


def table(asked: list[Followed]) -> list[tuple[float, ...]]:
    """For each bar, of those that are answered and have an answer: gold is quoted, also of what was replaced; words."""
    rows = defaultdict(list)
    for fold in range(FOLDS):
        weights = learned([one for one in asked if one.fold != fold])
        for one in asked:
            if one.fold != fold or one.question.unanswerable:
                continue
            for bar in (*TRIED, math.inf):
                more = one.quoted(weights, bar)
                right = one.gold or any(other.gold for other in more)
                words = one.words + sum(other.words for other in more)
                rows[bar].append((right, right if one.question.standing else math.nan, words))
    return [(bar, *(round(float(value), 3) for value in np.nanmean(np.array(rows[bar], float), 0))) for bar in rows]


def main(home: Path, *steps: str) -> None:
    configure_logging("ERROR")
    kept = home / "beside.pickle"
    if "collect" in steps:
        adapter = Path(steps[steps.index("collect") + 1])
        kept.write_bytes(pickle.dumps(asyncio.run(collect(home, adapter))))
    asked: list[Followed] = pickle.loads(kept.read_bytes())
    print("bar, gold quoted, of standing questions, words")
    for row in table(asked):
        print(*row)
    made = {"weights": learned(asked), "enough": ENOUGH}
    beside.FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
