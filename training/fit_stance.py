"""Weighs the reader of stances against the fixed formulas: writes src/mnemon/mail/consensus/stance.json.

`python training/fit_stance.py LOGITS… ` takes the files of logits that `train_reader.py` wrote for threads that it had
not seen (`tune.json`, or those of folds) and the adapter beside the package's code.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from stance_examples import load_threads, stances_in

from mnemon.mail.consensus.formulas import formula_of
from mnemon.mail.consensus.reader import features_of
from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.stances import JUDGED, Stance

PACKAGE = Path(__file__).parents[1] / "src" / "mnemon" / "mail" / "consensus"
STEPS, RATE, DECAY = 4_000, 0.3, 1e-3
# What is less likely than this is not said, however rare it is.
LEAST_MARK = 0.3


def main() -> int:
    bodies = {m["id"]: m for thread in load_threads("train", "tune") for m in thread["messages"]}
    rows = [row for path in sys.argv[1:] for row in json.loads(Path(path).read_text())["held"] if row[0] == "corpus"]
    told: list[tuple[Any, Stance | None, set[Stance]]] = []
    for _, name, start, end, logits in rows:
        body = bodies[name]["body"]
        said = SaidSentence(start, end, body[start:end])
        told.append((logits, formula_of(said.words), stances_in(said, body, bodies[name]["labels"])))
    weights, marks = {}, {}
    for number, stance in enumerate(JUDGED):
        inputs = np.array([features_of(stance, logits[number], formula) for logits, formula, _ in told])
        wanted = np.array([stance in found for _, _, found in told], float)
        fitted = _fitted(inputs, wanted)
        likely = 1 / (1 + np.exp(-inputs @ fitted))
        score, mark = _best_f1(likely, wanted)
        weights[stance], marks[stance] = (
            [round(float(one), 4) for one in fitted],
            round(max(float(mark), LEAST_MARK), 3),
        )
        print(f"{stance:20} F1 {score:.3f} at {mark:.2f}  {weights[stance]}")
    digest = hashlib.sha256((PACKAGE / "stance.npz").read_bytes()).hexdigest()
    about = "Weights of logit and formula, made by training/fit_stance.py; the digest is of stance.npz."
    table = {"about": about, "adapter": digest, "weights": weights, "marks": marks}
    (PACKAGE / "stance.json").write_text(json.dumps(table, indent=1) + "\n")
    return 0


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
