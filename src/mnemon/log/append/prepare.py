"""Preparing events: all that can be done to them before the partition's head is locked."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

from mnemon.ids import is_ulid, new_ulid
from mnemon.log.append.envelope import encoded, envelope_of, labels_of, person_of
from mnemon.log.append.keys import EventKey, keys_of
from mnemon.log.errors import InvalidEvent, TypeDeprecated
from mnemon.log.events import ACTOR_TYPES, NewEvent
from mnemon.log.moments import now, written
from mnemon.log.privacy.seal import EventDraft, Newcomer, Sealed, SealedSubject
from mnemon.log.types.event_type import EntityRequirement
from mnemon.log.types.registry import CompiledType

# In bytes. Two of them still fit an entry of a B-tree.
LONGEST_NAME = 1_000


class AppendContext:
    """The request that events come in: whose it is and when, in the forms that each of them needs."""

    def __init__(self, tenant: UUID, key_life: timedelta) -> None:
        self.tenant = str(tenant)
        self.moment = now()
        self.moment_text = written(self.moment)
        self.day = self.moment.date()
        self.key_life = key_life


class Prepared(NamedTuple):
    """An event with all that is written for it, but for its place in the chain."""

    event: NewEvent
    id: str
    occurred_at: datetime
    effective_date: date
    bound_to_periods: bool
    correlation_id: str
    envelope: bytes
    plain_payload: Mapping[str, Any]
    payload: bytes
    digests: bytes
    entities: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]
    keys: tuple[EventKey, ...]
    subjects: Sequence[SealedSubject]
    newcomers: Sequence[Newcomer]


def draft(event: NewEvent, compiled: CompiledType, fresh_id: str | None = None) -> EventDraft:
    """Refuse an event that does not fit its type; otherwise give it its id and plain payload."""
    if not _fits(event, compiled) and (problems := list(_violations(event, compiled))):
        raise InvalidEvent(
            f"The event does not fit {event.type}: {'; '.join(problems)}.", type=event.type, violations=problems
        )
    over = compiled.declaration.deprecated_at
    if over is not None and over <= now():
        raise TypeDeprecated(
            f"{event.type} is deprecated since {written(over)}: record what happened with the type that took its "
            "place.",
            type=event.type,
        )
    payload: dict[str, Any] = {"data": event.data}
    if person := person_of(event.actor):
        payload["actor"] = person
    if event.rules_evaluated:
        payload["rules_evaluated"] = list(event.rules_evaluated)
    return EventDraft(event.id or fresh_id or new_ulid(), compiled.declaration, event, payload)


def prepare(context: AppendContext, made: EventDraft, sealed: Sealed, compiled: CompiledType) -> Prepared:
    """Fix the bytes of an event, and hash them."""
    event = made.event
    if event.occurred_at is None:
        occurred_at, occurred_text, day = context.moment, context.moment_text, context.day
    else:
        occurred_at, occurred_text = event.occurred_at, written(event.occurred_at)
        day = occurred_at.astimezone(UTC).date()
    effective_date = event.effective_date or day
    correlation_id = event.correlation_id or made.id
    envelope = encoded(envelope_of(context.tenant, made, occurred_text, effective_date, correlation_id), event)
    if len(envelope) > LONGEST_NAME:
        _refuse_long_names(event)
    entities = [(one.entity_type, one.entity_id) for one in event.entities]
    keys = (
        tuple(keys_of(event, compiled, context.moment, context.key_life))
        if event.idempotency_key or compiled.business_key
        else ()
    )
    # By place, not by name, which takes twice as long for so many fields.
    return Prepared(
        event, made.id, occurred_at, effective_date, compiled.declaration.bound_to_periods, correlation_id,
        envelope, made.payload, sealed.payload, sha256(envelope).digest() + sha256(sealed.payload).digest(),
        tuple(dict.fromkeys(entities)), labels_of(event), keys, sealed.subjects, sealed.newcomers,
    )  # fmt: skip


def _fits(event: NewEvent, compiled: CompiledType) -> bool:
    """True for what is plainly in order, at little cost; the rest is looked at closely."""
    return (
        event.id is None
        and event.approved_by is None
        and event.actor.type in ACTOR_TYPES
        and (event.occurred_at is None or event.occurred_at.tzinfo is not None)
        and not event.expected_versions
        and _names_all(event, compiled.declaration.required_entities)
        and compiled.required_dimensions <= event.dimensions.keys()
        and compiled.is_valid(event.data)
    )


def _names_all(event: NewEvent, wanted: Sequence[EntityRequirement]) -> bool:
    for one in wanted:
        found = _number_named(event, one)
        if not found or (found > 1 and one.cardinality == "one"):
            return False
    return True


def _number_named(event: NewEvent, wanted: EntityRequirement) -> int:
    return sum(one.entity_type == wanted.entity_type and one.role == wanted.role for one in event.entities)


def _violations(event: NewEvent, compiled: CompiledType) -> Iterator[str]:
    yield from compiled.violations(event.data)
    for name in sorted(compiled.required_dimensions - event.dimensions.keys()):
        yield f"dimension {name} is missing"
    for required in compiled.declaration.required_entities:
        found = _number_named(event, required)
        if not found or (found > 1 and required.cardinality == "one"):
            wanted = "exactly one" if required.cardinality == "one" else "at least one"
            yield f"{wanted} {required.entity_type} in the role {required.role} is needed, {found} given"
    if event.actor.type not in ACTOR_TYPES:
        yield f"actor type {event.actor.type!r} is none of {', '.join(sorted(ACTOR_TYPES))}"
    if event.occurred_at is not None and event.occurred_at.tzinfo is None:
        yield "occurred_at has no time zone"
    if event.id is not None and not is_ulid(event.id):
        yield f"id {event.id!r} is not a ULID"
    if event.approved_by is not None and event.approved_by == event.actor.id:
        yield f"{event.approved_by} cannot approve an act of their own"
    named = {(one.entity_type, one.entity_id) for one in event.entities} if event.expected_versions else ()
    for entity in event.expected_versions:
        if entity not in named:
            yield f"a version of {entity[0]} {entity[1]} is expected, but the event does not name it"


def _refuse_long_names(event: NewEvent) -> None:
    """What is indexed must fit an index. An envelope shorter than one name holds no name that is too long."""
    names = {
        "type": [event.type],
        "actor": [event.actor.id],
        "correlation_id": [event.correlation_id or ""],
        "caused_by": [event.caused_by or ""],
        "entity": [part for one in event.entities for part in (one.entity_type, one.entity_id)],
        "tag or scope": [part for label in labels_of(event) for part in label],
    }
    for kind, given in names.items():
        for name in given:
            if len(name.encode()) > LONGEST_NAME:
                raise InvalidEvent(
                    f"The {kind} {name[:40]!r}… of {event.type} has more than {LONGEST_NAME} bytes: shorten it.",
                    type=event.type,
                )
