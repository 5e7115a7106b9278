"""Keys of events: what makes an append a repetition of another, for a day or for ever, and what becomes of old ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from mnemon.db.database import Database
from mnemon.log.append.envelope import encoded
from mnemon.log.errors import KeyConflict
from mnemon.log.events import NewEvent
from mnemon.log.privacy.seal import canonical
from mnemon.log.proof.chain import digest
from mnemon.log.types.paths import values_at, without
from mnemon.log.types.registry import CompiledType

# In small bites, so that no append waits long for a page.
FORGET = """
DELETE FROM mnemon.event_keys
 WHERE ctid = ANY(ARRAY(SELECT ctid FROM mnemon.event_keys WHERE expires_at < now() LIMIT 1000))
"""


@dataclass(frozen=True, slots=True)
class EventKey:
    """A digest that must not be taken, and the digest of the content that may share it. No expiry: for ever."""

    digest: bytes
    content: bytes
    expires_at: datetime | None
    meaning: str


def keys_of(event: NewEvent, compiled: CompiledType, moment: datetime, life: timedelta) -> Iterator[EventKey]:
    if event.idempotency_key is not None:
        secret = digest(b"idempotency\n" + event.idempotency_key.encode())
        meaning = f"idempotency key {event.idempotency_key!r}"
        yield EventKey(secret, _content_of(event, compiled), moment + life, meaning)
    if business_key := compiled.business_key:
        values = [list(values_at(event.data, path)) for path in business_key.paths]
        secret = digest(b"business\n" + canonical([event.type, values]))
        content = digest(_plain_data(event, compiled))
        expires_at = moment + business_key.window if business_key.window else None
        yield EventKey(secret, content, expires_at, f"business key {orjson.dumps(values).decode()} of {event.type}")


def _content_of(event: NewEvent, compiled: CompiledType) -> bytes:
    """What a retry must repeat. Personal fields are left out: a digest of them would outlive their erasure."""
    envelope = [
        event.type, event.schema_version, event.actor.id, event.correlation_id, event.caused_by, event.intent_id,
        event.scope.legal_entity, event.occurred_at, event.effective_date, event.dimensions, sorted(event.tags),
        event.scope.division, event.scope.region, event.scope.site, event.scope.custom_scopes, event.approved_by,
        [(one.entity_type, one.entity_id, one.role) for one in event.entities],
    ]  # fmt: skip
    if event.sent_with:
        # A key of a whole request: with more events, or fewer, it is another request.
        envelope.append(event.sent_with)
    return digest(encoded(envelope, event) + _plain_data(event, compiled))


def _plain_data(event: NewEvent, compiled: CompiledType) -> bytes:
    data = event.data
    return canonical(without(data, compiled.personal_paths) if compiled.personal_paths else data)


def key_conflict(key: EventKey, original: str, sequence: int | None = None) -> KeyConflict:
    return KeyConflict(
        f"The {key.meaning} was used for other content by event {original}: use another key, or read that event.",
        event_id=original,
        sequence=None if sequence is None else str(sequence),
    )


async def forget_expired_keys(database: Database) -> int:
    """Remove the keys of all tenants whose life is over; returns how many. For the schedule and for operators."""
    forgotten = 0
    async with database.owner() as owner:
        while removed := (await owner.execute(FORGET)).rowcount:
            forgotten += removed
    return forgotten
