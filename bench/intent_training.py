"""Learns the sentence-intent weights: `python bench/intent_training.py` writes them into the package."""

import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemon.semantics.rules.intent import features

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("MNEMON_EVAL_DATA", ROOT.parent / "shared" / "eval"))
# Of the file that the shipped weights, of words and of the learned reader, were trained on.
TRAINED_ON = "1dafc1b367cf2fb1e8b4a944b67e14578bcb1085f2f02ea150be45c373fbe8cd"
WEIGHTS = ROOT / "src" / "mnemon" / "semantics" / "rules" / "intent_weights.json"
# A feature has to be seen this often: rare words are names and one mail's phrases, and must not leave the data.
FEWEST_SIGHTINGS = 6
RIDGE = 1e-4
STEPS = 300
# The rate of the accelerated descent; the loss of normalised rows has curvature below one quarter.
RATE = 6.0
ABOUT = (
    "Logistic regression on words, neighbouring words and shapes of 3,657 Enron sentences labelled actionable or not. "
    "Made by bench/intent_training.py; features seen in fewer than 6 sentences and names are left out."
)

Vector = NDArray[np.float64]


class IntentModel:
    """Weights per feature; a sentence's score is their sum over the root of how many it has."""

    def __init__(self, vocabulary: dict[str, int], weights: Vector, bias: float) -> None:
        self.vocabulary, self.weights, self.bias = vocabulary, weights, bias

    def probabilities(self, sentences: Sequence[str]) -> Vector:
        columns, rows, scale = _sparse([features(each) for each in sentences], self.vocabulary)
        score = np.bincount(rows, self.weights[columns] * scale, len(sentences)) + self.bias
        return 1 / (1 + np.exp(-score))


def was_trained_on() -> bool:
    """Whether the labelled sentences at hand are those that the shipped weights know."""
    path = DATA / "email_intent" / "train.tsv"
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == TRAINED_ON


def load() -> tuple[list[str], Vector] | None:
    path = DATA / "email_intent" / "train.tsv"
    if not path.exists():
        return None
    pairs = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").split("\n") if "\t" in line]
    return [sentence for _, sentence in pairs], np.array([label == "Yes" for label, _ in pairs], float)


def train(sentences: Sequence[str], labels: Vector) -> IntentModel:
    """Nesterov's accelerated descent on the regularised log-loss; no randomness."""
    found = [features(each) for each in sentences]
    names = _names(sentences)
    counts = Counter(each for some in found for each in some)
    kept = sorted(each for each, count in counts.items() if count >= FEWEST_SIGHTINGS and not names & set(each.split()))
    vocabulary = {each: position for position, each in enumerate(kept)}
    columns, rows, scale = _sparse(found, vocabulary)
    weights = ahead = np.zeros(len(kept))
    bias = bias_ahead = 0.0
    momentum = 1.0
    for _ in range(STEPS):
        score = np.bincount(rows, ahead[columns] * scale, len(labels)) + bias_ahead
        error = 1 / (1 + np.exp(-score)) - labels
        slope = np.bincount(columns, scale * error[rows], len(kept)) / len(labels) + RIDGE * ahead
        stepped, bias_stepped = ahead - RATE * slope, bias_ahead - RATE / 2 * error.mean()
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        pull = (momentum - 1) / following
        ahead, bias_ahead = stepped + pull * (stepped - weights), bias_stepped + pull * (bias_stepped - bias)
        weights, bias, momentum = stepped, bias_stepped, following
    return IntentModel(vocabulary, weights, float(bias))


def cross_validate(sentences: Sequence[str], labels: Vector, folds: int = 10) -> Vector:
    """Each sentence's probability from a model that has not seen it."""
    order = np.random.default_rng(0).permutation(len(sentences))
    held = np.zeros(len(sentences))
    for fold in np.array_split(order, folds):
        rest = np.setdiff1d(order, fold)
        model = train([sentences[each] for each in rest], labels[rest])
        held[fold] = model.probabilities([sentences[each] for each in fold])
    return held


def _sparse(
    found: Sequence[set[str]], vocabulary: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Vector]:
    known = [sorted(vocabulary[each] for each in some if each in vocabulary) for some in found]
    sizes = np.array([len(some) for some in known])
    columns = np.array([column for some in known for column in some], np.int64)
    return columns, np.repeat(np.arange(len(known)), sizes), np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes)


def _names(sentences: Sequence[str]) -> set[str]:
    """Words that stand capitalised within sentences more often than not."""
    capital: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for sentence in sentences:
        for word in re.findall(r"(?<=[a-z,] )[A-Za-z]+", sentence):
            (capital if word[0].isupper() else small)[word.lower()] += 1
    always_capital = {
        "i",
        "i'll",
        "i'm",
        "i've",
        "i'd",
        *["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    }
    return {word for word, count in capital.items() if count > small[word]} - always_capital


def main() -> int:
    data = load()
    if data is None:
        print(f"No labelled sentences at {DATA}: set MNEMON_EVAL_DATA.")
        return 1
    model = train(*data)
    weights = {
        each: round(float(model.weights[at]), 3)
        for each, at in model.vocabulary.items()
        if abs(model.weights[at]) >= 0.02
    }
    table = {"about": ABOUT, "bias": round(model.bias, 4), "weights": weights}
    WEIGHTS.write_text(json.dumps(table, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(weights)} weights in {WEIGHTS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
