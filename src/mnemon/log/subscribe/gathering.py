"""Gathering a batch: one look at all partitions of a subscription, for everyone or for one holder alone."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.events import Event
from mnemon.log.read.reader import LogReader
from mnemon.log.subscribe.cursors import Cursor, CursorLost, take
from mnemon.log.subscribe.offers import Offer, make_offer
from mnemon.log.subscribe.positions import Position
from mnemon.log.subscribe.subscriptions import Subscription


@dataclass(frozen=True, slots=True)
class Batch:
    """The next events of a subscription; `tokens`, by legal entity, go back when they are settled.

    `failures` counts how often an event failed before, by event id: such events are settled one by one.
    `held` says by legal entity who has claimed events that are therefore not in this batch.
    """

    events: Sequence[Event]
    has_more: bool
    tokens: dict[str, int]
    failures: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    claimed_until: datetime | None = None


@dataclass
class BatchRequest:
    """How many events, and for whom alone, if so. A stream remembers where it has been and which failures it saw."""

    limit: int
    holder: str | None = None
    lease: timedelta = timedelta(0)
    passed: dict[int, int] | None = None
    given: dict[str, int] = field(default_factory=dict)


class Gathering:
    """One look; use it once."""

    def __init__(
        self, database: Database, reader: LogReader, tenant: UUID, subscription: Subscription, wanted: BatchRequest
    ) -> None:
        self._database = database
        self._reader = reader
        self._tenant = tenant
        self._subscription = subscription
        self._wanted = wanted
        # A circuit that is broken lets one event through to see; with that settled it is whole again.
        self._limit = wanted.limit if subscription.status == "active" else int(subscription.may_probe)
        self._events: list[Event] = []
        self._has_more = False
        self._tokens: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        self._held: dict[str, str] = {}

    async def look(self, positions: Sequence[Position]) -> Batch:
        for position in positions if self._limit else ():
            if position.holder and position.holder != self._wanted.holder:
                self._held[position.legal_entity] = position.holder
            elif position.due:
                await self._look_at(position)
        until = datetime.now(UTC) + self._wanted.lease if self._wanted.holder and self._events else None
        return Batch(self._events, self._has_more, self._tokens, self._failures, self._held, until)

    async def _look_at(self, position: Position) -> None:
        after, room = self._after(position), self._limit - len(self._events)
        if not room:
            self._has_more |= position.head > after
            return
        cursor = position.cursor(self._tenant, self._subscription.subscription_id, position.token)
        if self._wanted.holder is None:
            self._take(position, cursor, after, await self._offer(position, cursor, after, room))
            return
        if position.head == after and not position.parked:
            return
        seconds = self._wanted.lease.total_seconds()
        claimed = await take(self._database, cursor, seconds, self._wanted.holder, resume=True)
        if claimed is None:
            self._held[position.legal_entity] = "another"
            return
        offer = await self._offer(position, claimed, claimed.sequence, room)
        await self._note(claimed, offer)
        self._take(position, claimed, claimed.sequence, offer)

    def _after(self, position: Position) -> int:
        passed = self._wanted.passed or {}
        return max(position.sequence, passed.get(position.partition_id, 0))

    async def _offer(self, position: Position, cursor: Cursor, after: int, room: int) -> Offer:
        offer = await make_offer(
            self._database, self._reader, cursor, position, self._subscription.pattern, after=after, limit=room
        )
        if self._wanted.passed is None and not offer.events and offer.searched_to > after:
            # Events of no interest, and those that wait behind another: nobody needs to look at them again. If someone
            # else has the cursor now, there is nothing to lose by looking again.
            with suppress(CursorLost):
                async with self._database.transaction(self._tenant) as connection:
                    await cursor.advance_in(connection, offer.searched_to)
        return offer

    def _take(self, position: Position, cursor: Cursor, after: int, offer: Offer) -> None:
        """Add an offer to the batch; of what failed before, a stream takes each failure once."""
        given = self._wanted.given
        self._events += [one for one in offer.events if given.get(one.id) != offer.failures.get(one.id, -1)]
        self._has_more |= offer.has_more
        self._tokens[position.legal_entity] = cursor.token or 0
        self._failures |= offer.failures
        if self._wanted.passed is not None:
            self._wanted.passed[position.partition_id] = max(after, offer.searched_to)
            given.update(offer.failures)

    async def _note(self, claimed: Cursor, offer: Offer) -> None:
        """Write down with which event the claim ends; at once if there is nothing."""
        to = offer.events[-1].sequence if offer.events and not offer.failures else None
        async with self._database.transaction(self._tenant) as connection:
            if offer.events:
                await claimed.claim_to_in(connection, to)
            else:
                await claimed.release_in(connection)
