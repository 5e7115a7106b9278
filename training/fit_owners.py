"""Learns who of all who may be meant owes a commitment, from the labelled owners of `train` and `tune`.

`python training/fit_owners.py` writes src/mnemon/semantics/learned/owners.json and says how well the weights of nine
folds do on the tenth, given the labelled quotes. With SHOW=1 it prints the misses.
"""

import json
import os
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from extraction_gold import CORPUS, Document, load_documents  # noqa: E402

from mnemon.semantics.learned.fields import commitment_kind  # noqa: E402
from mnemon.semantics.learned.gloss import is_german  # noqa: E402
from mnemon.semantics.learned.owner_signs import OwnerSearch, owner_signs  # noqa: E402
from mnemon.semantics.learned.owners import told_owners  # noqa: E402
from mnemon.semantics.rules.actors import Cast  # noqa: E402
from mnemon.semantics.rules.mood import plain  # noqa: E402

TARGET = ROOT / "src" / "mnemon" / "semantics" / "learned" / "owners.json"
FOLDS = 10
RIDGE = 2.0
STEPS = 400
RATE = 0.05
# What counts less than this changes no choice.
LEAST_WEIGHT = 0.01


@dataclass(frozen=True)
class Choice:
    """Everybody who may owe it with what speaks for them, and who does. `told` are those whom a column names."""

    document: str
    fold: int
    quote: str
    owner: str
    signs: dict[str, frozenset[str]]
    told: tuple[str, ...] = ()

    def is_right(self, name: str) -> bool:
        """As the bench counts it: "Ben" is Ben Okafor."""
        return name.lower() in self.owner.lower() or self.owner.lower() in name.lower()


def choices_of(documents: Iterable[Document], known: bool = True) -> list[Choice]:
    return [choice for document in documents for choice in _choices(document, known)]


def _choices(document: Document, known: bool = True) -> Iterable[Choice]:
    """`known`: with the list of those who take part, which most documents come without."""
    revision = document.revision if known else replace(document.revision, participants=())
    units, cast, german = revision.layout.units, Cast(revision), is_german(revision.text)
    fold = zlib.crc32((document.series or document.name).encode()) % FOLDS
    for label in document.labels:
        if label.category != "Commitment" or not label.owner or not units:
            continue
        shared = [min(unit.end, label.end) - max(unit.start, label.start) for unit in units]
        place, clause = int(np.argmax(shared)), plain(revision.text[label.start : label.end])
        search = OwnerSearch(revision, cast, place, clause, commitment_kind(clause), german, label.start)
        yield Choice(document.name, fold, label.quote, label.owner, owner_signs(search), told_owners(search))


def fit(choices: Sequence[Choice]) -> dict[str, float]:
    """Adam's steps on the log-loss of the softmax, no randomness."""
    learned = [one for one in choices if len({one.is_right(name) for name in one.signs}) == 2]
    names = sorted({sign for one in learned for signs in one.signs.values() for sign in signs})
    number = {name: place for place, name in enumerate(names)}
    sets = [sorted(number[sign] for sign in signs) for one in learned for signs in one.signs.values()]
    right = np.array([one.is_right(name) for one in learned for name in one.signs])
    which = np.repeat(np.arange(len(learned)), [len(one.signs) for one in learned])
    starts = np.flatnonzero(np.r_[True, which[1:] != which[:-1]])
    flat, counts = np.concatenate(sets), np.array(list(map(len, sets)))
    begins = np.r_[0, np.cumsum(counts)[:-1]]
    weights, mean, square = (np.zeros(len(names)) for _ in range(3))
    for step in range(1, STEPS + 1):
        scores = np.add.reduceat(weights[flat], begins)
        likely = np.exp(scores - np.maximum.reduceat(scores, starts)[which])
        wanted = np.where(right, likely, 0)
        gap = likely / np.add.reduceat(likely, starts)[which] - wanted / np.add.reduceat(wanted, starts)[which]
        slope = np.bincount(flat, np.repeat(gap, counts), len(names)) + RIDGE * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        rate = RATE if step < 0.6 * STEPS else 0.3 * RATE
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return dict(zip(names, weights.tolist(), strict=True))


def chosen(choice: Choice, weights: dict[str, float]) -> str | None:
    if choice.told:
        return choice.told[0]
    scores = {name: sum(weights.get(sign, 0.0) for sign in signs) for name, signs in choice.signs.items()}
    return max(scores, key=lambda name: scores[name]) if scores else None


def main() -> int:
    documents = [each for each in load_documents(folder=CORPUS) if each.split in ("train", "tune")]
    listed, bare = choices_of(documents), choices_of(documents, known=False)
    both = [*listed, *bare]
    by_fold = [fit([one for one in both if one.fold != fold]) for fold in range(FOLDS)]
    for name, choices in (("held out", listed), ("held out, nobody listed", bare)):
        wrong = [(one, got) for one in choices if not ((got := chosen(one, by_fold[one.fold])) and one.is_right(got))]
        there = sum(any(map(one.is_right, (*one.signs, *one.told))) for one in choices)
        right = len(choices) - len(wrong)
        print(f"{name}: {right} of {len(choices)} right ({right / len(choices):.3f}), {there} were to choose from")
        if os.environ.get("SHOW"):
            print(
                "\n".join(f"{one.document}: {one.quote[:90]!r} is of {one.owner}, not of {got}" for one, got in wrong)
            )
    about = "How much each sign speaks for somebody as the owner, made by training/fit_owners.py."
    weights = {name: round(value, 3) for name, value in fit(both).items() if abs(value) >= LEAST_WEIGHT}
    TARGET.write_text(json.dumps({"about": about, "weights": weights}, indent=0, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
