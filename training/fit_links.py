"""Learns which earlier event a later one ends or follows from, from the labelled links of `train` and `tune`.

`python training/fit_links.py` reads the documents as `score_held_out.py` does, with a reader that had not seen them,
writes src/mnemon/semantics/link/pairs.json and says how well the weights of four folds do on the fifth. A link whose
event was not found counts as missed.
"""

import json
import sys
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from blind_third import read_all, with_vectors  # noqa: E402
from extraction_gold import CORPUS, Document, compare, load_documents  # noqa: E402
from fit_reader import load_logits  # noqa: E402
from score_held_out import held_out_reader  # noqa: E402

from mnemon.semantics.learned.engine import LearnedExtractor  # noqa: E402
from mnemon.semantics.link.likely import LIMITS as TOLD_FROM  # noqa: E402
from mnemon.semantics.link.likely import candidates_for, is_doubted  # noqa: E402
from mnemon.semantics.link.pairs import FEATURES, PairContext, weighable  # noqa: E402
from mnemon.semantics.link.placed import LINK_KINDS, EventLinkKind, Placed, told_at  # noqa: E402
from mnemon.semantics.link.prospects import in_time  # noqa: E402
from mnemon.semantics.semantic_event import FACT_CONFIDENCE  # noqa: E402

TARGET = ROOT / "src" / "mnemon" / "semantics" / "link" / "pairs.json"
RIDGE = 1.0
STEPS = 300
RATE = 0.05
FOLDS = 5
LIMITS = (0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
Names = dict[str, str]
UNKNOWN = datetime(2026, 1, 1, tzinfo=UTC)


def placed_findings(documents: list[Document]) -> tuple[list[Placed], Names]:
    """What is found in the documents, in the order of time, and the labels' names of those that state a label."""
    found = read_all(LearnedExtractor(held_out_reader(load_logits())), documents)
    names = {event.event_id: name for name, event in compare(documents, found).matched.items()}
    placed = [
        Placed(
            event,
            told_at(event, each.revision.written_at, each.revision.written_until) or UNKNOWN,
            each.name,
            each.name,
        )
        for each, events in zip(documents, found, strict=True)
        for event in events
    ]
    return in_time(with_vectors(placed)), names


@dataclass(frozen=True)
class Choices:
    """Each row one that a later event may be tied to; `which` counts the later events."""

    rows: np.ndarray
    which: np.ndarray
    right: np.ndarray
    pairs: list[tuple[Placed, Placed]]
    folds: np.ndarray
    wanted: int


def choices_of(kind: EventLinkKind, documents: list[Document], placed: list[Placed], names: Names) -> Choices:
    """All events side by side, as those of a tenant would stand. Series stay whole in a fold."""
    wanted = {link for each in documents for link in each.links if link[0] == kind}
    group = {each.name: each.series or each.name for each in documents}
    context = PairContext(placed)
    rows, which, right, pairs, folds = [], [], [], [], []
    for position, later in enumerate(placed):
        candidates = candidates_for(kind, placed, position, context)
        rows += weighable(later, candidates, context)
        which += [position] * len(candidates)
        pairs += [(later, earlier) for earlier in candidates]
        ends = [(names.get(later.event.event_id), names.get(one.event.event_id)) for one in candidates]
        right += [(kind, *both) in wanted for both in ends]
        folds += [zlib.crc32(group[later.document].encode()) % FOLDS] * len(candidates)
    return Choices(np.array(rows), np.array(which), np.array(right), pairs, np.array(folds), len(wanted))


def fit(rows: np.ndarray, which: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Adam's steps on the log-loss of a softmax in which nothing scores 0; no randomness."""
    _, which = np.unique(which, return_inverse=True)
    starts = np.flatnonzero(np.r_[True, which[1:] != which[:-1]])
    tied = np.add.reduceat(right.astype(float), starts) > 0
    weights, mean, square = (np.zeros(rows.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        parts, whole = _softmax(rows @ weights, which, starts)
        wanted = np.where(right, parts, 0.0)
        share = wanted / np.where(tied, np.add.reduceat(wanted, starts), 1.0)[which]
        slope = rows.T @ (parts / whole[which] - share) + RIDGE * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        rate = RATE if step < 0.6 * STEPS else 0.3 * RATE
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def likely(rows: np.ndarray, which: np.ndarray, weights: np.ndarray) -> np.ndarray:
    _, which = np.unique(which, return_inverse=True)
    starts = np.flatnonzero(np.r_[True, which[1:] != which[:-1]])
    parts, whole = _softmax(rows @ weights, which, starts)
    return np.asarray(parts / whole[which])


def _softmax(scores: np.ndarray, which: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = np.clip(scores, -30, 30)
    top = np.maximum(np.maximum.reduceat(scores, starts), 0.0)
    parts = np.exp(scores - top[which])
    return parts, np.add.reduceat(parts, starts) + np.exp(-top)


def chosen(scores: np.ndarray, some: Choices, least: float, kind: EventLinkKind) -> list[int]:
    """Each later event ends at most one earlier one, and each earlier one ends once; the likeliest first. Several may
    depend on one. Suggestions are no end of a fact."""
    kept, used = [], set()
    for place in np.argsort(-scores, kind="stable"):
        later, earlier = some.pairs[place]
        if scores[place] < least:
            break
        if min(later.event.confidence, earlier.event.confidence) < FACT_CONFIDENCE:
            continue
        ends = ("later", later.event.event_id), ("earlier", earlier.event.event_id)
        if ends[0] not in used and (kind == "depends_on" or ends[1] not in used):
            used.update(ends)
            kept.append(int(place))
    return kept


def told(scores: np.ndarray, some: Choices, kind: EventLinkKind) -> list[int]:
    """Those that the product tells as facts: what it only asks about takes its place among them, too."""
    sure, asked = TOLD_FROM[kind]
    kept, used = [], set()
    for place in np.argsort(-scores, kind="stable"):
        later, earlier = some.pairs[place]
        ends = ("later", later.event.event_id), ("earlier", earlier.event.event_id)
        if scores[place] < asked:
            break
        if ends[0] in used or (kind != "depends_on" and ends[1] in used):
            continue
        used.update(ends)
        if scores[place] >= sure and not is_doubted(kind, later, earlier):
            kept.append(int(place))
    return kept


def main() -> int:
    judged = load_logits()
    documents = [each for each in load_documents(folder=CORPUS) if each.name in judged]
    placed, names = placed_findings(documents)
    table: dict[str, dict[str, float]] = {}
    for kind in LINK_KINDS:
        some = choices_of(kind, documents, placed, names)
        scores = np.zeros(len(some.right))
        for fold in range(FOLDS):
            own, rest = some.folds == fold, some.folds != fold
            weights = fit(some.rows[rest], some.which[rest], some.right[rest])
            scores[own] = likely(some.rows[own], some.which[own], weights)
        print(f"{kind}: {int(some.right.sum())} of {some.wanted} labelled are among {len(some.right)} pairs")
        for least in LIMITS:
            kept = chosen(scores, some, least, kind)
            known = [place for place in kept if all(one.event.event_id in names for one in some.pairs[place])]
            hits = int(some.right[kept].sum())
            f1 = 2 * hits / (len(known) + some.wanted)
            print(f"  from {least:.2f}: {hits} right of {len(known)} between labelled events, F1 {f1:.3f}")
        kept = told(scores, some, kind)
        known = [place for place in kept if all(one.event.event_id in names for one in some.pairs[place])]
        hits = int(some.right[kept].sum())
        print(
            f"  told as facts from {TOLD_FROM[kind][0]}: {hits} right of {len(kept)}, {len(known)} of labelled events"
        )
        weights = fit(some.rows, some.which, some.right)
        table[kind] = {name: round(float(value), 4) for name, value in zip(FEATURES, weights, strict=True)}
    about = "Weights of what ties a later event to an earlier one, made by training/fit_links.py."
    TARGET.write_text(json.dumps({"about": about, "weights": table}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
