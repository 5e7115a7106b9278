"""Erasure: one person asks, another approves, the key is destroyed, and what was derived from it is made anew."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import class_row
from pydantic import BaseModel, Field

from mnemon.db.database import Connection
from mnemon.errors import Conflict, NotFound
from mnemon.ids import new_ulid
from mnemon.log.append.transaction import retry_on_conflict
from mnemon.log.errors import TransactionConflict
from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.privacy import privacy_events as events
from mnemon.log.privacy.affected import AffectedEvent, affected_events, page_of_people
from mnemon.log.privacy.erasure_list import ErasureList, ListedErasure
from mnemon.log.privacy.privacy_events import check_reason, check_reference, check_second_person
from mnemon.log.privacy.subjects import SubjectKeys
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import EventType
from mnemon.telemetry import counter, logger

ERASED = counter("mnemon_privacy_erasures_total", "People who were erased.")

COLUMNS = """erasure_id, subject_id, reason, reference, status, requested_by, requested_at, decided_by, decided_at,
       key_destroyed_at, events_affected, lenses_rebuilt, completed_at, last_error"""
ADD = """
INSERT INTO mnemon.erasures (tenant_id, erasure_id, subject_id, reason, reference, requested_by)
VALUES (%s, %s, %s, %s, %s, %s)
"""
BY_ID = f"SELECT {COLUMNS} FROM mnemon.erasures WHERE tenant_id = %s AND erasure_id = %s"
LAST_OF = f"""
SELECT {COLUMNS} FROM mnemon.erasures
 WHERE tenant_id = %s AND subject_id = %s AND status <> 'declined' ORDER BY requested_at DESC LIMIT 1
"""
PAGE = f"""
SELECT {COLUMNS} FROM mnemon.erasures
 WHERE tenant_id = %(tenant)s AND (%(before)s::text IS NULL OR erasure_id < %(before)s)
 ORDER BY erasure_id DESC LIMIT %(limit)s
"""
# Two requests for one person take turns, so that the second finds the first.
ONE_REQUEST = "SELECT pg_advisory_xact_lock(hashtextextended('erasure of ' || %s || %s, 0))"
# Lines of the erasure list are written in turn, for stores that would let one overwrite another's.
ONE_WRITES = "SELECT pg_advisory_xact_lock(hashtextextended('mnemon erasure lines', 0))"
DESTROY = "SELECT mnemon.destroy_subject_key(%s, %s)"
DECLINE = """
UPDATE mnemon.erasures SET status = 'declined', decided_by = %s, decided_at = clock_timestamp()
 WHERE tenant_id = %s AND erasure_id = %s
"""
COMPLETE = """
UPDATE mnemon.erasures
   SET status = 'completed', lenses_rebuilt = %s, completed_at = clock_timestamp(), last_error = NULL
 WHERE tenant_id = %s AND erasure_id = %s
"""
DESTROYED = """
SELECT max(generation) AS generation, max(destroyed_at) AS at FROM mnemon.subject_keys
 WHERE tenant_id = %s AND subject_id = %s AND destroyed_at IS NOT NULL
"""
# How the names of schedules begin, which are nobody.
SCHEDULES = "mnemon:"
FAILED = "UPDATE mnemon.erasures SET last_error = %s WHERE tenant_id = %s AND erasure_id = %s"

log = logger(__name__)

# Called once the keys of some people are gone, with every event that was sealed with them; makes anew what was derived
# from those, and returns the names of the lenses it rebuilt. It may be called again for the same people.
OnErased = Callable[[UUID, Sequence[str], Sequence[AffectedEvent]], Awaitable[Sequence[str]]]
# The other ids that a person acts under, which go with them; None for who has no account. In a tenant's transaction.
AlsoKnownAs = Callable[[Connection, str], Awaitable[Sequence[str] | None]]


async def _no_account(connection: Connection, subject_id: str) -> Sequence[str] | None:
    return None


class Erasure(BaseModel):
    """An entry of the deletion log."""

    erasure_id: str
    subject_id: str
    reason: str
    reference: str | None
    status: str = Field(description="requested, declined, key_destroyed or completed")
    requested_by: str
    requested_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    key_destroyed_at: datetime | None
    events_affected: int | None
    lenses_rebuilt: list[str]
    completed_at: datetime | None
    last_error: str | None


class Erasures:
    """Forgets people. `on_erased` is the list of those who hold something derived from personal fields."""

    def __init__(self, log: EventLog, keys: SubjectKeys, listed: ErasureList | None = None) -> None:
        self._log = log
        self._keys = keys
        self._listed = listed
        self.on_erased: list[OnErased] = []
        self.also_known_as: AlsoKnownAs = _no_account

    async def request(
        self,
        tenant: UUID,
        subject_id: str,
        *,
        reason: str,
        requested_by: str,
        reference: str | None = None,
        takes_open: bool = False,
    ) -> Erasure:
        """Ask for it. A request that is open and says the same, or an erasure that is through, is returned instead of a
        second one; an open one that says another reason or reference is not written over, unless `takes_open` takes it
        as it is."""
        check_reason(reason)
        check_reference(reference)
        async with self._log.transaction(tenant) as transaction:
            connection = transaction.connection
            await connection.execute(ONE_REQUEST, (str(tenant), subject_id))
            people = await page_of_people(connection, tenant, 1, only=subject_id)
            if not people and await self.also_known_as(connection, subject_id) is None:
                raise NotFound(f"The log holds no personal data of {subject_id}.", subject_id=subject_id)
            last = await _one(connection, LAST_OF, tenant, subject_id)
            gone = people and people[0].erased_at is not None
            is_other = last is not None and (last.reason, last.reference) != (reason, reference)
            is_taken = takes_open or requested_by.startswith(SCHEDULES)
            if last is not None and last.status == "requested" and is_other and not is_taken:
                told = f"{last.reason}{f', {last.reference}' if last.reference else ''}"
                raise Conflict(
                    f"The erasure of {subject_id} is asked for already, with the reason {told}: "
                    f"approve {last.erasure_id}, or decline it and ask again.",
                    erasure_id=last.erasure_id,
                )
            if last is not None and (gone or last.status == "requested"):
                return last
            erasure_id = new_ulid()
            await connection.execute(ADD, (tenant, erasure_id, subject_id, reason, reference, requested_by))
            details = {"reason": reason} | ({"reference": reference} if reference else {})
            await transaction.append(
                [_event(events.ERASURE_REQUESTED, erasure_id, subject_id, requested_by, **details)]
            )
            return await self._found(connection, tenant, erasure_id)

    async def approve(self, tenant: UUID, erasure_id: str, *, approved_by: str) -> Erasure:
        """Destroy the key and see to all that was derived from it. What was interrupted is taken up again.

        The keys of other ids that the person acts under go with it, each with an entry of its own.
        """
        erasure = await retry_on_conflict(lambda: self._destroy(tenant, erasure_id, approved_by))
        if erasure.status != "key_destroyed":
            return erasure
        asked = await self._ask_for_others(tenant, erasure, approved_by)
        others = [await retry_on_conflict(partial(self._destroy, tenant, one, approved_by)) for one in asked]
        erased = [*(one for one in others if one.status == "key_destroyed"), erasure]
        self._keys.forget(tenant, [one.subject_id for one in erased])
        return await self._complete(tenant, erased)

    async def decline(self, tenant: UUID, erasure_id: str, *, declined_by: str) -> Erasure:
        """Close a request without an erasure; who made it may take it back."""
        async with self._log.transaction(tenant) as transaction:
            erasure = await self._found(transaction.connection, tenant, erasure_id, lock=True)
            if erasure.status == "requested":
                await transaction.connection.execute(DECLINE, (declined_by, tenant, erasure_id))
                await transaction.append([_event(events.ERASURE_DECLINED, erasure_id, erasure.subject_id, declined_by)])
            elif erasure.status != "declined":
                raise Conflict(f"{erasure.subject_id} is erased already: that cannot be undone.", erasure_id=erasure_id)
            return await self._found(transaction.connection, tenant, erasure_id)

    async def get(self, tenant: UUID, erasure_id: str) -> Erasure:
        async with self._log.database.transaction(tenant) as connection:
            return await self._found(connection, tenant, erasure_id)

    async def page(self, tenant: UUID, limit: int, before: str | None = None) -> list[Erasure]:
        """Newest first."""
        async with self._log.database.transaction(tenant) as connection:
            values = {"tenant": tenant, "before": before, "limit": limit}
            return await (await connection.cursor(row_factory=class_row(Erasure)).execute(PAGE, values)).fetchall()

    async def readmit(self, tenant: UUID, subject_id: str, *, reason: str, by: str) -> int:
        """Let an erased person be recorded again, under a key of a new generation."""
        check_reason(reason)
        async with self._log.transaction(tenant) as transaction:
            generation = await self._keys.readmit(tenant, subject_id, transaction.connection)
            data = {"subject_id": subject_id, "generation": generation, "reason": reason}
            await transaction.append([_about(events.SUBJECT_READMITTED, subject_id, by, data)])
        return generation

    async def _ask_for_others(self, tenant: UUID, erasure: Erasure, approved_by: str) -> list[str]:
        """Not where only a term ended: that of each key is looked at by itself.

        The person's own key is gone by now: no open request for one of the others may be in the way.
        """
        if erasure.requested_by.startswith(SCHEDULES):
            return []
        async with self._log.database.transaction(tenant) as connection:
            others = await self.also_known_as(connection, erasure.subject_id) or ()
        asked = []
        for one in others:
            ask = partial(
                self.request, tenant, one, reason=erasure.reason, reference=erasure.reference,
                requested_by=erasure.requested_by, takes_open=True,
            )  # fmt: skip
            with suppress(NotFound):
                made = await ask()
                if made.status == "requested" and made.requested_by == approved_by != erasure.requested_by:
                    # Who asked for that one cannot approve it, but does approve this one.
                    await self.decline(tenant, made.erasure_id, declined_by=approved_by)
                    made = await ask()
                asked.append(made.erasure_id)
        return asked

    async def _destroy(self, tenant: UUID, erasure_id: str, approved_by: str) -> Erasure:
        async with self._log.transaction(tenant) as transaction:
            connection = transaction.connection
            erasure = await self._found(connection, tenant, erasure_id, lock=True)
            if erasure.status == "declined":
                raise Conflict(f"The erasure {erasure_id} was declined: request it anew.", erasure_id=erasure_id)
            if erasure.status != "requested":
                return erasure
            check_second_person(erasure.requested_by, approved_by, "erasure")
            # The event first: appends lock the partition's head, then the key. In the other order we could wait for
            # an append that waits for us.
            event = _event(
                events.SUBJECT_ERASED,
                erasure_id,
                erasure.subject_id,
                erasure.requested_by,
                approved_by=approved_by,
                reason=erasure.reason,
            )
            await transaction.append([event])
            try:
                await connection.execute(DESTROY, (erasure_id, approved_by))
            except psycopg.errors.DeadlockDetected as failure:
                # Someone who appended about this person to another partition goes on to append to this one.
                raise TransactionConflict("The erasure was undone, as an append was in its way: retry it.") from failure
            await self.put_on_list(connection, tenant, erasure.subject_id)
            ERASED.inc()
            return await self._found(connection, tenant, erasure_id)

    async def put_on_list(self, connection: Connection, tenant: UUID, subject_id: str) -> None:
        """The last thing before the commit: from now on no copy of the database brings the key back.

        If this process dies in between, the next start finds the line and does what was approved.
        """
        if self._listed is not None:
            row = await (await connection.execute(DESTROYED, (tenant, subject_id))).fetchone()
            if row is not None and row["generation"] is not None:
                line = ListedErasure(tenant, subject_id, row["generation"], row["at"])
                await connection.execute(ONE_WRITES)
                await asyncio.to_thread(self._listed.add, [line])

    async def _complete(self, tenant: UUID, erasures: Sequence[Erasure]) -> Erasure:
        """All of one person's, the one that was asked for last."""
        async with self._log.database.transaction(tenant) as connection:
            affected = {one.erasure_id: await affected_events(connection, tenant, one.subject_id) for one in erasures}
        every = [event for events in affected.values() for event in events]
        rebuilt: set[str] = set()
        for hook in self.on_erased:
            try:
                rebuilt |= set(await hook(tenant, [one.subject_id for one in erasures], every))
            except Exception as failure:
                # The key is gone all the same. What is left to do is written down, and done by the next approval.
                for one in erasures:
                    await self._note(tenant, one.erasure_id, f"{type(failure).__name__}: {failure}"[:500])
                    log.error("privacy.erasure_incomplete", erasure_id=one.erasure_id, error=type(failure).__name__)
                raise
        done = [await self._complete_one(tenant, one, len(affected[one.erasure_id]), rebuilt) for one in erasures]
        return done[-1]

    async def _complete_one(self, tenant: UUID, erasure: Erasure, affected: int, rebuilt: Collection[str]) -> Erasure:
        async with self._log.transaction(tenant) as transaction:
            current = await self._found(transaction.connection, tenant, erasure.erasure_id, lock=True)
            if current.status == "completed":
                return current
            await transaction.connection.execute(COMPLETE, (sorted(rebuilt), tenant, erasure.erasure_id))
            await transaction.append(
                [
                    _event(
                        events.ERASURE_COMPLETED,
                        erasure.erasure_id,
                        erasure.subject_id,
                        erasure.requested_by,
                        events_affected=affected,
                        lenses_rebuilt=sorted(rebuilt),
                    )
                ]
            )
            return await self._found(transaction.connection, tenant, erasure.erasure_id)

    async def _note(self, tenant: UUID, erasure_id: str, error: str) -> None:
        async with self._log.database.transaction(tenant) as connection:
            await connection.execute(FAILED, (error, tenant, erasure_id))

    async def _found(self, connection: Connection, tenant: UUID, erasure_id: str, *, lock: bool = False) -> Erasure:
        erasure = await _one(connection, BY_ID + (" FOR UPDATE" if lock else ""), tenant, erasure_id)
        if erasure is None:
            raise NotFound(f"There is no erasure {erasure_id}.", erasure_id=erasure_id)
        return erasure


async def _one(connection: Connection, statement: str, *values: Any) -> Erasure | None:
    return await (await connection.cursor(row_factory=class_row(Erasure)).execute(statement, values)).fetchone()


def _event(
    kind: EventType, erasure_id: str, subject_id: str, by: str, approved_by: str | None = None, **details: Any
) -> NewEvent:
    return _about(kind, subject_id, by, {"erasure_id": erasure_id, "subject_id": subject_id, **details}, approved_by)


def _about(kind: EventType, subject_id: str, by: str, data: Any, approved_by: str | None = None) -> NewEvent:
    return NewEvent(
        type=kind.type,
        data=data,
        # The schedule that enforces terms is nobody.
        actor=Actor("system" if by.startswith(SCHEDULES) else "human", by),
        approved_by=approved_by,
        entities=[EntityReference("person", subject_id)],
    )
