"""Streams as people ask for them: words of a query, turned into a stream and its bounds."""

import re
from datetime import UTC, date, datetime, time
from typing import Literal

from mnemon.errors import InvalidRequest
from mnemon.log.read.streams import EVERYTHING, Stream

StreamType = Literal["all", "entity", "scope", "type", "correlation", "actor", "tag"]
LAST_SEQUENCE = 2**63 - 1
SEQUENCE = re.compile(r"[0-9]{1,19}")


def stream_named(
    kind: StreamType, value: str | None, *, entity_type: str | None = None, scope: str | None = None
) -> Stream:
    """The stream of this kind; `scope` says which scope a value is of."""
    if kind == "all":
        return EVERYTHING
    if value is None:
        raise InvalidRequest(f"A stream by {kind} needs to know of which one: give stream_id.", stream_type=kind)
    if kind == "scope":
        return Stream.of_scope(scope or "division", value)
    if kind == "entity":
        return Stream.of_entity(entity_type, value)
    return Stream(kind, value)


def read_position(text: str) -> int | datetime:
    """What `as_of` may be: a sequence, or a moment."""
    return read_sequence(text) if SEQUENCE.fullmatch(text) else start_of(text)


def read_sequence(text: str) -> int:
    if not SEQUENCE.fullmatch(text) or int(text) > LAST_SEQUENCE:
        raise InvalidRequest(f"{text!r} is not a sequence: give a whole number from 0.", sequence=text)
    return int(text)


def start_of(text: str) -> datetime:
    """A moment; a bare day means its first one, in UTC."""
    return _read(text, time.min)


def end_of(text: str) -> datetime:
    """A moment; a bare day means its last one, in UTC."""
    return _read(text, time.max)


def _read(text: str, on_bare_day: time) -> datetime:
    try:
        if len(text) == 10:
            return datetime.combine(date.fromisoformat(text), on_bare_day, UTC)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequest(
            f"{text!r} is neither a day like 2026-03-01 nor a moment like 2026-03-01T09:30Z."
        ) from None
    if moment.tzinfo is None:
        raise InvalidRequest(f"{text!r} has no time zone: end it with Z or an offset like +01:00.")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidRequest(f"{text!r} lies outside the years 1 to 9999 in UTC.") from None


def read_dimensions(pairs: list[str]) -> dict[str, str]:
    """`department:ENG` each."""
    found = {}
    for pair in pairs:
        name, mark, value = pair.partition(":")
        if not mark or not name:
            raise InvalidRequest(f"{pair!r} is not a dimension: write name:value, like department:ENG.")
        found[name] = value
    return found
