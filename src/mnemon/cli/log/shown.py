"""How events look on a terminal, and the JSON they are read from."""

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from mnemon.cli.output import say, screen_width
from mnemon.errors import InvalidRequest
from mnemon.log_operations.event_outputs import LogEventOut

HEADINGS = ["Sequence", "Occurred", "Type", "Entity", "Actor", "Id", "Data"]
GAP = 2
LEAST_DATA = 20


def print_events(events: Sequence[LogEventOut], empty: str = "No events.") -> None:
    """A line each. Ids are to be copied, so they are never cut; the data takes what width the screen leaves."""
    if not events:
        say(empty)
        return
    cells = [cells_of(event) for event in events]
    widths = [max(len(heading), *(len(row[place]) for row in cells)) for place, heading in enumerate(HEADINGS[:-1])]
    room = max(screen_width() - sum(widths) - GAP * len(widths), LEAST_DATA)
    for place, row in enumerate([tuple(HEADINGS), *cells]):
        fixed = "".join(cell.ljust(width + GAP) for cell, width in zip(row, widths, strict=False))
        say(fixed + cut(row[-1], room), "bold" if place == 0 else None)


def print_lines(events: Iterable[LogEventOut]) -> None:
    """One JSON document per line, each out at once: the reader may be a program that waits for it."""
    for event in events:
        sys.stdout.write(orjson.dumps(event).decode() + "\n")
    sys.stdout.flush()


def cells_of(event: LogEventOut) -> tuple[str, ...]:
    entities = ", ".join(f"{one['entity_type']}/{short(one['entity_id'])}" for one in event["entities"])
    return (
        event["sequence"],
        f"{datetime.fromisoformat(event['occurred_at']).astimezone():%Y-%m-%d %H:%M}",
        event["type"],
        cut(entities, 40) or "-",
        short(event["actor"]["id"]),
        event["id"],
        orjson.dumps(event["data"]).decode(),
    )


def line_of(event: LogEventOut) -> str:
    """For what arrives one by one, where no columns can be measured."""
    sequence, occurred, kind, entities, actor, event_id, data = cells_of(event)
    return f"{sequence}  {occurred}  {kind}  {entities}  {actor}  {event_id}  {cut(data, 60)}"


def short(identity: str) -> str:
    """`user:6f1c1f0a…` for an id that ends in a UUID."""
    kind, mark, rest = identity.rpartition(":")
    return f"{kind}{mark}{rest[:8]}…" if len(rest) == 36 else identity


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def read_documents(text: str | None, file: Path | None) -> list[Any]:
    """Events from an argument, a file or the standard input: one, a list, `{"events": […]}`, or one per line."""
    if text is not None and file is not None:
        raise InvalidRequest("Give the event or a file, not both.")
    if text is None:
        text = _content_of(file)
    if not text.strip():
        raise InvalidRequest("No event came: give one as the argument, with --file, or on the standard input.")
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as failure:
        return _read_lines(text, failure)
    if isinstance(document, dict) and set(document) == {"events"}:
        document = document["events"]
    return document if isinstance(document, list) else [document]


def _content_of(file: Path | None) -> str:
    if file is None or str(file) == "-":
        if sys.stdin.isatty():
            raise InvalidRequest("No event came: give one as the argument, with --file, or on the standard input.")
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise InvalidRequest(f"{file} cannot be read: {failure}") from None


def _read_lines(text: str, of_whole: orjson.JSONDecodeError) -> list[Any]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) == 1:
        raise InvalidRequest(f"This is not JSON: {of_whole}") from None
    documents = []
    for number, line in lines:
        try:
            documents.append(orjson.loads(line))
        except orjson.JSONDecodeError as failure:
            raise InvalidRequest(f"Line {number} is not JSON: {failure}") from None
    return documents
