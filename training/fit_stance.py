"""Weighs the readers of stances and the fixed formulas: writes src/mnemon/mail/consensus/stance.json.

`python training/fit_stance.py ALONE SITUATED` takes what `train_readers.py` wrote of threads that the readers had not
seen, and keeps it in held_stances.json.gz, from which `python training/fit_stance.py` fits again when formulas change.
At the end it prints, as the benchmark counts it, in how many messages somebody agrees or disagrees: of all that is
said, and of what is sure enough to tip a scale.
"""

import gzip
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from stance_examples import discussion_of, load_threads, stances_in

from mnemon.mail.consensus.formulas import formula_of
from mnemon.mail.consensus.judging import said_in
from mnemon.mail.consensus.learned import LAYOUTS
from mnemon.mail.consensus.reader import JudgedSentence, features_of, stance_table, weighed
from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.situation import Situation
from mnemon.mail.consensus.stances import JUDGED, SURE_ENOUGH, Stance
from mnemon.mail.consensus.votes import votes_of

HELD = Path(__file__).parent / "held_stances.json.gz"
Logits = list[list[float]]
Row = tuple[str, int, int, Logits]
PACKAGE = Path(__file__).parents[1] / "src" / "mnemon" / "mail" / "consensus"
STEPS, RATE, DECAY = 4_000, 0.3, 1e-3
# What is less likely than this is not said, however rare it is.
LEAST_MARK = 0.3
UNSEEN = [-6.0] * len(JUDGED)
NOTHING = [UNSEEN, UNSEEN]
LONGER = 1.2
AGREES, REFUSES = ("support", "support_conditional"), ("object",)
# The blind third is dealt out of the threads up to this one.
FIRST = 272


def main() -> int:
    if sys.argv[1:]:
        _keep(*map(Path, sys.argv[1:]))
    with gzip.open(HELD, "rt", encoding="utf-8") as file:
        rows: list[Row] = json.load(file)
    bodies = {m["id"]: m for thread in load_threads("train", "tune") for m in thread["messages"]}
    told: list[tuple[Logits, Stance | None, set[Stance]]] = []
    for name, start, end, logits in rows:
        body = bodies[name]["body"]
        said = SaidSentence(start, end, body[start:end])
        told.append((logits, formula_of(said.words), stances_in(said, body, bodies[name]["labels"])))
    weights, marks = {}, {}
    for number, stance in enumerate(JUDGED):
        inputs = np.array([features_of(stance, [read[number] for read in each], formula) for each, formula, _ in told])
        wanted = np.array([stance in found for _, _, found in told], float)
        fitted = _fitted(inputs, wanted)
        likely = 1 / (1 + np.exp(-inputs @ fitted))
        score, mark = _best_f1(likely, wanted)
        weights[stance], marks[stance] = (
            [round(float(one), 4) for one in fitted],
            round(max(float(mark), LEAST_MARK), 3),
        )
        print(f"{stance:20} F1 {score:.3f} at {mark:.2f}  {weights[stance]}")
    digests = {name: hashlib.sha256((PACKAGE / f"{name}.npz").read_bytes()).hexdigest() for name in LAYOUTS}
    about = "Weights of formula and logits, made by training/fit_stance.py; the digests are of the adapters."
    table = {"about": about, "adapters": digests, "weights": weights, "marks": marks}
    (PACKAGE / "stance.json").write_text(json.dumps(table, indent=1) + "\n")
    stance_table.cache_clear()
    _tell({(name, start, end): logits for name, start, end, logits in rows})
    return 0


def _keep(alone: Path, situated: Path) -> None:
    """For each sentence what both readers make of it. The folds of the one that reads alone are older than the way in
    which sentences are cut now: of their parts of a sentence the surest counts. They learned more shortly than what
    ships, whose logits are larger by `LONGER`."""
    parts: dict[str, list[list[Any]]] = {}
    for row in _held(alone):
        parts.setdefault(row[1], []).append(row)
    rows: list[Row] = []
    for _, name, start, end, logits in _held(situated):
        within = [row[4] for row in parts[name] if row[2] < end and row[3] > start]
        first = (LONGER * np.array(within).max(0)).round(3).tolist() if within else UNSEEN
        rows.append((name, start, end, [first[: len(JUDGED)], logits[: len(JUDGED)]]))
    with gzip.GzipFile(HELD, "wb", mtime=0) as file:
        file.write(json.dumps(rows).encode())


def _held(path: Path) -> list[list[Any]]:
    return [row for row in json.loads(path.read_text())["held"] if row[0] == "corpus"]


class _Remembered:
    """Judges by logits that were written down."""

    name = "remembered"

    def __init__(self, logits: dict[tuple[str, int, int], Logits]) -> None:
        self.logits = logits
        self.message = ""

    def judge(self, said: Sequence[SaidSentence], situation: Situation) -> list[JudgedSentence]:
        return [weighed(one, self.logits.get((self.message, one.start, one.end), NOTHING)) for one in said]


def _tell(logits: dict[tuple[str, int, int], Logits]) -> None:
    """The table of messages: F1 of agreement and of disagreement."""
    reader, units = _Remembered(logits), []
    for thread in load_threads("train", "tune"):
        discussion = discussion_of(thread)
        votes = votes_of(discussion)
        for message, told in zip(discussion.messages, thread["messages"], strict=True):
            reader.message = message.message_id
            own = [vote for vote in votes if vote.message_id == message.message_id]
            said = said_in(message, own, discussion, reader)
            stances = {label["stance"] for label in told["labels"]}
            agrees, refuses = (
                max((one.confidence for one in said if one.stance in wanted), default=0.0)
                for wanted in (AGREES, REFUSES)
            )
            units.append(
                (int(told["id"][:3]), not stances.isdisjoint(AGREES), not stances.isdisjoint(REFUSES), agrees, refuses)
            )
    for name, kept in (("all", units), (f"up to {FIRST}", [one for one in units if one[0] <= FIRST])):
        for mark in (0.01, SURE_ENOUGH):
            scores = [_f1([(bool(one[1 + which]), one[3 + which] >= mark) for one in kept]) for which in (0, 1)]
            print(f"messages, {name}, from {mark}: agreement {scores[0]:.3f}, disagreement {scores[1]:.3f}")


def _f1(pairs: list[tuple[bool, bool]]) -> float:
    right = sum(gold and found for gold, found in pairs)
    return 2 * right / max(sum(gold + found for gold, found in pairs), 1)


def _fitted(inputs: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    weights = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-inputs @ weights))
        weights -= RATE * (inputs.T @ (likely - wanted) / len(wanted) + DECAY * weights)
    return weights


def _best_f1(scores: np.ndarray, wanted: np.ndarray) -> tuple[float, float]:
    order = np.argsort(-scores)
    right = np.cumsum(wanted[order])
    found = 2 * right / (np.arange(1, len(order) + 1) + wanted.sum())
    return float(found.max()), float(scores[order][found.argmax()])


if __name__ == "__main__":
    sys.exit(main())
