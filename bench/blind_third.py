"""How the shipped readers do on the blind third of the labelled corpus, whose misses nobody reads."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from extraction_gold import CORPUS, Document, Score, compare, load_documents

from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.local import LocalEmbedder
from mnemon.models.weights import find_weights
from mnemon.semantics.extract.extractor import Extractor, extract_revision
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.engine import LearnedExtractor
from mnemon.semantics.learned.reader import LearnedReader
from mnemon.semantics.link.linking import unit
from mnemon.semantics.link.placed import Placed, told_at
from mnemon.semantics.link.supersession import link_events
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.semantics.search.event_vectors import text_to_embed
from mnemon.semantics.semantic_event import FACT_CONFIDENCE, SemanticEvent

BINS = 10
_UNPREFIXED = frozenset(
    {"links_f1", "links_of_labels_f1", "links_suggested_right", "links_suggested", "calibration_error"}
)
PAGE = 3000
Found = Sequence[Sequence[SemanticEvent]]


def learned_engine(home: Path) -> LearnedExtractor | None:
    try:
        find_weights()
    except EmbedderUnavailable as missing:
        print(f"learned reader: {missing.message}")
        return None
    return LearnedExtractor(LearnedReader(home))


def blind_third(learned: LearnedExtractor | None) -> dict[str, float]:
    documents = load_documents("blind", CORPUS)
    by_rules = read_all(RulesExtractor(), documents)
    rules = compare(documents, by_rules)
    _tell("blind third, rules alone", rules)
    results = {"blind_rules_f1": round(rules.f1(), 3)}
    if learned is None:
        return results
    without_rules = LearnedExtractor(learned.reader, with_rules=False)
    alone = compare(documents, read_all(without_rules, documents), FACT_CONFIDENCE)
    _tell("blind third, learned alone", alone)
    both = figures_of(documents, read_all(learned, documents))
    return (
        results
        | {f"blind_{name}": value for name, value in both.items() if name not in _UNPREFIXED}
        | {
            "blind_learned_f1": round(alone.f1(), 3),
            **{name: value for name, value in both.items() if name in _UNPREFIXED},
        }
    )


def figures_of(documents: list[Document], found: Found) -> dict[str, float]:
    """Of both readers together, in all, by language, by kind and by category."""
    both = compare(documents, found, FACT_CONFIDENCE)
    _tell("both", both)
    for name, part in _parts(documents, found).items():
        print(f"  {name:<28} {_figures(part)}  n {part.labelled.total()}")
    for category in sorted(both.labelled):
        print(f"  {category:<28} {_figures(both, category)}  n {both.labelled[category]}")
    return {
        "f1": round(both.f1(), 3),
        "precision": round(both.precision(), 3),
        "recall": round(both.recall(), 3),
        "owner_acc": round(both.share("owner"), 3),
        "due_acc": round(both.share("due"), 3),
        **_links(documents, compare(documents, found)),
        "calibration_error": _calibration(compare(documents, found)),
    }


def speed(learned: LearnedExtractor, pages: int = 100) -> dict[str, float]:
    """A document of so many pages, by rules and by both."""
    texts = [each.revision.text for each in load_documents(folder=CORPUS) if each.language == "en"]
    whole = ("\n\n".join(texts) * 20)[: pages * PAGE]
    results = {}
    for name, engine in (("rules", RulesExtractor()), ("learned", learned)):
        revision = Revision("rev_long", whole, "doc")
        began = time.perf_counter()
        asyncio.run(extract_revision(engine, revision))
        seconds, count = time.perf_counter() - began, len(revision.layout.units)
        print(f"{pages} pages, {name:<8} {seconds:5.1f} s, {count / seconds:,.0f} sentences/s")
        results |= {f"pages_{pages}_{name}_s": round(seconds, 1), f"sentences_per_s_{name}": round(count / seconds)}
    return results


def read_all(engine: Extractor, documents: list[Document]) -> Found:
    return [asyncio.run(extract_revision(engine, each.revision)).events for each in documents]


def _figures(part: Score, category: str | None = None) -> str:
    return f"P {part.precision(category):.2f}  R {part.recall(category):.2f}  F1 {part.f1(category):.2f}"


def _tell(name: str, part: Score) -> None:
    shares = "  ".join(f"{detail} {part.share(detail):.2f}" for detail in ("owner", "due", "actor", "time", "subject"))
    print(f"{name:<28} P {part.precision():.3f}  R {part.recall():.3f}  F1 {part.f1():.3f}  n {part.labelled.total()}")
    print(f"  of those found, right: {shares}")


def _parts(documents: list[Document], found: Found) -> dict[str, Score]:
    """By language and by kind of document."""
    parts = {}
    for kind in sorted({each.language for each in documents} | {each.kind for each in documents}):
        mine = [place for place, each in enumerate(documents) if kind in (each.language, each.kind)]
        parts[kind] = compare([documents[place] for place in mine], [found[place] for place in mine], FACT_CONFIDENCE)
    return parts


def _calibration(part: Score) -> float:
    """The mean gap between what was said and what was right, over ten bins, each by its share of the events."""
    said = np.array([event.confidence for event, _ in part.pairs])
    right = np.array([right for _, right in part.pairs], float)
    places = np.clip((said * BINS).astype(int), 0, BINS - 1)
    error = 0.0
    print("  confidence: " + "said, right (events)")
    for place in sorted(set(places.tolist())):
        inside = places == place
        gap = abs(said[inside].mean() - right[inside].mean())
        error += gap * inside.mean()
        print(f"    {said[inside].mean():.2f}  {right[inside].mean():.2f}  ({inside.sum()})")
    return round(float(error), 3)


def _links(documents: list[Document], part: Score) -> dict[str, float]:
    """Links between events that were found, against those labelled; a labelled one whose event is missing counts.

    Beside it, of the links between two events that were both found: how well linking does by itself.
    """
    names = {id(event): name for name, event in part.matched.items()}
    wanted = {link for document in documents for link in document.links}
    placed = [
        Placed(event, said_at, document.name, document.name)
        for document in documents
        for label in document.labels
        if (event := part.matched.get(label.name))
        and (said_at := told_at(event, document.revision.written_at, document.revision.written_until))
    ]
    placed = with_vectors(placed)
    by_event = {each.event.event_id: names[id(each.event)] for each in placed}
    links = link_events(placed)
    found, asked = (
        {(link.kind, by_event[link.later], by_event[link.earlier]) for link in links if link.suggested is suggested}
        for suggested in (False, True)
    )
    there = {link for link in wanted if {link[1], link[2]} <= set(by_event.values())}
    right = len(found & wanted)
    print(f"  links: {right} right of {len(found)} found, {len(wanted)} labelled, {len(there)} between events found")
    print(f"  suggested: {len(asked & wanted)} right of {len(asked)}")
    for kind in sorted({link[0] for link in wanted}):
        mine, told = ({link for link in some if link[0] == kind} for some in (found, wanted))
        hits = len(mine & told)
        print(f"    {kind:<11} {hits} right of {len(mine)}, {len(told)} labelled, F1 {_f1(hits, mine, told):.3f}")
    return {
        "links_f1": _f1(right, found, wanted),
        "links_of_labels_f1": _f1(right, found, there),
        "links_suggested_right": len(asked & wanted),
        "links_suggested": len(asked),
    }


def with_vectors(placed: list[Placed]) -> list[Placed]:
    """As the job that links events has them, where the embedder is installed."""
    embedder = LocalEmbedder(Path(tempfile.gettempdir()))
    texts = [text_to_embed(one.event.narrative, one.event.subject.ref) for one in placed]
    vectors = asyncio.run(embedder.embed(texts)) if texts else []
    return [replace(one, vector=unit(vector)) for one, vector in zip(placed, vectors, strict=True)]


def _f1(right: int, found: set[tuple[str, str, str]], wanted: set[tuple[str, str, str]]) -> float:
    return round(2 * right / (len(found) + len(wanted)), 3) if found or wanted else 0.0
