"""Compares what the rules find in the gold documents with what a careful reader labelled."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mnemon.semantics.extract.extractor import Extractor, extract_revision
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.extract.verify import find_evidence
from mnemon.semantics.semantic_event import SemanticEvent

FOLDER = Path(__file__).parents[1] / "tests" / "semantics" / "gold"
CORPUS = Path(__file__).parents[1] / "training" / "corpus"


@dataclass(frozen=True)
class Label:
    category: str
    start: int
    end: int
    quote: str
    actors: tuple[str, ...]
    subject: str
    event_time: str | None
    due: str | None
    name: str = ""
    owner: str | None = None


@dataclass(frozen=True)
class Document:
    name: str
    split: str
    revision: Revision
    labels: tuple[Label, ...]
    language: str = "en"
    kind: str = ""
    series: str | None = None
    links: tuple[tuple[str, str, str], ...] = ()


@dataclass
class Score:
    """Counts of one split, and what was missed or invented, for the one who tunes."""

    right: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    labelled: Counter[str] = field(default_factory=Counter)
    details: Counter[str] = field(default_factory=Counter)
    pairs: list[tuple[SemanticEvent, bool]] = field(default_factory=list)
    matched: dict[str, SemanticEvent] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def precision(self, category: str | None = None) -> float:
        return _ratio(self._sum(self.right, category), self._sum(self.found, category))

    def recall(self, category: str | None = None) -> float:
        return _ratio(self._sum(self.right, category), self._sum(self.labelled, category))

    def f1(self, category: str | None = None) -> float:
        precision, recall = self.precision(category), self.recall(category)
        return _ratio(2 * precision * recall, precision + recall)

    def share(self, detail: str) -> float:
        return _ratio(self.details[f"{detail} right"], self.details[f"{detail} labelled"])

    @staticmethod
    def _sum(counts: "Counter[str]", category: str | None) -> int:
        return counts[category] if category else counts.total()


def load_documents(split: str | None = None, folder: Path = FOLDER) -> list[Document]:
    documents = [_document(path) for path in sorted(folder.glob("*.json"))]
    return [each for each in documents if split in (None, each.split)]


def score(engine: Extractor, documents: list[Document], least: float = 0.0) -> Score:
    """Of events that are at least so sure."""
    return compare(
        documents, [asyncio.run(extract_revision(engine, each.revision)).events for each in documents], least
    )


def compare(documents: list[Document], found: Sequence[Sequence[SemanticEvent]], least: float = 0.0) -> Score:
    total = Score()
    for document, events in zip(documents, found, strict=True):
        _compare(document, [event for event in events if event.confidence >= least], total)
    return total


def _compare(document: Document, events: list[SemanticEvent], total: Score) -> None:
    left = list(events)
    total.found.update(event.category.value for event in events)
    total.labelled.update(label.category for label in document.labels)
    for label in document.labels:
        match = next((event for event in left if _matches(event, label)), None)
        if match is None:
            near = [f"{each.category.value} ({','.join(each.rules)})" for each in events if _overlaps(each, label)]
            total.remarks.append(f"missed   {document.name} {label.category}: {label.quote!r} {near or ''}")
            continue
        left.remove(match)
        total.right[label.category] += 1
        total.pairs.append((match, True))
        if label.name:
            total.matched[label.name] = match
        _compare_details(match, label, total, document.name)
    total.pairs += [(event, False) for event in left]
    total.remarks += [
        f"invented {document.name} {event.category.value} ({','.join(event.rules)}): {event.evidence[0].quote!r}"
        for event in left
    ]


def _compare_details(event: SemanticEvent, label: Label, total: Score, name: str) -> None:
    refs = {actor.ref.lower() for actor in event.actors}
    for actor in label.actors:
        total.details["actor labelled"] += 1
        right = any(actor.lower() in ref or ref in actor.lower() for ref in refs)
        total.details["actor right"] += right
        if not right:
            total.remarks.append(f"actor    {name} {label.quote[:50]!r}: {actor} not in {sorted(refs)}")
    for detail, wanted, got in (
        ("due", label.due, event.due and event.due.isoformat()),
        ("time", label.event_time, event.event_time and event.event_time.date().isoformat()),
    ):
        total.details[f"{detail} given"] += bool(got)
        if wanted:
            total.details[f"{detail} labelled"] += 1
            total.details[f"{detail} right"] += wanted == got
        if wanted != got:
            total.remarks.append(f"{detail:<8} {name} {label.quote[:50]!r}: wanted {wanted}, got {got}")
    if label.owner:
        owners = {actor.ref.lower() for actor in event.actors if actor.role == "owner"}
        total.details["owner labelled"] += 1
        total.details["owner right"] += any(label.owner.lower() in one or one in label.owner.lower() for one in owners)
    words = {word.lower() for word in label.subject.split()}
    total.details["subject labelled"] += 1
    right = bool(words & {word.lower() for word in event.subject.ref.split()})
    total.details["subject right"] += right
    if not right:
        total.remarks.append(
            f"subject  {name} {label.quote[:50]!r}: wanted {label.subject!r}, got {event.subject.ref!r}"
        )


def _matches(event: SemanticEvent, label: Label) -> bool:
    return event.category.value == label.category and _overlaps(event, label)


def _overlaps(event: SemanticEvent, label: Label) -> bool:
    """At least half of the shorter of the two quotes lies in the other."""
    for each in event.evidence:
        shared = min(each.end, label.end) - max(each.start, label.start)
        if 2 * shared >= min(each.end - each.start, label.end - label.start):
            return True
    return False


def _document(path: Path) -> Document:
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    text = path.with_suffix(".txt").read_text(encoding="utf-8")
    source = table["source"]
    date = source["date"]
    revision = Revision(
        f"rev_{path.stem}",
        text,
        source["type"],
        datetime.fromisoformat(f"{date}T12:00:00+00:00") if date else None,
        source["timezone"],
        source["title"],
        source.get("sender") or source.get("author"),
        tuple(source["participants"]),
    )
    return Document(
        path.stem,
        table["split"],
        revision,
        tuple(_label(text, each) for each in table["events"]),
        table.get("language", "en"),
        table.get("kind", ""),
        table.get("series"),
        tuple((each["kind"], each["later"], each["earlier"]) for each in table.get("links", ())),
    )


def _label(text: str, event: dict[str, Any]) -> Label:
    start, end = _span(text, event["quote"], event.get("nth", 1))
    return Label(
        event["category"],
        start,
        end,
        event["quote"],
        tuple(event["actors"]),
        event["subject"],
        event.get("event_time"),
        event.get("due"),
        event.get("id", ""),
        event.get("owner"),
    )


def _span(text: str, quote: str, nth: int) -> tuple[int, int]:
    """Where the quote stands: as it is written, or with its white space and quotation marks folded."""
    start = -1
    for _ in range(nth):
        start = text.find(quote, start + 1)
    if start >= 0:
        return start, start + len(quote)
    found = find_evidence(text, quote)
    if found is None:
        raise ValueError(f"A label quotes what the text does not say: {quote!r}")
    return found.start, found.end


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
