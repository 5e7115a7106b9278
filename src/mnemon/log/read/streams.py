"""Streams: which events a reader wants, and the cursor that says where it stopped."""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

import orjson

from mnemon.log.errors import BadCursor

Direction = Literal["forward", "backward"]

LABELS = frozenset({"tag", "division", "region", "site", "intent"})


@dataclass(frozen=True, slots=True)
class Stream:
    """The events of one partition that have something in common."""

    kind: str = "scope"
    value: str = ""
    entity_type: str | None = None

    @classmethod
    def of_entity(cls, entity_type: str | None, entity_id: str) -> "Stream":
        """All events of an entity; with no type, of every entity by that id."""
        return cls("entity", entity_id, entity_type)

    @classmethod
    def of_type(cls, name: str) -> "Stream":
        return cls("type", name)

    @classmethod
    def of_correlation(cls, correlation_id: str) -> "Stream":
        return cls("correlation", correlation_id)

    @classmethod
    def of_actor(cls, actor_id: str) -> "Stream":
        return cls("actor", actor_id)

    @classmethod
    def of_tag(cls, tag: str) -> "Stream":
        return cls("tag", tag)

    @classmethod
    def of_scope(cls, name: str, value: str) -> "Stream":
        """`division`, `region`, `site`, or the name of a custom scope."""
        return cls(name if name in LABELS else f"scope.{name}", value)


EVERYTHING = Stream()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a reader leaves out of a stream. Bounds are inclusive."""

    types: Sequence[str] = ()
    from_sequence: int | None = None
    to_sequence: int | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    effective_from: date | None = None
    effective_to: date | None = None
    recorded_from: datetime | None = None
    recorded_to: datetime | None = None
    dimensions: Mapping[str, str] = field(default_factory=dict)
    as_of: int | datetime | None = None


NO_FILTER = Filter()


def write_cursor(legal_entity: str, stream: Stream, sequence: int) -> str:
    """In a form that means nothing to anyone else."""
    content = orjson.dumps([1, sequence, fingerprint_of(legal_entity, stream)])
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def read_cursor(cursor: str, legal_entity: str, stream: Stream) -> int:
    """The sequence to go on from; a cursor of another stream is refused rather than misread."""
    try:
        version, sequence, fingerprint = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        raise BadCursor(f"{cursor!r} is not a cursor: pass one back as it was given.") from None
    # A boolean is an integer to Python, but not to PostgreSQL.
    if (
        version != 1
        or type(sequence) is not int
        or not 0 <= sequence < 2**63
        or fingerprint != fingerprint_of(legal_entity, stream)
    ):
        raise BadCursor("The cursor belongs to another stream: start that stream without one.")
    return sequence


def fingerprint_of(legal_entity: str, stream: Stream) -> str:
    content = orjson.dumps([legal_entity, stream.kind, stream.value, stream.entity_type])
    return hashlib.sha256(content).hexdigest()[:12]
