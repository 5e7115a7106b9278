"""Appending: hands the requests of one partition to the database and turns its answer into a result for each."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import MnemonError
from mnemon.log.append.prepare import EventKey, Prepared
from mnemon.log.append.rows import Expectation, arguments, expectations_of
from mnemon.log.errors import KeyConflict, NotNew, PeriodClosed, VersionConflict
from mnemon.log.events import Appended, Event
from mnemon.log.proof import chain

_CALL = f"mnemon.append_events({', '.join(['%s'] * 33)})"
_RESULT = "refusals, first_sequence, recorded_at, previous, hashes"
WRITE = f"SELECT {_RESULT} FROM {_CALL}"
# One round trip for a transaction of its own: the tenant is set in the same statement, before the call.
WRITE_ALONE = f"""
WITH tenant AS MATERIALIZED (SELECT set_config('mnemon.tenant', %s, true) AS id)
SELECT {_RESULT} FROM tenant, LATERAL (SELECT * FROM {_CALL} WHERE tenant.id IS NOT NULL) AS written
"""

Answer = dict[str, Any]
Call = Callable[[tuple[Any, ...]], Awaitable[Answer]]


@dataclass
class Request:
    """The events of one caller, appended together or not at all, and what became of them."""

    events: Sequence[Prepared]
    results: dict[int, Appended] = field(default_factory=dict)
    failure: MnemonError | None = None
    written: list[tuple[Prepared, Appended]] = field(default_factory=list)

    @property
    def newcomers(self) -> set[str]:
        """Who gets a first key by what is still to be written."""
        return {one.subject_id for place, event in enumerate(self.events) if event.newcomers
                and place not in self.results for one in event.newcomers}  # fmt: skip

    def forget(self) -> None:
        """What was settled in a transaction that did not commit is open again."""
        self.results.clear()
        self.written.clear()
        self.failure = None

    @property
    def settled(self) -> bool:
        return self.failure is not None or len(self.results) == len(self.events)

    @property
    def appended(self) -> list[Appended]:
        if self.failure is not None:
            raise self.failure
        return [self.results[place] for place in range(len(self.events))]


# An event of a call that is not yet known to be a duplicate: whose it is, and where its result belongs.
Live = tuple[Request, int]


def in_transaction(connection: Connection) -> Call:
    """Writes within the connection's current transaction."""

    async def call(values: tuple[Any, ...]) -> Answer:
        return await _fetch(connection, WRITE, values)

    return call


def in_own_transaction(connection: Connection, tenant: UUID) -> Call:
    """Writes and commits in one round trip, on a connection in autocommit mode."""

    async def call(values: tuple[Any, ...]) -> Answer:
        return await _fetch(connection, WRITE_ALONE, (str(tenant), *values))

    return call


async def _fetch(connection: Connection, statement: str, values: tuple[Any, ...]) -> Answer:
    cursor = await connection.execute(statement, values, binary=True)
    answer = await cursor.fetchone()
    assert answer is not None
    return answer


async def write(call: Call, partition_id: int, requests: Sequence[Request]) -> None:
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
            _refuse_newcomers([request for request in waiting if not request.settled], admitted)
        else:
            _refuse(answer["refusals"], ready, live, expectations)


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


def _settle(live: Sequence[Live], answer: Answer) -> None:
    previous, recorded_at = answer["previous"], answer["recorded_at"]
    sequence = answer["first_sequence"]
    for (request, place), own in zip(live, chain.split(answer["hashes"]), strict=True):
        prepared = request.events[place]
        appended = Appended(prepared.id, sequence, recorded_at, previous, own)
        request.results[place] = appended
        request.written.append((prepared, appended))
        previous = own
        sequence += 1


def recorded(tenant: UUID, partition_id: int, prepared: Prepared, appended: Appended) -> Event:
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
    event.__dict__["payload"] = dict(prepared.plain_payload)
    return event


def _refuse(
    refusals: dict[str, Any], requests: Sequence[Request], live: Sequence[Live], expectations: Sequence[Expectation]
) -> None:
    """Settle what the refusals settle. Keys come first: a retry of what succeeded must not fail for its version."""
    if "newcomers" in refusals:
        _refuse_newcomers(requests, set(refusals["newcomers"]))
    elif "keys" in refusals:
        _refuse_keys(refusals["keys"], live)
    elif "periods" in refusals:
        hard_last = sorted(refusals["periods"], key=lambda one: str(one["status"]), reverse=True)
        _refuse_dates({date.fromisoformat(one["date"]): one for one in hard_last}, live)
    else:
        stored = dict(zip([one.entity for one in expectations], refusals["versions"], strict=True))
        _refuse_versions(stored, requests)


def _refuse_newcomers(requests: Iterable[Request], known: set[str]) -> None:
    for request in requests:
        if names := request.newcomers & known:
            request.failure = NotNew(
                f"{', '.join(sorted(names))} got a key from another append at the same time: retry it.",
                subjects=sorted(names),
            )


def _refuse_keys(taken: dict[str, dict[str, Any]], live: Sequence[Live]) -> None:
    holders = [(request, place, key) for request, place in live for key in request.events[place].keys]
    for number, original in taken.items():
        request, place, key = holders[int(number) - 1]
        if original["content"] == key.content.hex():
            request.results[place] = Appended(
                original["id"],
                original["sequence"],
                datetime.fromisoformat(original["recorded_at"]),
                bytes.fromhex(original["previous"]),
                bytes.fromhex(original["hash"]),
                duplicate=True,
            )
        else:
            request.failure = key_conflict(key, original["id"], original["sequence"])


def key_conflict(key: EventKey, original: str, sequence: int | None = None) -> KeyConflict:
    return KeyConflict(
        f"The {key.meaning} was used for other content by event {original}: use another key, or read that event.",
        event_id=original,
        sequence=None if sequence is None else str(sequence),
    )


def _refuse_dates(closed: dict[date, dict[str, Any]], live: Sequence[Live]) -> None:
    for request, place in live:
        prepared = request.events[place]
        day = prepared.effective_date
        period = closed.get(day)
        if (
            period is None
            or not prepared.bound_to_periods
            or (period["status"] == "soft_closed" and prepared.event.approved_by)
        ):
            continue
        remedy = (
            "name an approver other than the actor"
            if period["status"] == "soft_closed"
            else "record an adjusting event in an open period"
        )
        request.failure = PeriodClosed(
            f"The effective date {day} lies in the period {period['name']}, which is "
            f"{period['status'].replace('_', '-')}: {remedy}.",
            period=period["name"],
            status=period["status"],
            effective_date=day.isoformat(),
        )


def _refuse_versions(stored: dict[tuple[str, str], int], requests: Sequence[Request]) -> None:
    """Walk the requests in order as the database would, each building on those before it that pass."""
    added: Counter[tuple[str, str]] = Counter()
    for request in requests:
        adding = added.copy()
        for place, prepared in enumerate(request.events):
            if place in request.results:
                continue
            for entity, expected in prepared.event.expected_versions.items():
                actual = stored[entity] + adding[entity]
                if actual != expected and request.failure is None:
                    request.failure = version_conflict(entity, expected, actual)
            adding.update(entity for entity in prepared.entities if entity in stored)
        if request.failure is None:
            added = adding


def version_conflict(entity: tuple[str, str], expected: int, actual: int) -> VersionConflict:
    kind, name = entity
    return VersionConflict(
        f"{kind} {name} was expected at version {expected} but is at {actual}: read it again and retry.",
        entity_type=kind,
        entity_id=name,
        expected=expected,
        actual=actual,
    )
