"""Learns which later event ends which earlier one, from the labelled links of `train` and `tune`.

`python training/fit_links.py` writes src/mnemon/semantics/link/pairs.json and says how well the weights of one half do
on the other, given the labelled quotes. All events of one half stand side by side, as those of a tenant would.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from blind_third import with_vectors  # noqa: E402
from extraction_gold import CORPUS, Document, load_documents  # noqa: E402

from mnemon.semantics.learned.fields import candidate_of  # noqa: E402
from mnemon.semantics.learned.proposals import Proposal  # noqa: E402
from mnemon.semantics.link.pairs import FEATURES, PairContext, PairKind, features_of, may_pair  # noqa: E402
from mnemon.semantics.link.supersession import Placed  # noqa: E402
from mnemon.semantics.rules.actors import Cast  # noqa: E402
from mnemon.semantics.semantic_event import Category, Evidence, SemanticEvent  # noqa: E402

TARGET = ROOT / "src" / "mnemon" / "semantics" / "link" / "pairs.json"
RIDGE = 1.0
STEPS = 40
# So likely that it is told as a fact.
LIKELY = 0.5


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


def pairs_of(
    documents: list[Document], placed: list[Placed], kind: PairKind
) -> tuple[np.ndarray, np.ndarray, list[tuple[str, str]], int]:
    wanted = {(later, earlier) for each in documents for name, later, earlier in each.links if name == kind}
    context = PairContext(placed)
    rows, right, names = [], [], []
    for later in placed:
        for earlier in placed:
            pair = (later.event.event_id, earlier.event.event_id)
            if not comes_after(later, earlier) or not may_pair(kind, later, earlier):
                continue
            rows.append(features_of(later, earlier, context))
            right.append(pair in wanted)
            names.append(pair)
    return np.array(rows), np.array(right, float), names, len(wanted)


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


def chosen(scores: np.ndarray, names: list[tuple[str, str]], least: float, kind: PairKind) -> set[int]:
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
    documents = load_documents(folder=CORPUS)
    halves = [[each for each in documents if each.split == split] for split in ("train", "tune")]
    table: dict[str, dict[str, float]] = {}
    kinds: tuple[PairKind, ...] = ("supersedes", "fulfils", "depends_on")
    placed = [placed_labels(half) for half in halves]
    for kind in kinds:
        data = [pairs_of(half, mine, kind) for half, mine in zip(halves, placed, strict=True)]
        for least in (0.1, 0.15, 0.2, 0.3, 0.4, LIKELY, 0.6, 0.7):
            hits = found = labelled = 0
            for mine, other in ((0, 1), (1, 0)):
                rows, right, names, wanted = data[other]
                scores = 1 / (1 + np.exp(-rows @ fit(*data[mine][:2])))
                kept = chosen(scores, names, least, kind)
                hits, found = hits + int(sum(right[place] for place in kept)), found + len(kept)
                labelled += wanted
            f1 = 2 * hits / (found + labelled)
            print(f"{kind:<11} at {least:.1f}: {hits} right of {found} found, {labelled} labelled, F1 {f1:.3f}")
        weights = fit(np.concatenate([one[0] for one in data]), np.concatenate([one[1] for one in data]))
        table[kind] = {name: round(float(value), 4) for name, value in zip(FEATURES, weights, strict=True)}
    about = "Weights of what ties a later event to an earlier one, made by training/fit_links.py."
    TARGET.write_text(json.dumps({"about": about, "weights": table}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
