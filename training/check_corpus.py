"""Check the labelled corpus: every quote stands in its text, every link resolves.

Usage: python3 training/check_corpus.py [folder]
Prints counts per split, language, kind and category; exits 1 on any fault.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

CATEGORIES = (
    "Commitment",
    "Execution",
    "Decision",
    "Collaboration",
    "QualityRisk",
    "Feedback",
    "Change",
    "Stakeholder",
)
SPLITS = ("train", "tune", "blind")
LANGUAGES = ("en", "de")
SOURCE_TYPES = ("doc", "chat", "email", "transcript", "note", "contract", "ticket")
COMMITMENT_KINDS = ("promise", "assignment", "request")
LINK_KINDS = ("supersedes", "fulfils", "depends_on")
DOCUMENT_KEYS = {"split", "language", "kind", "trade", "series", "source", "events", "links"}
SOURCE_KEYS = {"type", "date", "timezone", "title", "author", "participants"}
EVENT_KEYS = {
    "id",
    "category",
    "quote",
    "nth",
    "actors",
    "owner",
    "due",
    "event_time",
    "subject",
    "kind",
}
NAME = re.compile(r"(\d{3,4})_(en|de)_([a-z-]+)")


def is_date(value: object) -> bool:
    """Say whether the value is a calendar day written YYYY-MM-DD."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def occurrences(text: str, quote: str) -> int:
    """Count where the quote begins in the text, overlaps included."""
    return sum(1 for _ in re.finditer("(?=" + re.escape(quote) + ")", text))


def check_event(event: dict[str, Any], number: str, text: str) -> list[str]:
    """List what is wrong with one event."""
    faults = []
    if set(event) - EVENT_KEYS:
        faults.append(f"unknown fields {sorted(set(event) - EVENT_KEYS)}")
    if not re.fullmatch(number + r"-e\d+", str(event.get("id"))):
        faults.append("id does not carry the number of the document")
    if event.get("category") not in CATEGORIES:
        faults.append(f"category {event.get('category')!r}")
    quote = event.get("quote") or ""
    found = occurrences(text, quote) if quote else 0
    if not quote.strip() or found == 0:
        faults.append("quote does not stand in the text")
    elif quote != quote.strip():
        faults.append("quote begins or ends with white space")
    elif found > 1 and event.get("nth") not in range(1, found + 1):
        faults.append(f"quote stands {found} times and nth does not say which")
    elif found == 1 and "nth" in event:
        faults.append("nth given for a quote that stands once")
    if not isinstance(event.get("actors"), list):
        faults.append("actors is not a list")
    if not event.get("subject"):
        faults.append("subject is missing")
    faults += [
        f"{field} {event[field]!r} is no date"
        for field in ("due", "event_time")
        if field in event and not is_date(event[field])
    ]
    if event.get("category") == "Commitment":
        if event.get("kind") not in COMMITMENT_KINDS:
            faults.append(f"commitment kind {event.get('kind')!r}")
    else:
        faults += [f"{f} on a {event.get('category')}" for f in ("owner", "due", "kind") if f in event]
    return faults


def check_document(path: Path, document: dict[str, Any], text: str) -> list[str]:
    """List what is wrong with one document, its links aside."""
    match = NAME.fullmatch(path.stem)
    if not match:
        return ["file name is not NNN_lang_kind"]
    number, language, kind = match.groups()
    faults = []
    if set(document) != DOCUMENT_KEYS:
        faults.append(f"fields {sorted(set(document) ^ DOCUMENT_KEYS)} missing or unknown")
        return faults
    if document["split"] not in SPLITS:
        faults.append(f"split {document['split']!r}")
    if document["language"] != language or language not in LANGUAGES:
        faults.append("language differs from the file name")
    if document["kind"].replace(" ", "-") != kind:
        faults.append("kind differs from the file name")
    source = document["source"]
    if set(source) != SOURCE_KEYS:
        faults.append(f"source fields {sorted(set(source) ^ SOURCE_KEYS)} missing or unknown")
        return faults
    if source["type"] not in SOURCE_TYPES:
        faults.append(f"source type {source['type']!r}")
    if source["date"] is not None and not is_date(source["date"]):
        faults.append(f"source date {source['date']!r}")
    for event in document["events"]:
        faults += [f"{event.get('id')}: {fault}" for fault in check_event(event, number, text)]
    return faults


def main(folder: Path) -> int:
    """Check every document of the folder and print the counts."""
    faults: list[str] = []
    documents: dict[str, dict[str, Any]] = {}
    events: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for path in sorted(folder.glob("*.json")):
        text_path = path.with_suffix(".txt")
        if not text_path.exists():
            faults.append(f"{path.name}: no text beside it")
            continue
        document = json.loads(path.read_text(encoding="utf-8"))
        text = text_path.read_text(encoding="utf-8")
        faults += [f"{path.name}: {fault}" for fault in check_document(path, document, text)]
        documents[path.stem] = document
        numbers[path.stem.partition("_")[0]] += 1
        for event in document.get("events", []):
            if event.get("id") in events:
                faults.append(f"{path.name}: id {event.get('id')} is used twice")
            events[event.get("id")] = path.stem
    for path in sorted(folder.glob("*.txt")):
        if not path.with_suffix(".json").exists():
            faults.append(f"{path.name}: no labels beside it")
    faults += [f"number {number} is used twice" for number, count in numbers.items() if count > 1]

    series_split: dict[str, str] = {}
    for stem, document in documents.items():
        series = document.get("series")
        if series and series_split.setdefault(series, document["split"]) != document["split"]:
            faults.append(f"{stem}: series {series} stands in two splits")
        for link in document.get("links", []):
            if set(link) != {"kind", "later", "earlier"} or link["kind"] not in LINK_KINDS:
                faults.append(f"{stem}: link {link}")
                continue
            for end in ("later", "earlier"):
                home = events.get(link[end])
                if home is None:
                    faults.append(f"{stem}: link to {link[end]}, which is no event")
                elif home != stem and (not series or documents[home]["series"] != series):
                    faults.append(f"{stem}: link to {link[end]}, which is outside the series")
            if link["later"] == link["earlier"]:
                faults.append(f"{stem}: link from {link['later']} to itself")

    everything = [event for document in documents.values() for event in document["events"]]
    by_split = Counter(
        (document["split"], event["category"]) for document in documents.values() for event in document["events"]
    )
    links = [link for document in documents.values() for link in document["links"]]
    lines = [f"{len(documents)} documents, {len(everything)} events, {len(links)} links"]
    for field in ("split", "language", "kind", "trade"):
        counts = Counter(document[field] for document in documents.values())
        lines.append(f"{field}: " + ", ".join(f"{name} {n}" for name, n in sorted(counts.items())))
    named = Counter(document["series"] for document in documents.values() if document["series"])
    lines.append("series: " + ", ".join(f"{name} {n}" for name, n in sorted(named.items())))
    for category in CATEGORIES:
        shares = ", ".join(f"{split} {by_split[split, category]}" for split in SPLITS)
        lines.append(f"{category}: {sum(by_split[split, category] for split in SPLITS)} ({shares})")
    kinds = Counter(link["kind"] for link in links)
    lines.append("links: " + ", ".join(f"{name} {n}" for name, n in sorted(kinds.items())))
    lines += ["FAULT " + fault for fault in faults]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    here = Path(__file__).resolve().parent / "corpus"
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else here))
