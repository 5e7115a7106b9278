"""Rows: prepared events as the columns that the database's append function takes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from mnemon.log.append.arrays import (
    ByteaArray,
    DateArray,
    EncodedTextArray,
    IntegerArray,
    MomentArray,
    RepeatingTextArray,
    SparseTextArray,
    TextArray,
)
from mnemon.log.append.prepare import Prepared


@dataclass(frozen=True, slots=True)
class Expectation:
    """An entity's version that the event at a place counts on, less what earlier events of the call add to it."""

    place: int
    entity: tuple[str, str]
    version: int
    stored: int


def expectations_of(events: Sequence[Prepared]) -> list[Expectation]:
    """All expectations of a call, in order."""
    if not any(prepared.event.expected_versions for prepared in events):
        return []
    earlier: Counter[tuple[str, str]] = Counter()
    expectations = []
    for place, prepared in enumerate(events):
        for entity, version in prepared.event.expected_versions.items():
            expectations.append(Expectation(place, entity, version, version - earlier[entity]))
        earlier.update(prepared.entities)
    return expectations


def arguments(partition_id: int, events: Sequence[Prepared], expectations: Sequence[Expectation]) -> tuple[Any, ...]:
    """The arguments of `mnemon.append_events`, in its order."""
    return (
        partition_id,
        TextArray([one.id for one in events]),
        RepeatingTextArray([one.event.type for one in events]),
        MomentArray([one.occurred_at for one in events]),
        DateArray([one.effective_date for one in events]),
        RepeatingTextArray([one.event.actor.id for one in events]),
        TextArray([one.correlation_id for one in events]),
        SparseTextArray([one.event.caused_by for one in events]),
        EncodedTextArray([one.envelope for one in events]),
        EncodedTextArray([one.payload for one in events]),
        b"".join([one.digests for one in events]),
        *_entities(events),
        *_labels(events),
        *_subjects(events),
        TextArray([one.entity[0] for one in expectations]),
        TextArray([one.entity[1] for one in expectations]),
        IntegerArray([one.stored for one in expectations]),
        *_keys(events),
        *_dates(events),
        *_newcomers(events),
    )


def _entities(events: Sequence[Prepared]) -> tuple[Any, ...]:
    """One row per entity of an event, with how often the entity came up in this call so far."""
    rows = [(place, entity) for place, one in enumerate(events, 1) for entity in one.entities]
    entities = [entity for _, entity in rows]
    return (
        IntegerArray([place for place, _ in rows]),
        RepeatingTextArray([kind for kind, _ in entities]),
        TextArray([name for _, name in entities]),
        IntegerArray(_ranks(entities)),
    )


def _ranks(entities: Sequence[tuple[str, str]]) -> list[int]:
    if len(set(entities)) == len(entities):
        return [1] * len(entities)
    seen: Counter[tuple[str, str]] = Counter()
    ranks = []
    for entity in entities:
        seen[entity] += 1
        ranks.append(seen[entity])
    return ranks


def _labels(events: Sequence[Prepared]) -> tuple[Any, ...]:
    rows = [(place, kind, value) for place, one in enumerate(events, 1) for kind, value in one.labels]
    return (
        IntegerArray([row[0] for row in rows]),
        TextArray([row[1] for row in rows]),
        TextArray([row[2] for row in rows]),
    )


def _subjects(events: Sequence[Prepared]) -> tuple[Any, ...]:
    rows = [(place, subject) for place, one in enumerate(events, 1) for subject in one.subjects]
    return (
        IntegerArray([place for place, _ in rows]),
        TextArray([subject.subject_id for _, subject in rows]),
        TextArray([subject.field for _, subject in rows]),
    )


def _keys(events: Sequence[Prepared]) -> tuple[Any, ...]:
    rows = [(place, key) for place, one in enumerate(events, 1) for key in one.keys]
    return (
        IntegerArray([place for place, _ in rows]),
        ByteaArray([key.digest for _, key in rows]),
        ByteaArray([key.content for _, key in rows]),
        MomentArray([key.expires_at for _, key in rows]),
    )


def _dates(events: Sequence[Prepared]) -> tuple[Any, ...]:
    unapproved: set[date] = set()
    approved: set[date] = set()
    for one in events:
        if one.bound_to_periods:
            (unapproved if one.event.approved_by is None else approved).add(one.effective_date)
    return DateArray(sorted(unapproved)), DateArray(sorted(approved))


def _newcomers(events: Sequence[Prepared]) -> tuple[Any, ...]:
    rows = {one.subject_id: one for prepared in events for one in prepared.newcomers}.values()
    return (
        TextArray([one.subject_id for one in rows]),
        TextArray([one.wrapping_key for one in rows]),
        ByteaArray([one.wrapped_key for one in rows]),
    )
