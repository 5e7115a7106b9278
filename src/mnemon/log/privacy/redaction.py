"""Redaction: takes values out of payloads that were stored in plain text, where no key can be destroyed instead."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.errors import ArchiveRefused, EventNotFound
from mnemon.log.events import Actor, EntityReference, Event, NewEvent, Scope
from mnemon.log.privacy.crypto_seal import PART, REDACTED
from mnemon.log.privacy.personal import pointer, replaced, steps_of_pointer
from mnemon.log.privacy.privacy_events import PAYLOAD_REDACTED, check_reason, check_reference, check_second_person
from mnemon.log.privacy.seal import canonical
from mnemon.log.proof.chain import digest
from mnemon.log.read.reader import BY_ID
from mnemon.log.store import EventLog
from mnemon.telemetry import counter

REDACTIONS = counter("mnemon_privacy_redactions_total", "Payloads that something was taken out of.")

IN_ARCHIVE = """
SELECT object_key FROM mnemon.archives
 WHERE tenant_id = %s AND partition_id = %s AND %s BETWEEN first_sequence AND last_sequence
"""
APPLY = "SELECT mnemon.redact_payload(%s, %s, %s, %s)"


@dataclass(frozen=True, slots=True)
class RedactionRequest:
    """What someone wants taken out of which event, and why. `fields` are JSON pointers like `/data/email`."""

    event_id: str
    fields: Sequence[str]
    reason: str
    requested_by: str
    subject_id: str | None = None
    reference: str | None = None


# Called once a payload is redacted, with partition and sequence of its event; makes anew what was derived from it, and
# returns the names of the lenses it rebuilt. It may be called again for the same event.
OnRedacted = Callable[[UUID, int, int], Awaitable[Sequence[str]]]


class Redactions:
    """The one audited way to change a payload. `on_redacted` lists those who hold something derived from payloads."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.on_redacted: list[OnRedacted] = []

    async def redact(
        self,
        tenant: UUID,
        event_id: str,
        fields: Sequence[str],
        *,
        reason: str,
        requested_by: str,
        approved_by: str,
        subject_id: str | None = None,
        reference: str | None = None,
    ) -> str:
        """Replace values, named by JSON pointers like `/data/email`; returns the id of the event that attests it.

        Fields that are redacted already are passed over; if all are, the id is empty. Then everything derived from the
        payload is made anew: if that was interrupted, another call does it.
        """
        asked = RedactionRequest(event_id, tuple(fields), reason, requested_by, subject_id, reference)
        async with self._log.transaction(tenant) as transaction:
            attested_by = await self.redact_in(transaction, tenant, asked, approved_by)
        await self.see_to_copies(tenant, event_id)
        return attested_by

    async def see_to_copies(self, tenant: UUID, event_id: str) -> list[str]:
        """Have all that was derived from a redacted event made anew; returns the lenses that were rebuilt."""
        async with self._log.database.transaction(tenant) as connection:
            event = await self.find_in(connection, tenant, event_id)
        rebuilt: set[str] = set()
        for hook in self.on_redacted:
            rebuilt |= set(await hook(tenant, event.partition_id, event.sequence))
        return sorted(rebuilt)

    async def redact_in(
        self, transaction: LogTransaction, tenant: UUID, asked: RedactionRequest, approved_by: str
    ) -> str:
        """The same, as part of a transaction."""
        check_second_person(asked.requested_by, approved_by, "redaction")
        event, redacted = await self.preview_in(transaction.connection, tenant, asked)
        if redacted is None:
            return ""
        [appended] = await transaction.append([_attesting(event, redacted, asked, approved_by)])
        values = (event.partition_id, event.sequence, redacted.decode(), appended.id)
        await transaction.connection.execute(APPLY, values)
        REDACTIONS.inc()
        return appended.id

    async def preview_in(
        self, connection: Connection, tenant: UUID, asked: RedactionRequest
    ) -> tuple[Event, bytes | None]:
        """The event, and its payload with the values replaced, None if they all are already; refuses what cannot be."""
        check_reason(asked.reason)
        check_reference(asked.reference)
        event = await self._stored(connection, tenant, asked.event_id)
        if event.type == PAYLOAD_REDACTED.type:
            raise InvalidRequest(
                f"Event {asked.event_id} attests a redaction, so nothing can be taken out of it.", event_id=event.id
            )
        return event, _redacted(event, asked.fields)

    async def find_in(self, connection: Connection, tenant: UUID, event_id: str) -> Event:
        """The event as it is stored, still sealed."""
        names = await self._log.partitions.names_in(connection, tenant, None)
        values = {"tenant": tenant, "partitions": list(names), "id": event_id}
        found = await self._log.reader.fetch_in(connection, tenant, names, BY_ID, values)
        if not found:
            raise EventNotFound(f"There is no event {event_id}.", id=event_id)
        return found[0]

    async def _stored(self, connection: Connection, tenant: UUID, event_id: str) -> Event:
        event = await self.find_in(connection, tenant, event_id)
        place = (tenant, event.partition_id, event.sequence)
        kept = await (await connection.execute(IN_ARCHIVE, place)).fetchone()
        if kept is not None:
            raise ArchiveRefused(
                f"The payload of event {event_id} is in the archive, in {kept['object_key']}: bring it back with "
                "`mnemon log restore`, then redact it.",
                event_id=event_id,
            )
        return event


def _attesting(event: Event, redacted: bytes, asked: RedactionRequest, approved_by: str) -> NewEvent:
    data: dict[str, Any] = {
        "event_id": event.id,
        "sequence": str(event.sequence),
        "fields": sorted(asked.fields),
        "old_digest": digest((event.payload_text or "").encode()).hex(),
        "new_digest": digest(redacted).hex(),
        "reason": asked.reason,
    }
    data |= {"subject_id": asked.subject_id} if asked.subject_id else {}
    data |= {"reference": asked.reference} if asked.reference else {}
    return NewEvent(
        type=PAYLOAD_REDACTED.type,
        data=data,
        actor=Actor("human", asked.requested_by),
        approved_by=approved_by,
        scope=Scope(event.legal_entity),
        entities=[EntityReference("event", event.id)],
    )


def _redacted(event: Event, fields: Sequence[str]) -> bytes | None:
    payload = orjson.loads(event.payload_text or "{}")
    if not fields:
        raise InvalidRequest("Name at least one field, as a JSON pointer like /data/email.")
    changed = payload
    for field in fields:
        steps = _steps(field)
        present = _value_at(payload, steps, field, event.id)
        if present != REDACTED:
            changed = replaced(changed, steps, REDACTED)
    return None if changed is payload else canonical(changed)


def _steps(field: str) -> list[str]:
    steps = steps_of_pointer(field)
    if len(steps) < 2 or steps[0] == PART or pointer(tuple(steps)) != field:
        raise InvalidRequest(
            f"{field!r} is not a field of a payload: give a JSON pointer like /data/email.", field=field
        )
    return steps


def _value_at(payload: Any, steps: Sequence[str], field: str, event_id: str) -> Any:
    try:
        for step in steps:
            payload = payload[int(step)] if isinstance(payload, list) else payload[step]
    except (KeyError, IndexError, TypeError, ValueError):
        raise InvalidRequest(f"Event {event_id} has no field {field}.", field=field, event_id=event_id) from None
    return payload
