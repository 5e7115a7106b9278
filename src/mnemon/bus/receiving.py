"""Envelopes of others, from a queue into the log: once each, however often they come."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

import orjson
import psycopg
from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from mnemon.bus.carrier import BusCarrier, BusUnavailable, EnvelopeRefused
from mnemon.bus.envelope import name_of_type, personal_paths, without_owner
from mnemon.errors import Conflict, MnemonError, NotFound
from mnemon.ids import is_ulid, ulid_of
from mnemon.log.append.incoming import IncomingEntity, Name
from mnemon.log.events import Actor, EntityReference, Event, NewEvent, Source
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.store import EventLog
from mnemon.log.types.paths import without
from mnemon.problems import plain_problem
from mnemon.telemetry import counter, logger

RECEIVED = counter("mnemon_bus_received", "Envelopes that came from a queue, by what became of them.", ["outcome"])
BUS = Actor("system", "bus")
PAUSE = 1.0
# As of the body of a request.
LARGEST = 1_048_576

log = logger(__name__)


class InboundEnvelope(BaseModel):
    """The specification's envelope, as far as the log reads it; what else stands in it is not asked."""

    event_id: Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,150}$")]
    data: dict[str, Any]
    # One of the two says what it is: the type as the log has it, or its name in the envelope.
    routing_key: Name | None = None
    event_type: Name | None = None
    version: Annotated[str, Field(pattern=r"^[1-9]\d{0,8}(\.\d+)?$")] | None = None
    timestamp: AwareDatetime | None = None
    correlation_id: Name | None = None
    causation_id: Name | None = None
    entities: Annotated[list[IncomingEntity], Field(max_length=1_000)] | None = None

    @classmethod
    def read(cls, body: bytes) -> "InboundEnvelope":
        try:
            return cls.model_validate(orjson.loads(body))
        except orjson.JSONDecodeError:
            raise EnvelopeRefused("The message is no JSON.") from None
        except ValidationError as failure:
            first = failure.errors()[0]
            place = ".".join(map(str, first["loc"])) or "envelope"
            raise EnvelopeRefused(f"The message is no envelope: {place}: {plain_problem(first)}") from None

    @property
    def own_id(self) -> str:
        """The id of its event, the same however often it comes: keys are forgotten after a day, ids never."""
        return self.event_id if is_ulid(self.event_id) else ulid_of(f"bus:{self.event_id}")

    def as_new_event(self, routing_key: str) -> NewEvent:
        return NewEvent(
            id=self.own_id,
            type=routing_key,
            data=self.data,
            actor=BUS,
            schema_version=int(self.version.partition(".")[0]) if self.version else None,
            occurred_at=self.timestamp,
            entities=[EntityReference(one.entity_type, one.entity_id, one.role) for one in self.entities or ()],
            correlation_id=self.correlation_id,
            caused_by=self.causation_id,
            source=Source(channel="bus", reference=self.event_id),
            idempotency_key=f"bus:{self.event_id}",
        )


async def accept_envelope(events: EventLog, tenant: UUID, body: bytes, most_bytes: int = LARGEST) -> str:
    """Append what an envelope says, to the tenant that the settings name; whatever it says of tenants is not asked.

    Its `event_id` is the idempotency key. What this log itself has sent comes back as known.
    """
    if len(body) > most_bytes:
        raise EnvelopeRefused(
            f"The message has {len(body):,} bytes, more than MNEMON_REQUEST_MAX_BYTES ({most_bytes:,}).",
            limit=most_bytes,
        )
    envelope = InboundEnvelope.read(body)
    known = await _event_of(events, tenant, envelope)
    try:
        if known is not None:
            await _refuse_other_content(events, known, envelope)
            return "known"
        routing_key = envelope.routing_key or await _type_named(events, tenant, envelope.event_type)
        # Nobody outside can make the log say that Mnemon did something.
        events.registry.refuse_built_in([routing_key])
        [appended] = await events.append(tenant, [envelope.as_new_event(routing_key)])
    except EnvelopeRefused:
        raise
    except OverflowError as refusal:
        raise EnvelopeRefused(f"Envelope {envelope.event_id} has a moment that no calendar has.") from refusal
    except MnemonError as refusal:
        if refusal.status >= 500 or refusal.retry:
            raise
        event_id = envelope.event_id
        raise EnvelopeRefused(f"Envelope {event_id} is not taken: {refusal.message}", event_id=event_id) from refusal
    return "known" if appended.duplicate else "appended"


async def _event_of(events: EventLog, tenant: UUID, envelope: InboundEnvelope) -> Event | None:
    try:
        return await events.read_event(tenant, envelope.own_id)
    except NotFound:
        return None


async def _type_named(events: EventLog, tenant: UUID, name: str | None) -> str:
    """The specification's envelope says `OrderPlaced` where the log has `order.placed`."""
    if name is None:
        raise EnvelopeRefused("The message is no envelope: it needs routing_key or event_type.")
    found = {one.type for one in await events.registry.list(tenant) if name_of_type(one.type) == name}
    if len(found) != 1:
        problem = "more than one type is called so" if found else "no type that is registered is called so"
        raise EnvelopeRefused(f"event_type is {name}, and {problem}: give routing_key.", event_type=name)
    return found.pop()


async def _refuse_other_content(events: EventLog, known: Event, envelope: InboundEnvelope) -> None:
    """As far as it can be compared: personal fields may be forgotten since, or stayed here when the event was sent, and
    archived data is elsewhere."""
    same_type = envelope.routing_key in (None, known.type) and envelope.event_type in (None, name_of_type(known.type))
    if not (same_type and await _has_this_data(events, known, envelope.data)):
        raise Conflict(f"{envelope.event_id} came before with other content.", event_id=envelope.event_id)


async def _has_this_data(events: EventLog, known: Event, given: Mapping[str, Any]) -> bool:
    """As it was recorded, or as it is sent today: its type may have a newer version, with other personal fields."""
    if known.payload_text is None:
        return True
    for version, data in ((known.schema_version, known.payload["data"]), (known.data_version, known.data)):
        hidden = personal_paths((await events.registry.find(known.tenant_id, known.type, version)).declaration)
        if _is_same(*(without_owner(known.type, without(one, hidden)) for one in (data, given))):
            return True
    return False


def _is_same(recorded: Any, given: Any) -> bool:
    """What was redacted since may have been anything."""
    if isinstance(recorded, dict) and isinstance(given, dict):
        return recorded.keys() == given.keys() and all(_is_same(one, given[name]) for name, one in recorded.items())
    if isinstance(recorded, list) and isinstance(given, list):
        return len(recorded) == len(given) and all(map(_is_same, recorded, given))
    return bool(recorded in (REDACTED, given))


async def receive_for_ever(
    events: EventLog, carrier: BusCarrier, queue: str, tenant: UUID, most_bytes: int = LARGEST
) -> None:
    async def take(body: bytes) -> None:
        try:
            RECEIVED.labels(await accept_envelope(events, tenant, body, most_bytes)).inc()
        except EnvelopeRefused as refusal:
            RECEIVED.labels("refused").inc()
            log.warning("envelope_refused", error=refusal.message)
            raise

    while True:
        try:
            await carrier.receive(queue, take)
        except BusUnavailable as failure:
            log.warning("bus_lost", carrier=carrier.name, error=failure.message)
        except Exception as failure:
            log.warning("envelope_not_taken", error=str(failure))
            await _until_it_is_open(events, tenant)
        await asyncio.sleep(PAUSE)


async def _until_it_is_open(events: EventLog, tenant: UUID) -> None:
    """While the database is away, or the tenant moves, nothing is asked of the broker: it counts how often it brought
    an envelope in vain, and takes the one that was brought too often for a dead letter."""
    while True:
        try:
            async with events.database.transaction(tenant):
                return
        except (psycopg.Error, MnemonError, OSError):
            await asyncio.sleep(PAUSE)
