"""Writing: runs requests in a transaction, with the inline lenses in it and the wake-up after it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol
from uuid import UUID

import orjson
import psycopg

from mnemon.db.database import Connection, Database, autocommitting
from mnemon.errors import Conflict, DatabaseUnavailable
from mnemon.log.append.elsewhere import gives_ids, has_keys, refuse_taken_elsewhere
from mnemon.log.append.prepare import Prepared
from mnemon.log.append.refusals import Live, refuse, refuse_newcomers
from mnemon.log.append.requests import Request
from mnemon.log.append.rows import arguments, expectations_of
from mnemon.log.append.wake import Waker
from mnemon.log.errors import KEY_IS_GONE, TransactionConflict, erased
from mnemon.log.events import Appended, Event
from mnemon.log.partitions import Partitions
from mnemon.log.proof import chain
from mnemon.telemetry import counter, histogram

_CALL = f"mnemon.append_events({', '.join(['%s'] * 33)})"
_RESULT = "refusals, first_sequence, recorded_at, previous, hashes"
WRITE = f"SELECT {_RESULT} FROM {_CALL}"
# One round trip for a transaction of its own: the tenant is set in the same statement, before the call.
WRITE_ALONE = f"""
WITH tenant AS MATERIALIZED (SELECT mnemon.enter_tenant(%s) AS id)
SELECT {_RESULT} FROM tenant, LATERAL (SELECT * FROM {_CALL} WHERE tenant.id IS NOT NULL) AS written
"""

_Answer = dict[str, Any]
_Call = Callable[[tuple[Any, ...]], Awaitable[_Answer]]

APPENDED = counter("mnemon_log_appended_events_total", "Events recorded in the log.")
REFUSED = counter("mnemon_log_refused_appends_total", "Appends that the log refused.", ["code"])
GROUP_SIZE = histogram(
    "mnemon_log_group_events", "Events per append transaction.", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
)


class InlineLens(Protocol):
    """A projection that is written in the transaction of the append. `types`: those it wants, or None for all."""

    @property
    def types(self) -> frozenset[str] | None: ...

    async def apply(self, connection: Connection, events: Sequence[Event]) -> None: ...


class Writer:
    """The way of requests into the database."""

    def __init__(self, database: Database, partitions: Partitions, waker: Waker) -> None:
        self._database = database
        self._partitions = partitions
        self._waker = waker
        self.lenses: list[InlineLens] = []

    async def write_group(self, tenant: UUID, legal_entity: str, requests: list[Request]) -> None:
        """Settle the requests of several callers in as few transactions as they need, mostly one."""
        for request in requests:
            request.forget()
        try:
            partition_id = await self._partitions.number(tenant, legal_entity)
            asks_elsewhere = gives_ids(requests) or (
                has_keys(requests) and bool(await self._partitions.others(tenant, partition_id))
            )
            if asks_elsewhere or self._concerns_a_lens(requests):
                async with self._database.transaction(tenant) as connection:
                    if asks_elsewhere:
                        await refuse_taken_elsewhere(connection, tenant, partition_id, self._partitions, requests)
                    await _write(_in_transaction(connection), partition_id, requests)
                    await self._project(connection, tenant, partition_id, requests)
            else:
                await self._write_alone(tenant, partition_id, requests)
        except psycopg.Error as failure:
            raise _told(failure) from failure
        self._account(partition_id, requests)

    async def write_in(self, connection: Connection, tenant: UUID, legal_entity: str, request: Request) -> None:
        """Settle one request within a caller's transaction."""
        partition_id = await self._partitions.number_in(connection, tenant, legal_entity)
        try:
            if gives_ids([request]) or has_keys([request]):
                await refuse_taken_elsewhere(connection, tenant, partition_id, self._partitions, [request])
            await _write(_in_transaction(connection), partition_id, [request])
        except psycopg.Error as failure:
            raise _told(failure) from failure
        await self._project(connection, tenant, partition_id, [request])

    async def wake(self, tenant: UUID, requests: Sequence[Request]) -> None:
        """Tell readers about what a transaction of several appends has committed."""
        grown: dict[str, int] = {}
        for request in requests:
            for prepared, appended in request.written:
                grown[prepared.event.scope.legal_entity] = appended.sequence
        for legal_entity, sequence in grown.items():
            self._waker.wake(await self._partitions.number(tenant, legal_entity), sequence)

    async def _write_alone(self, tenant: UUID, partition_id: int, requests: Sequence[Request]) -> None:
        async with self._database.session() as connection, autocommitting(connection):
            await _write(_in_own_transaction(connection, tenant), partition_id, requests)

    def _concerns_a_lens(self, requests: Sequence[Request]) -> bool:
        return any(
            lens.types is None or any(one.event.type in lens.types for request in requests for one in request.events)
            for lens in self.lenses
        )

    async def _project(
        self, connection: Connection, tenant: UUID, partition_id: int, requests: Sequence[Request]
    ) -> None:
        if not self.lenses:
            return
        events = [_recorded(tenant, partition_id, *pair) for request in requests for pair in request.written]
        for lens in self.lenses:
            concerned = [event for event in events if lens.types is None or event.type in lens.types]
            if concerned:
                await lens.apply(connection, concerned)

    def _account(self, partition_id: int, requests: Sequence[Request]) -> None:
        written = [appended.sequence for request in requests for _, appended in request.written]
        APPENDED.inc(len(written))
        GROUP_SIZE.observe(len(written))
        if written:
            self._waker.wake(partition_id, max(written))
        for request in requests:
            if request.failure is not None:
                REFUSED.labels(request.failure.code).inc()


def _in_transaction(connection: Connection) -> _Call:
    """Writes within the connection's current transaction."""

    async def call(values: tuple[Any, ...]) -> _Answer:
        return await _fetch(connection, WRITE, values)

    return call


def _in_own_transaction(connection: Connection, tenant: UUID) -> _Call:
    """Writes and commits in one round trip, on a connection in autocommit mode."""

    async def call(values: tuple[Any, ...]) -> _Answer:
        return await _fetch(connection, WRITE_ALONE, (str(tenant), *values))

    return call


async def _fetch(connection: Connection, statement: str, values: tuple[Any, ...]) -> _Answer:
    cursor = await connection.execute(statement, values, binary=True)
    answer = await cursor.fetchone()
    assert answer is not None
    return answer


async def _write(call: _Call, partition_id: int, requests: Sequence[Request]) -> None:
    """Settle every request: written, found to be there already, or refused with the reason."""
    while waiting := [request for request in requests if not request.settled]:
        ready = _without_shared_keys(waiting)
        live: list[Live] = [
            (request, place)
            for request in ready
            for place in range(len(request.events))
            if place not in request.results
        ]
        events = [request.events[place] for request, place in live]
        expectations = expectations_of(events)
        answer = await call(arguments(partition_id, events, expectations))
        if answer["refusals"] is None:
            admitted = {one.subject_id for event in events for one in event.newcomers}
            _settle(live, answer)
            refuse_newcomers([request for request in waiting if not request.settled], admitted)
        else:
            refuse(answer["refusals"], ready, live, expectations)


def _without_shared_keys(requests: Sequence[Request]) -> list[Request]:
    """Leave for the next call who shares a key, or a newcomer, with an earlier caller: by then it is known what the
    key stands for, and the newcomer has theirs."""
    taken: set[bytes | str] = set()
    ready = []
    for request in requests:
        keys = request.newcomers | {key.digest for prepared in request.events for key in prepared.keys}
        if keys.isdisjoint(taken):
            ready.append(request)
        taken |= keys
    return ready


def _settle(live: Sequence[Live], answer: _Answer) -> None:
    previous, recorded_at = answer["previous"], answer["recorded_at"]
    sequence = answer["first_sequence"]
    for (request, place), own in zip(live, chain.split(answer["hashes"]), strict=True):
        prepared = request.events[place]
        appended = Appended(prepared.id, sequence, recorded_at, previous, own)
        request.results[place] = appended
        request.written.append((prepared, appended))
        previous = own
        sequence += 1


def _recorded(tenant: UUID, partition_id: int, prepared: Prepared, appended: Appended) -> Event:
    """The event as a reader would get it, without reading it."""
    event = Event(
        tenant_id=tenant,
        legal_entity=prepared.event.scope.legal_entity,
        partition_id=partition_id,
        sequence=appended.sequence,
        recorded_at=appended.recorded_at,
        previous_hash=appended.previous_hash,
        hash=appended.hash,
        payload_digest=prepared.digests[chain.DIGEST_LENGTH :],
        envelope_text=prepared.envelope.decode(),
        payload_text=prepared.payload.decode(),
    )
    # What lenses ask of an envelope, so that it need not be decoded.
    told = prepared.event
    event.__dict__.update(type=told.type, actor_id=told.actor.id, payload=dict(prepared.plain_payload))
    return event


def _told(failure: psycopg.Error) -> Exception:
    """What a database error means to a caller. Only the last kind leaves open whether the events were recorded."""
    if failure.sqlstate == KEY_IS_GONE:
        return erased(orjson.loads(failure.diag.message_detail or "[]"))
    if isinstance(failure, psycopg.errors.UniqueViolation):
        detail = failure.diag.message_detail or str(failure)
        return Conflict(f"An event with this id is already in the log: leave the id out, or use a new one. {detail}")
    if (failure.sqlstate or "").startswith("40"):
        return TransactionConflict(f"The append was undone, as another transaction was in its way: retry it. {failure}")
    if isinstance(failure, psycopg.OperationalError):
        return DatabaseUnavailable(
            "The database went away during an append, which may or may not have been recorded: "
            "repeat it with the same idempotency key."
        )
    return failure
