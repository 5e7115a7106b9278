"""Learns when a later statement stands in the place of an earlier one, from the texts and questions alone.

    .venv/bin/python training/fit_later.py

Of a question whose answer changed in its text, what was replaced is the earlier statement and gold the later one; of
every fifth other question gold is the earlier one, and nothing stands in its place. What it prints is of five folds by
document; what it writes is learned from all.
"""

import json
import zlib
from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from asked_library import HERE, GoldQuestion, document_of, load_questions
from fit_answers import Floats, fit_chance

from mnemon.ask.quoting import later
from mnemon.ask.quoting.features import CandidateStatement, StatementValues, Weighing
from mnemon.ask.quoting.needs import need_of
from mnemon.ask.quoting.statements import Statement, statements_in
from mnemon.ask.quoting.surroundings import StatementSource

FOLDS = 5
# Of questions whose answer did not change, and of statements after the earlier one.
EVERY, MOST_AFTER = 5, 60
# Of such a chance a later statement is told first, and the earlier one as replaced.
ENOUGH = 0.6
CUES = ("moves", "alters", "calls_off", "takes_over", "denial", "amends")
NOWHERE = StatementSource(UUID(int=1), UUID(int=1), 1, True, "", "", "text/plain", None)


@dataclass(frozen=True)
class Followed:
    """A question, and of each statement after the earlier one its values and whether it stands in its place."""

    question: GoldQuestion
    after: list[tuple[StatementValues, bool]]

    @property
    def fold(self) -> int:
        return zlib.crc32(self.question.document.encode()) % FOLDS


def collect() -> list[Followed]:
    replaced = _replaced()
    asked: dict[str, list[GoldQuestion]] = defaultdict(list)
    for number, one in enumerate(load_questions(("train", "tune"))):
        if not one.unanswerable and (one.standing or number % EVERY == 0):
            asked[one.document].append(one)
    found = []
    for document, questions in asked.items():
        text = document_of(document).read_text()
        statements = [one for one in statements_in(text, 0, from_start=True) if one.text.strip()]
        for question in questions:
            before = replaced.get((document, question.name)) if question.standing else None
            if (one := _followed(question, text, statements, before)) is not None:
                found.append(one)
    return found


def _replaced() -> dict[tuple[str, str], str]:
    """The words that no longer hold, by document and question."""
    lines = [(path.stem, json.loads(line)) for path in (HERE / "questions").glob("*.jsonl") for line in path.open()]
    return {(stem, one["id"]): one["replaced"] for stem, one in lines if one.get("replaced")}


def _followed(question: GoldQuestion, text: str, statements: list[Statement], before: str | None) -> Followed | None:
    gold = [any(_holds(one, text, part) for part in (*question.quotes, *question.alternatives)) for one in statements]
    if question.standing:
        places = [at for at, one in enumerate(statements) if before and _holds(one, text, before) and not gold[at]]
    else:
        places = [at for at, is_gold in enumerate(gold) if is_gold]
    if not places or (question.standing and not any(gold[places[0] :])):
        return None
    weighing = Weighing(need_of(question.text), (), 0)
    one = _candidate(statements[places[0]], weighing)
    return Followed(
        question,
        [
            (later.later_values(one, _candidate(other, weighing), weighing), question.standing and gold[at])
            for at, other in enumerate(statements[places[0] + 1 :][:MOST_AFTER], places[0] + 1)
            if not other.text.rstrip().endswith("?")
        ],
    )


def _candidate(one: Statement, weighing: Weighing) -> CandidateStatement:
    said, alike = weighing.hearing.heard_in(f"{one.text} {one.speaker or ''}")
    over, _ = weighing.hearing.heard_in(" ".join((*one.headings, one.lead)))
    return CandidateStatement(one, NOWHERE, 0.0, {}, (), said | alike | over, said)


def _holds(one: Statement, text: str, quote: str) -> bool:
    """Half of the quote, or the whole statement."""
    at = text.find(quote)
    while at >= 0:
        shared = min(at + len(quote), one.end) - max(at, one.start)
        if shared * 2 >= min(len(quote), one.end - one.start):
            return True
        at = text.find(quote, at + 1)
    return False


def tells_change(values: StatementValues) -> bool:
    return any(values[name] for name in CUES)


def learned(asked: list[Followed]) -> dict[str, float]:
    rows = [row for one in asked for row in one.after if tells_change(row[0])]
    names = sorted(rows[0][0])
    table: Floats = np.array([[values[name] for name in names] for values, _ in rows])
    gold = np.array([float(is_gold) for _, is_gold in rows])
    weights = fit_chance(table, gold, np.ones(len(gold)), names)
    return dict(zip([*names, "bias"], (round(float(value), 3) for value in weights), strict=True))


def chance(values: StatementValues, weights: dict[str, float]) -> float:
    return float(1 / (1 + np.exp(-weights["bias"] - sum(weights[name] * value for name, value in values.items()))))


def main() -> None:
    asked = collect()
    best: list[tuple[GoldQuestion, float, bool]] = []
    for fold in range(FOLDS):
        weights = learned([one for one in asked if one.fold != fold])
        for one in asked:
            if one.fold == fold:
                rows = [(chance(v, weights), gold) for v, gold in one.after if tells_change(v)]
                best.append((one.question, *max(rows, default=(0.0, False))))
    changed = [one for one in best if one[0].standing]
    print("bar: of those that changed, told and right; of the others, told")
    for bar in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        told = [gold for _, sure, gold in changed if sure >= bar]
        wrong = np.mean([sure >= bar for one, sure, _ in best if not one.standing])
        print(f"{bar} {len(told) / len(changed):.3f} {np.mean(told):.3f} {wrong:.4f}")
    made = {"weights": learned(asked), "enough": ENOUGH}
    later.FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
