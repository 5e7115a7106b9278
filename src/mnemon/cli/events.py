"""How events look on a terminal, and the JSON they are read from."""

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from mnemon.cli.output import table
from mnemon.errors import InvalidRequest
from mnemon.log.events import Event

HEADINGS = ["Sequence", "Occurred", "Type", "Entity", "Actor", "Data", "Id"]
LONGEST_DATA = 60


def print_events(events: Sequence[Event], empty: str = "No events.") -> None:
    table(HEADINGS, [row_of(event) for event in events], empty)


def print_lines(events: Iterable[Event]) -> None:
    """One JSON document per line, each out at once: the reader may be a program that waits for it."""
    for event in events:
        sys.stdout.write(orjson.dumps(event.as_json()).decode() + "\n")
    sys.stdout.flush()


def row_of(event: Event) -> tuple[object, ...]:
    entities = ", ".join(f"{one.entity_type}/{one.entity_id}" for one in event.entities)
    data = orjson.dumps(event.data).decode()
    shown = data if len(data) <= LONGEST_DATA else data[: LONGEST_DATA - 1] + "…"
    return event.sequence, event.occurred_at, event.type, entities or None, short(event.actor_id), shown, event.id


def line_of(event: Event) -> str:
    """For what arrives one by one, where no table can be drawn."""
    sequence, occurred, kind, entities, actor, data, event_id = row_of(event)
    assert isinstance(occurred, datetime)
    return f"{sequence}  {occurred.astimezone():%H:%M:%S}  {kind}  {entities or '-'}  {actor}  {data}  {event_id}"


def short(actor_id: str) -> str:
    """`user:6f1c1f0a…` for an id that ends in a UUID."""
    kind, mark, rest = actor_id.partition(":")
    return f"{kind}:{rest[:8]}…" if mark and len(rest) == 36 else actor_id


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
