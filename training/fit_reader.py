"""Fits what weighs the learned reader and the rules against each other, and says how well that does.

`python training/fit_reader.py FOLDS.json` reads what `train_readers.py` wrote, in which each document was judged by a
model that had not seen it, packs it into training/held_out.json.gz and writes src/mnemon/semantics/learned/reader.json.
Without an argument it reads the packed file: do that after a change of rules.
"""

import asyncio
import gzip
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

import intent_training  # noqa: E402
from extraction_gold import CORPUS, Document, Label, load_documents  # noqa: E402

from mnemon.models.tokens import ModelTokenizer  # noqa: E402
from mnemon.models.weights import find_weights  # noqa: E402
from mnemon.semantics.learned.proposals import FEATURES, JudgedSegment, Proposal, propose  # noqa: E402
from mnemon.semantics.learned.windows import windows_of  # noqa: E402
from mnemon.semantics.rules.engine import RulesExtractor  # noqa: E402

LEARNED = ROOT / "src" / "mnemon" / "semantics" / "learned"
PACKED = Path(__file__).with_name("held_out.json.gz")
FOLDS = Path(__file__).with_name("folds.json")
RIDGE = 0.3
STEPS = 30
# Documents from here on are by other writers, who put more events into a page than the rest of the corpus has.
DENSE_FROM = 415
# What counts otherwise there is learned beside, and left out of what ships.
DIFFERS = ("bias", "logit", "rule")
Logits = dict[str, dict[tuple[int, int], list[float]]]


def proposals_of(document: Document, logits: dict[tuple[int, int], list[float]]) -> list[Proposal]:
    revision = document.revision
    tokenizer = ModelTokenizer(find_weights().tokenizer)
    judged = [
        JudgedSegment(one, tuple(logits[one.start, one.end]))
        for window in windows_of(revision.layout.units, revision.title, tokenizer)
        for one in window.segments
        if (one.start, one.end) in logits
    ]
    (chunk,) = revision.whole()
    by_rules = asyncio.run(RulesExtractor().extract_chunk(revision, chunk)).candidates
    return propose(revision, judged, by_rules)


def right_ones(proposals: list[Proposal], labels: tuple[Label, ...], scores: np.ndarray) -> np.ndarray:
    """Which of them state a label; of two that state the same, the surer one."""
    right, left = np.zeros(len(proposals)), list(labels)
    for place in np.argsort(-scores, kind="stable"):
        one = proposals[place]
        match = next((each for each in left if each.category == one.category.value and _overlap(one, each)), None)
        if match is not None:
            left.remove(match)
            right[place] = 1
    return right


def _overlap(one: Proposal, label: Label) -> bool:
    shared = min(one.end, label.end) - max(one.start, label.start)
    return 2 * shared >= min(one.end - one.start, label.end - label.start)


def fit(rows: np.ndarray, right: np.ndarray, dense: np.ndarray) -> np.ndarray:
    """Newton's steps on the regularised log-loss; no randomness."""
    own = rows[:, [FEATURES.index(name) for name in DIFFERS]] * dense[:, None]
    return _fit(np.hstack([rows, own]), right)[: rows.shape[1]]


def _fit(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (likely - right) + RIDGE * weights
        curve = (rows * (likely * (1 - likely))[:, None]).T @ rows + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return weights


def is_dense(document: Document) -> bool:
    return int(document.name.split("_")[0]) >= DENSE_FROM


def load_logits() -> Logits:
    with gzip.open(PACKED, "rt") as file:
        table: dict[str, list[list[Any]]] = json.load(file)
    return {name: {(start, end): values for start, end, values in rows} for name, rows in table.items()}


def pack(path: Path) -> None:
    table: dict[str, list[list[Any]]] = {}
    for source, name, start, end, values in json.loads(path.read_text())["held"]:
        if source == "corpus":
            table.setdefault(name, []).append([start, end, [round(value, 2) for value in values]])
    with PACKED.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        file.write(json.dumps(dict(sorted(table.items()))).encode())


def actionable_from(path: Path) -> float:
    """The logit from which a sentence of mail asks for something: the one with the best F1 on what was held back."""
    sentences, labels = intent_training.load() or ([], [])
    truth, logits = np.array(labels) > 0, np.full(len(sentences), -30.0)
    for source, name, _, _, values in json.loads(path.read_text())["held"]:
        if source == "mail":
            logits[int(name)] = values[-1]
    order = np.argsort(-logits)
    right = np.cumsum(truth[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + truth.sum())
    about = "The learned reader on the sentences of mail, each judged by a fold that had not seen it."
    FOLDS.write_text(json.dumps({"about": about, "intent_f1": round(float(f1.max()), 3)}, indent=1) + "\n")
    print(f"mail, held out: F1 {f1.max():.3f}")
    return round(float(logits[order][f1.argmax()]), 2)


def report(name: str, scores: np.ndarray, right: np.ndarray, labels: int, least: float) -> None:
    kept = scores >= least
    precision, recall = right[kept].mean() if kept.any() else 0.0, right[kept].sum() / labels
    f1 = 2 * right[kept].sum() / (kept.sum() + labels)
    print(f"{name:<24} at {least:.2f}: precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}  ({kept.sum()})")


def main() -> int:
    old = json.loads((LEARNED / "reader.json").read_text())
    mail = old.get("actionable_from", 0.0)
    if len(sys.argv) > 1:
        pack(Path(sys.argv[1]))
        mail = actionable_from(Path(sys.argv[1]))
    logits = load_logits()
    documents = [each for each in load_documents(folder=CORPUS) if each.name in logits]
    found = [proposals_of(each, logits[each.name]) for each in documents]
    rows = [np.array([one.features for one in some]).reshape(len(some), len(FEATURES)) for some in found]
    first = [each[:, FEATURES.index("logit")] + 3 * each[:, FEATURES.index("rule")] for each in rows]
    right = [right_ones(some, each.labels, score) for some, each, score in zip(found, documents, first, strict=True)]
    labels = sum(len(each.labels) for each in documents)
    groups = np.concatenate([[at % 5] * len(some) for at, some in enumerate(found)])
    whole, truth = np.concatenate(rows), np.concatenate(right)
    dense = np.concatenate([np.full(len(some), is_dense(each)) for some, each in zip(found, documents, strict=True)])
    weights = fit(whole, truth, dense)
    held = np.zeros(len(truth))
    for fold in range(5):
        other = fit(whole[groups != fold], truth[groups != fold], dense[groups != fold])
        held[groups == fold] = 1 / (1 + np.exp(-whole[groups == fold] @ other))
    for least in (0.3, 0.35, 0.4, 0.45, 0.5, 0.6):
        report("both, held out", held, truth, labels, least)
    for language in ("en", "de"):
        mine = np.concatenate(
            [np.full(len(some), each.language == language) for each, some in zip(documents, found, strict=True)]
        )
        report(
            f"  {language}",
            held[mine],
            truth[mine],
            sum(len(d.labels) for d in documents if d.language == language),
            0.5,
        )
    edges = np.clip((held * 10).astype(int), 0, 9)
    error = sum(abs(held[edges == b].mean() - truth[edges == b].mean()) * (edges == b).mean() for b in set(edges))
    print(f"calibration error {error:.3f}")
    table = {
        "about": "Weights of what speaks for an event, made by training/fit_reader.py; the digest is of reader.npz.",
        "adapter": hashlib.sha256((LEARNED / "reader.npz").read_bytes()).hexdigest(),
        "actionable_from": mail,
        "weights": {name: round(float(value), 4) for name, value in zip(FEATURES, weights, strict=True)},
    }
    (LEARNED / "reader.json").write_text(json.dumps(table, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
