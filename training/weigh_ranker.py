"""Chooses how much the cross-encoder's judgement counts, on our own questions of the split `tune`.

`python training/weigh_ranker.py DATA ADAPTER [QUESTIONS]`: DATA has `ranking.npz` and `ranking.json`; ADAPTER is what
`train_ranker.py` wrote with `held=tune`. Prints recall@10 and how often the first is gold for each weight.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from fit_ranking import fit, load

from mnemon.ask.learned.pairs import pair_of
from mnemon.models.adapters import AdaptedEncoder, Adapter

AT, READ = 10, 20


def main() -> int:
    data, path, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 200
    names, questions = load(data)
    texts = json.loads((data / "ranking.json").read_text())["texts"]
    before = np.zeros(len(names))
    before[:5] = (0.5, 1.0, 1.0, 0.5, 0.5)
    weights = fit([one for one in questions if one.told["split"] == "train"], before)
    held = [one for one in questions if one.told["split"] == "tune"]
    held = held[:: max(1, len(held) // most)]
    contents = path.read_bytes()
    with np.load(path) as file:
        adapter = Adapter("trial", hashlib.sha256(contents).hexdigest(), {name: file[name] for name in file.files})
    with tempfile.TemporaryDirectory() as home:
        encoder = AdaptedEncoder.open(Path(home), None, adapter)
        rows = [_judged(encoder, one, texts, weights) for one in held]
    for weight in (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 100.0):
        recall, first = zip(*(_measured(weight, *row) for row in rows), strict=True)
        print(f"weight {weight:6.2f}: recall@{AT} {np.mean(recall):.4f} first {np.mean(first):.4f}")
    return 0


def _judged(encoder: AdaptedEncoder, one, texts, weights):
    kept = one.told["kept"]
    place = np.array([one.parts[row] @ weights for row, _, _ in kept])
    order = np.argsort(-place, kind="stable")
    chosen, rest = order[:READ], order[READ:]
    asked = encoder.tokenizer.ids(one.told["question"])
    weight, bias = encoder.adapter.head
    logits = []
    for at in chosen:
        _, text, before = kept[at]
        states = encoder.hidden(
            pair_of(asked, encoder.tokenizer.ids(texts[text]), encoder.tokenizer.ids(texts[before]))
        )
        logits.append(float(weight[0] @ np.concatenate([states[0], states.mean(axis=0)]) + bias[0]))
    gold = np.array([one.labels[kept[at][0]] for at in chosen])
    return place[chosen], np.array(logits), gold, gold.sum() + sum(one.labels[kept[at][0]] for at in rest)


def _measured(weight: float, place, logits, gold, every) -> tuple[float, bool]:
    score = place / max(place.std(), 1e-9) + weight * (logits - logits.mean()) / max(logits.std(), 1e-9)
    best = np.argsort(-score, kind="stable")
    return gold[best[:AT]].sum() / max(every, 1), bool(gold[best[0]])


if __name__ == "__main__":
    sys.exit(main())
