"""Offers: what a subscriber may be given of a partition now, events that failed before first."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mnemon.db.database import Database
from mnemon.log.events import Event
from mnemon.log.read.pattern import Pattern, event_at, find_next
from mnemon.log.read.reader import LogReader
from mnemon.log.subscribe.cursors import Cursor
from mnemon.log.subscribe.parking import (
    MOST_PARKED,
    HeldEntities,
    Parked,
    entities_of,
    keep_waiting_in,
    list_parked_in,
    waiting,
)
from mnemon.log.subscribe.positions import Position


@dataclass(frozen=True, slots=True)
class Offer:
    """Events to be handled in this order. `failures` counts those of events that failed before, by event id;
    `searched_to` is how far the partition has been looked at."""

    events: Sequence[Event]
    searched_to: int
    has_more: bool
    failures: dict[str, int] = field(default_factory=dict)


async def make_offer(
    database: Database, reader: LogReader, cursor: Cursor, position: Position, pattern: Pattern,
    *, after: int, limit: int,
) -> Offer:  # fmt: skip
    """Up to `limit` events. Those that must wait behind one that failed are parked: the cursor may pass them."""
    place = position.partition_id, position.legal_entity
    async with database.transaction(cursor.tenant) as connection:
        parked = await list_parked_in(connection, cursor)
    due, held = _due(parked)
    again = [await event_at(reader, cursor.tenant, place, one.sequence) for one in due[:limit]]
    failures = {one.event_id: one.attempts for one in due[:limit]}
    if len(again) == limit or len(parked) >= MOST_PARKED:
        return Offer(again, after, len(due) > limit or (position.head > after and len(parked) < MOST_PARKED), failures)
    found = await find_next(
        reader, cursor.tenant, pattern, place, after=after, head=position.head, limit=limit - len(again)
    )
    known = {one.sequence for one in parked}
    new: list[Event] = []
    behind: list[Event] = []
    for event in found.events:
        if event.sequence not in known:
            (behind if held.hold_up(entities_of(event)) else new).append(event)
    if behind:
        async with database.transaction(cursor.tenant) as connection:
            for event in behind:
                await keep_waiting_in(connection, cursor, waiting(event))
    return Offer([*again, *new], found.searched_to, found.searched_to < position.head, failures)


def _due(parked: Sequence[Parked]) -> tuple[list[Parked], HeldEntities]:
    """Whose turn it is, in order, and the entities of all the others, which hold up what comes after."""
    due: list[Parked] = []
    held = HeldEntities()
    for one in parked:
        if one.may_be_tried and not held.hold_up(one.entities):
            due.append(one)
        else:
            held.add(one.entities)
    return due, held
