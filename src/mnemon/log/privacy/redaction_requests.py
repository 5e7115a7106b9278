"""Redactions in two steps: one person asks, another approves or declines, and each step is an event."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from pydantic import BaseModel, Field

from mnemon.db.database import Connection
from mnemon.errors import Conflict, NotFound
from mnemon.ids import new_ulid
from mnemon.log.events import Actor, EntityReference, NewEvent, Scope
from mnemon.log.privacy.privacy_events import REDACTION_DECLINED, REDACTION_REQUESTED
from mnemon.log.privacy.redaction import RedactionRequest, Redactions
from mnemon.log.store import EventLog

COLUMNS = """redaction_id, event_id, fields, subject_id, reason, reference, status, requested_by, requested_at,
       decided_by, decided_at, attested_by, lenses_rebuilt, last_error"""
ADD = """
INSERT INTO mnemon.redaction_requests (tenant_id, redaction_id, event_id, fields, subject_id, reason, reference,
                                       requested_by)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""
BY_ID = f"SELECT {COLUMNS} FROM mnemon.redaction_requests WHERE tenant_id = %s AND redaction_id = %s"
PAGE = f"""
SELECT {COLUMNS} FROM mnemon.redaction_requests
 WHERE tenant_id = %(tenant)s AND (%(before)s::text IS NULL OR redaction_id < %(before)s)
 ORDER BY redaction_id DESC LIMIT %(limit)s
"""
COMPLETE = """
UPDATE mnemon.redaction_requests SET status = 'completed', lenses_rebuilt = %s, last_error = NULL
 WHERE tenant_id = %s AND redaction_id = %s AND status = 'redacted'
"""
FAILED = "UPDATE mnemon.redaction_requests SET last_error = %s WHERE tenant_id = %s AND redaction_id = %s"
DECIDE = """
UPDATE mnemon.redaction_requests
   SET status = %s, decided_by = %s, decided_at = clock_timestamp(), attested_by = %s
 WHERE tenant_id = %s AND redaction_id = %s
"""


class RequestedRedaction(BaseModel):
    """A request and what became of it."""

    redaction_id: str
    event_id: str
    fields: list[str]
    subject_id: str | None
    reason: str
    reference: str | None
    status: str = Field(description="requested, declined, redacted (lenses are being rebuilt) or completed")
    requested_by: str
    requested_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    attested_by: str | None = Field(description="The event that says what was taken out; none if nothing was left.")
    lenses_rebuilt: list[str]
    last_error: str | None = Field(description="Why the lenses are not rebuilt yet; another approval goes on.")

    @property
    def asked(self) -> RedactionRequest:
        return RedactionRequest(
            self.event_id, self.fields, self.reason, self.requested_by, self.subject_id, self.reference
        )


class RedactionRequests:
    """The requests of every tenant."""

    def __init__(self, log: EventLog, redactions: Redactions) -> None:
        self._log = log
        self._redactions = redactions

    async def request(self, tenant: UUID, asked: RedactionRequest) -> RequestedRedaction:
        """Ask for it. What could not be redacted is refused here, before anyone is asked to approve."""
        async with self._log.transaction(tenant) as transaction:
            connection = transaction.connection
            event, _ = await self._redactions.preview_in(connection, tenant, asked)
            redaction_id = new_ulid()
            facts = (list(asked.fields), asked.subject_id, asked.reason, asked.reference, asked.requested_by)
            await connection.execute(ADD, (tenant, redaction_id, asked.event_id, *facts))
            data: dict[str, Any] = {
                "redaction_id": redaction_id,
                "event_id": asked.event_id,
                "fields": sorted(asked.fields),
                "reason": asked.reason,
            }
            data |= {"subject_id": asked.subject_id} if asked.subject_id else {}
            data |= {"reference": asked.reference} if asked.reference else {}
            await transaction.append(
                [_event(REDACTION_REQUESTED.type, event.legal_entity, asked.event_id, asked.requested_by, data)]
            )
            return await _found(connection, tenant, redaction_id)

    async def approve(self, tenant: UUID, redaction_id: str, *, approved_by: str) -> RequestedRedaction:
        """Take the values out and see to all that was derived from them. What was interrupted is taken up again."""
        async with self._log.transaction(tenant) as transaction:
            one = await _found(transaction.connection, tenant, redaction_id, lock=True)
            if one.status == "declined":
                raise Conflict(
                    f"The redaction {redaction_id} was declined: request it anew.", redaction_id=redaction_id
                )
            if one.status == "requested":
                attested_by = await self._redactions.redact_in(transaction, tenant, one.asked, approved_by)
                values = ("redacted", approved_by, attested_by or None, tenant, redaction_id)
                await transaction.connection.execute(DECIDE, values)
        return one if one.status == "completed" else await self._complete(tenant, one)

    async def _complete(self, tenant: UUID, one: RequestedRedaction) -> RequestedRedaction:
        try:
            rebuilt = await self._redactions.see_to_copies(tenant, one.event_id)
        except Exception as failure:
            # The value is gone from the log all the same. What is left to do is done by the next approval.
            async with self._log.database.transaction(tenant) as connection:
                await connection.execute(FAILED, (type(failure).__name__, tenant, one.redaction_id))
            raise
        async with self._log.database.transaction(tenant) as connection:
            await connection.execute(COMPLETE, (rebuilt, tenant, one.redaction_id))
            return await _found(connection, tenant, one.redaction_id)

    async def decline(self, tenant: UUID, redaction_id: str, *, declined_by: str) -> RequestedRedaction:
        """Close a request without a redaction; who made it may take it back."""
        async with self._log.transaction(tenant) as transaction:
            connection = transaction.connection
            one = await _found(connection, tenant, redaction_id, lock=True)
            if one.status == "completed":
                raise Conflict(
                    f"The redaction {redaction_id} is done: that cannot be undone.", redaction_id=redaction_id
                )
            if one.status == "requested":
                await connection.execute(DECIDE, ("declined", declined_by, None, tenant, redaction_id))
                event = await self._redactions.find_in(connection, tenant, one.event_id)
                data = {"redaction_id": redaction_id, "event_id": one.event_id}
                await transaction.append(
                    [_event(REDACTION_DECLINED.type, event.legal_entity, one.event_id, declined_by, data)]
                )
            return await _found(connection, tenant, redaction_id)

    async def get(self, tenant: UUID, redaction_id: str) -> RequestedRedaction:
        async with self._log.database.transaction(tenant) as connection:
            return await _found(connection, tenant, redaction_id)

    async def page(self, tenant: UUID, limit: int, before: str | None = None) -> list[RequestedRedaction]:
        """Newest first."""
        async with self._log.database.transaction(tenant) as connection:
            values = {"tenant": tenant, "before": before, "limit": limit}
            cursor = connection.cursor(row_factory=class_row(RequestedRedaction))
            return await (await cursor.execute(PAGE, values)).fetchall()


async def _found(connection: Connection, tenant: UUID, redaction_id: str, *, lock: bool = False) -> RequestedRedaction:
    cursor = connection.cursor(row_factory=class_row(RequestedRedaction))
    statement = BY_ID + (" FOR UPDATE" if lock else "")
    one = await (await cursor.execute(statement, (tenant, redaction_id))).fetchone()
    if one is None:
        raise NotFound(f"There is no redaction {redaction_id}.", redaction_id=redaction_id)
    return one


def _event(kind: str, legal_entity: str, event_id: str, by: str, data: dict[str, Any]) -> NewEvent:
    return NewEvent(
        type=kind,
        data=data,
        actor=Actor("human", by),
        scope=Scope(legal_entity),
        entities=[EntityReference("event", event_id)],
    )
