"""Parking: events that failed, and later events of the same entities that wait behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.subscribe.cursors import Cursor

ParkedState = Literal["retrying", "waiting", "dead"]
Entities = frozenset[tuple[str, str]]

# So many and the partition waits too: a subscriber that handles nothing must not fill a table with the log.
MOST_PARKED = 1000

PARK = """
INSERT INTO mnemon.parked_events (tenant_id, subscription_id, partition_id, sequence, event_id, type, entities, state,
                                  attempts, error, failed_at, due_at)
VALUES (%(tenant)s, %(subscription)s, %(partition)s, %(sequence)s, %(event)s, %(type)s, %(entities)s, %(state)s,
        %(attempts)s, %(error)s, CASE WHEN %(error)s::text IS NOT NULL THEN clock_timestamp() END,
        CASE WHEN %(state)s = 'retrying' THEN clock_timestamp() + %(pause)s ELSE 'infinity' END)
ON CONFLICT (tenant_id, subscription_id, partition_id, sequence) DO UPDATE
   SET state = excluded.state, attempts = excluded.attempts, error = excluded.error,
       failed_at = excluded.failed_at, due_at = excluded.due_at
"""
# Whatever is known of the event already stays.
KEEP_WAITING = """
INSERT INTO mnemon.parked_events (tenant_id, subscription_id, partition_id, sequence, event_id, type, entities, state)
VALUES (%(tenant)s, %(subscription)s, %(partition)s, %(sequence)s, %(event)s, %(type)s, %(entities)s, 'waiting')
ON CONFLICT DO NOTHING
"""
_COLUMNS = "sequence, event_id, type, entities, state, attempts, error, failed_at, due_at <= clock_timestamp() AS due"
ONE = f"""
SELECT {_COLUMNS} FROM mnemon.parked_events
 WHERE tenant_id = %s AND subscription_id = %s AND partition_id = %s AND sequence = %s FOR UPDATE
"""
# A dead letter is left to those who replay or discard it.
SETTLE = """
DELETE FROM mnemon.parked_events
 WHERE tenant_id = %s AND subscription_id = %s AND partition_id = %s AND sequence = %s AND state <> 'dead'
"""
# Whoever waited behind the event may be next; delivery finds out when it looks.
LOOK_AGAIN = """
UPDATE mnemon.parked_events SET due_at = '-infinity'
 WHERE tenant_id = %s AND subscription_id = %s AND partition_id = ANY(%s) AND state = 'waiting'
"""
LIST = f"""
SELECT {_COLUMNS} FROM mnemon.parked_events
 WHERE tenant_id = %s AND subscription_id = %s AND partition_id = %s
 ORDER BY sequence
"""
REMOVE = """
DELETE FROM mnemon.parked_events
 WHERE tenant_id = %s AND subscription_id = %s AND partition_id = %s AND sequence = %s
"""
# What is parked beyond a position that is gone back to comes again by itself.
REMOVE_AFTER = """
DELETE FROM mnemon.parked_events
 WHERE tenant_id = %s AND subscription_id = %s AND partition_id = %s AND sequence > %s
"""
LET_WAIT = """
UPDATE mnemon.parked_events SET due_at = 'infinity'
 WHERE tenant_id = %s AND subscription_id = %s AND partition_id = %s AND state = 'waiting' AND due_at < 'infinity'
"""


@dataclass(frozen=True, slots=True)
class Parked:
    """An event behind the cursor that is not handled yet."""

    sequence: int
    event_id: str
    type: str
    entities: Entities
    state: ParkedState
    attempts: int
    error: str | None
    failed_at: datetime | None = None
    due: bool = False

    @property
    def may_be_tried(self) -> bool:
        """Whether it is its turn, if nothing before it holds it up."""
        return self.state == "waiting" or (self.state == "retrying" and self.due)


class HeldEntities:
    """Entities with an event that is not handled yet: later events of theirs wait, and hold up what else they name."""

    def __init__(self) -> None:
        self._names: set[tuple[str, str]] = set()

    def add(self, entities: Entities) -> None:
        self._names |= entities

    def hold_up(self, entities: Entities) -> bool:
        """Whether an event about these must wait; then all of them are held."""
        waits = not entities.isdisjoint(self._names)
        if waits:
            self.add(entities)
        return waits


def entities_of(event: Event) -> Entities:
    return frozenset((one.entity_type, one.entity_id) for one in event.entities)


def waiting(event: Event) -> Parked:
    return Parked(event.sequence, event.id, event.type, entities_of(event), "waiting", 0, None)


def failed(event: Event, attempts: int, most: int, error: str) -> Parked:
    """Tried so many times: to be tried again, or dead."""
    state: ParkedState = "dead" if attempts >= most else "retrying"
    return Parked(event.sequence, event.id, event.type, entities_of(event), state, attempts, error)


async def park_in(connection: Connection, cursor: Cursor, one: Parked, pause: float) -> None:
    values = _named(cursor, one)
    failure = {"attempts": one.attempts, "error": one.error, "pause": timedelta(seconds=pause)}
    await connection.execute(PARK, values | {"state": one.state} | failure)


async def keep_waiting_in(connection: Connection, cursor: Cursor, one: Parked) -> None:
    await connection.execute(KEEP_WAITING, _named(cursor, one))


async def parked_at_in(connection: Connection, cursor: Cursor, sequence: int) -> Parked | None:
    """The event if it is parked; its row is locked."""
    row = await (await connection.execute(ONE, (*cursor.place, sequence))).fetchone()
    return _parked(row) if row else None


async def settle_in(connection: Connection, cursor: Cursor, sequence: int) -> None:
    """The event is handled, if it was parked; those behind it may be next."""
    if (await connection.execute(SETTLE, (*cursor.place, sequence))).rowcount:
        await connection.execute(LOOK_AGAIN, (cursor.tenant, cursor.subscription_id, [cursor.partition_id]))


async def list_parked_in(connection: Connection, cursor: Cursor) -> Sequence[Parked]:
    rows = await (await connection.execute(LIST, cursor.place)).fetchall()
    return [_parked(row) for row in rows]


async def unpark_in(connection: Connection, cursor: Cursor, sequence: int) -> None:
    await connection.execute(REMOVE, (*cursor.place, sequence))


async def unpark_after_in(connection: Connection, cursor: Cursor, sequence: int) -> None:
    await connection.execute(REMOVE_AFTER, (*cursor.place, sequence))


async def let_wait_in(connection: Connection, cursor: Cursor) -> None:
    """Those who still wait have been looked at: no need to look again until something before them changes."""
    await connection.execute(LET_WAIT, cursor.place)


def _parked(row: dict[str, Any]) -> Parked:
    return Parked(**row | {"entities": frozenset(map(tuple, row["entities"]))})


def _named(cursor: Cursor, one: Parked) -> dict[str, Any]:
    return {
        "tenant": cursor.tenant, "subscription": cursor.subscription_id, "partition": cursor.partition_id,
        "sequence": one.sequence,
        "event": one.event_id, "type": one.type, "entities": Jsonb(sorted(map(list, one.entities))),
    }  # fmt: skip
