"""Envelopes of others, from a queue into the log: once each, however often they come."""

import asyncio
from typing import Any
from uuid import UUID

import orjson

from mnemon.bus.carrier import BusCarrier, BusUnavailable, EnvelopeRefused
from mnemon.errors import MnemonError, NotFound
from mnemon.log.events import Actor, EntityReference, NewEvent, Source
from mnemon.log.store import EventLog
from mnemon.telemetry import counter, logger

RECEIVED = counter("mnemon_bus_received", "Envelopes that came from a queue, by what became of them.", ["outcome"])
BUS = Actor("system", "bus")
PAUSE = 1.0

log = logger(__name__)


async def accept_envelope(events: EventLog, tenant: UUID, body: bytes) -> str:
    """Append what an envelope says, to the tenant that the settings name; whatever it says of tenants is not asked.

    Its `event_id` is the idempotency key. What this log itself has sent comes back as known.
    """
    envelope = _read(body)
    event_id = envelope["event_id"]
    try:
        known = await events.read_event(tenant, event_id)
    except NotFound:
        known = None
    if known is not None:
        return "known"
    try:
        # Nobody outside can make the log say that Mnemon did something.
        events.registry.refuse_built_in([str(envelope["routing_key"])])
        await events.append(tenant, [_event(envelope)])
    except MnemonError as refusal:
        if refusal.status >= 500 or refusal.retry:
            raise
        raise EnvelopeRefused(f"Envelope {event_id} is not taken: {refusal.message}", event_id=event_id) from refusal
    return "appended"


async def receive_for_ever(events: EventLog, carrier: BusCarrier, queue: str, tenant: UUID) -> None:
    async def take(body: bytes) -> None:
        try:
            RECEIVED.labels(await accept_envelope(events, tenant, body)).inc()
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
            # The database is away: the broker keeps the envelope and brings it again.
            log.warning("envelope_not_taken", error=str(failure))
        await asyncio.sleep(PAUSE)


def _read(body: bytes) -> dict[str, Any]:
    try:
        envelope = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise EnvelopeRefused("The message is no JSON.") from None
    needed = ("event_id", "routing_key", "data")
    if not isinstance(envelope, dict) or not all(envelope.get(name) for name in needed):
        raise EnvelopeRefused(f"The message is no envelope: it needs {', '.join(needed)}.")
    if not isinstance(envelope["event_id"], str) or not isinstance(envelope["data"], dict):
        raise EnvelopeRefused("event_id is a text and data an object.")
    return envelope


def _event(envelope: dict[str, Any]) -> NewEvent:
    try:
        entities = [EntityReference(**one) for one in envelope.get("entities") or ()]
    except TypeError:
        raise EnvelopeRefused("entities have entity_type and entity_id.") from None
    return NewEvent(
        type=str(envelope["routing_key"]),
        data=envelope["data"],
        actor=BUS,
        entities=entities,
        correlation_id=envelope.get("correlation_id"),
        source=Source(channel="bus"),
        idempotency_key=f"bus:{envelope['event_id']}",
    )
