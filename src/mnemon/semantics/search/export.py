"""Semantic events as Markdown and as CSV, for people who read and for tables."""

import csv
import io
from collections.abc import Iterable
from itertools import groupby

from mnemon.semantics.shapes import Shape

COLUMNS = (
    "event_id", "category", "status", "happened_at", "due", "narrative", "subject", "actors", "confidence", "title",
    "artifact_uid", "revision_id", "quotes",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def as_csv(events: Iterable[Shape]) -> str:
    """One row each. A cell that a table program would take for a formula begins with an apostrophe."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for event in events:
        row = event | {
            "subject": event["subject"]["ref"],
            "actors": "; ".join(f"{one['ref']} ({one['role']})" for one in event["actors"]),
            "quotes": " | ".join(one["quote"] for one in event["evidence"]),
        }
        writer.writerow([_harmless(row[name]) for name in COLUMNS])
    return written.getvalue()


def as_markdown(events: Iterable[Shape], *, complete: bool = True) -> str:
    """By category, each with people, dates and the words that prove it; the last line tells if some are left out."""
    lines = ["# Semantic events", ""]
    ordered = sorted(events, key=lambda event: event["category"])
    for category, group in groupby(ordered, key=lambda event: event["category"]):
        lines += [f"## {category}", ""]
        for event in group:
            lines += _entry(event)
    if not complete:
        lines += ["*There are more events than these: ask for a shorter time.*", ""]
    return "\n".join(lines)


def _entry(event: Shape) -> list[str]:
    people = ", ".join(one["ref"] for one in event["actors"])
    facts = [(event["happened_at"] or "day unknown")[:11].rstrip("T"), *([people] if people else [])]
    if event["due"]:
        facts.append(f"due {event['due']}")
    if event["status"] != "open":
        facts.append(event["status"])
    lines = [f"- **{_plain(event['narrative'])}** ({_plain(', '.join(facts))})"]
    lines += [f"  > {_plain(one['quote'])}" for one in event["evidence"]]
    return [*lines, f"  — {_plain(event['title'])}, `{event['event_id']}`", ""]


def _plain(text: str) -> str:
    """On one line, and nothing in it is Markdown or HTML of its own."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in text)
    return " ".join(escaped.split())


def _harmless(value: object) -> object:
    """On one line; some programs take the signs that are as wide as Chinese letters for formulas too."""
    if not isinstance(value, str):
        return value
    line = " ".join(value.split())
    return f"'{line}" if line.startswith(FORMULA) else line
