"""Offers: what a subscriber may be given of a partition now, events that failed before first."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.events import Event
from mnemon.log.read.pattern import ALL_EVENTS, find_next
from mnemon.log.read.reader import LogReader
from mnemon.log.subscribe.parking import MOST_PARKED, Parked, entities_of, keep_waiting_in, parked_in, waiting
from mnemon.log.subscribe.subscriptions import Position, Subscription


@dataclass(frozen=True, slots=True)
class Offer:
    """Events to be handled in this order. `failures` counts those of events that failed before, by event id;
    `searched_to` is how far the partition has been looked at."""

    events: Sequence[Event]
    searched_to: int
    has_more: bool
    failures: dict[str, int] = field(default_factory=dict)


async def make_offer(
    database: Database, reader: LogReader, tenant: UUID, subscription: Subscription, position: Position,
    *, after: int, limit: int,
) -> Offer:  # fmt: skip
    """Up to `limit` events. Those that must wait behind one that failed are parked: the cursor may pass them."""
    place = position.partition_id, position.legal_entity
    async with database.transaction(tenant) as connection:
        parked = await parked_in(connection, tenant, subscription.subscription_id, position.partition_id)
    due, held = _due(parked)
    again = [
        event
        for one in due[:limit]
        for event in (
            await find_next(reader, tenant, ALL_EVENTS, place, after=one.sequence - 1, head=one.sequence, limit=1)
        ).events
    ]
    failures = {one.event_id: one.attempts for one in due[:limit]}
    if len(again) == limit or len(parked) >= MOST_PARKED:
        return Offer(again, after, len(due) > limit or (position.head > after and len(parked) < MOST_PARKED), failures)
    found = await find_next(
        reader, tenant, subscription.pattern, place, after=after, head=position.head, limit=limit - len(again)
    )
    known = {one.sequence for one in parked}
    new, behind = _split([event for event in found.events if event.sequence not in known], held)
    if behind:
        async with database.transaction(tenant) as connection:
            for event in behind:
                one = waiting(event)
                await keep_waiting_in(connection, tenant, subscription.subscription_id, position.partition_id, one)
    return Offer([*again, *new], found.searched_to, found.searched_to < position.head, failures)


def _due(parked: Sequence[Parked]) -> tuple[list[Parked], set[tuple[str, str]]]:
    """Whose turn it is, in order, and the entities of all the others, which hold up what comes after."""
    due: list[Parked] = []
    held: set[tuple[str, str]] = set()
    for one in parked:
        turn = one.state == "waiting" or (one.state == "retrying" and one.due)
        if turn and one.entities.isdisjoint(held):
            due.append(one)
        else:
            held |= one.entities
    return due, held


def _split(events: Sequence[Event], held: set[tuple[str, str]]) -> tuple[list[Event], list[Event]]:
    free: list[Event] = []
    behind: list[Event] = []
    for event in events:
        entities = entities_of(event)
        if entities.isdisjoint(held):
            free.append(event)
        else:
            held |= entities
            behind.append(event)
    return free, behind
