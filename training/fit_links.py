"""Learns which later event ends which earlier one, from the labelled links of `train` and `tune`.

`python training/fit_links.py` writes src/mnemon/semantics/link/pairs.json and says how well the weights of four
folds do on the fifth, given the labelled quotes.
"""

import json
import sys
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from blind_third import with_vectors  # noqa: E402
from extraction_gold import CORPUS, Document, load_documents  # noqa: E402

from mnemon.semantics.learned.fields import candidate_of  # noqa: E402
from mnemon.semantics.learned.proposals import Proposal  # noqa: E402
from mnemon.semantics.link.pairs import FEATURES, PairContext, features_of, kinds_of_pair  # noqa: E402
from mnemon.semantics.link.placed import LINK_KINDS, EventLinkKind, Placed  # noqa: E402
from mnemon.semantics.rules.actors import Cast  # noqa: E402
from mnemon.semantics.semantic_event import Category, Evidence, SemanticEvent  # noqa: E402

TARGET = ROOT / "src" / "mnemon" / "semantics" / "link" / "pairs.json"
RIDGE = 1.0
STEPS = 40
FOLDS = 5
LIMITS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def placed_labels(documents: list[Document]) -> list[Placed]:
    """The labelled quotes with the fields that extraction gives them, under their labels' names."""
    found = []
    for document in documents:
        revision, units = document.revision, document.revision.layout.units
        cast = Cast(revision)
        for label in sorted(document.labels, key=lambda one: one.start):
            place = max((at for at, unit in enumerate(units) if unit.start <= label.start), default=0)
            proposal = Proposal(Category(label.category), label.start, label.end, place, None, ())
            candidate = candidate_of(revision, proposal, cast, None)
            if candidate is None:
                continue
            said = candidate.event_time or revision.written_at or datetime(2026, 1, 1, tzinfo=UTC)
            event = SemanticEvent(
                label.name, candidate.category, candidate.narrative, candidate.subject, candidate.actors,
                (Evidence(label.start, label.end, label.quote),), 1.0, said, candidate.due, candidate.kind,
            )  # fmt: skip
            found.append(Placed(event, said, document.name, document.name))
    found = with_vectors(found)
    return sorted(found, key=lambda one: (one.said_at, one.event.evidence[0].start, one.event.event_id))


@dataclass(frozen=True)
class Weighable:
    """The pairs that may be tied in one way, with what they share, whether they are, and the fold of each."""

    rows: np.ndarray
    right: np.ndarray
    names: list[tuple[str, str]]
    folds: np.ndarray
    wanted: int


def pairs_of(documents: list[Document], placed: list[Placed]) -> dict[EventLinkKind, Weighable]:
    """All events side by side, as those of a tenant would stand. Series stay whole in a fold."""
    wanted = {link for each in documents for link in each.links}
    group = {each.name: each.series or each.name for each in documents}
    context = PairContext(placed)
    found: dict[EventLinkKind, list[Any]] = {kind: [] for kind in LINK_KINDS}
    for later in placed:
        fold = zlib.crc32(group[later.document].encode()) % FOLDS
        for earlier in placed:
            pair = (later.event.event_id, earlier.event.event_id)
            kinds = kinds_of_pair(later, earlier) if comes_after(later, earlier) else []
            features = features_of(later, earlier, context) if kinds else ()
            for kind in kinds:
                found[kind].append((features, (kind, *pair) in wanted, pair, fold))
    table = {}
    for kind, some in found.items():
        rows, right, names, folds = zip(*some, strict=True)
        labelled = sum(link[0] == kind for link in wanted)
        table[kind] = Weighable(np.array(rows), np.array(right, float), list(names), np.array(folds), labelled)
    return table


def comes_after(later: Placed, earlier: Placed) -> bool:
    if later is earlier or later.said_at < earlier.said_at:
        return False
    apart = later.document != earlier.document
    return apart or later.event.evidence[0].start > earlier.event.evidence[0].start


def fit(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (likely - right) + RIDGE * weights
        curve = (rows * (likely * (1 - likely))[:, None]).T @ rows + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return weights


def chosen(scores: np.ndarray, names: list[tuple[str, str]], least: float, kind: EventLinkKind) -> set[int]:
    """Each later event ends at most one earlier one, and each earlier one ends once; the likeliest first. Several may
    depend on one."""
    kept, used = set(), set()
    for place in np.argsort(-scores, kind="stable"):
        later, earlier = names[place]
        if scores[place] < least:
            break
        if ("later", later) not in used and (kind == "depends_on" or ("earlier", earlier) not in used):
            used |= {("later", later), ("earlier", earlier)}
            kept.add(int(place))
    return kept


def main() -> int:
    documents = [each for each in load_documents(folder=CORPUS) if each.split in ("train", "tune")]
    table: dict[str, dict[str, float]] = {}
    for kind, some in pairs_of(documents, placed_labels(documents)).items():
        scores = np.zeros(len(some.right))
        for fold in range(FOLDS):
            mine = some.folds == fold
            scores[mine] = 1 / (1 + np.exp(-some.rows[mine] @ fit(some.rows[~mine], some.right[~mine])))
        print(
            f"{kind}: {len(some.right)} pairs may be tied, {int(some.right.sum())} of {some.wanted} labelled are there"
        )
        for least in LIMITS:
            kept = chosen(scores, some.names, least, kind)
            hits = int(sum(some.right[place] for place in kept))
            f1 = 2 * hits / (len(kept) + some.wanted)
            print(f"  from {least:.2f}: {hits} right of {len(kept)} found, F1 {f1:.3f}")
        weights = fit(some.rows, some.right)
        table[kind] = {name: round(float(value), 4) for name, value in zip(FEATURES, weights, strict=True)}
    about = "Weights of what ties a later event to an earlier one, made by training/fit_links.py."
    TARGET.write_text(json.dumps({"about": about, "weights": table}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
