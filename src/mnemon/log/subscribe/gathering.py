"""Gathering a batch: one look at all partitions of a subscription, for everyone or for one holder alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.events import Event
from mnemon.log.read.reader import LogReader
from mnemon.log.subscribe.offers import Offer, make_offer
from mnemon.log.subscribe.subscriptions import Position, Subscription

# A cursor that someone else has moved meanwhile is left alone: there is nothing to lose by looking again.
SKIP = """
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence)
VALUES (%(tenant)s, %(subscription)s, %(partition)s, %(to)s)
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = excluded.sequence, advanced_at = now()
 WHERE c.sequence = %(from)s AND c.token = %(token)s
"""
# Who holds the partition already goes on with the token it has.
CLAIM = """
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, token, holder, held_until)
VALUES (%(tenant)s, %(subscription)s, %(partition)s, 1, %(holder)s, clock_timestamp() + %(lease)s)
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET token = c.token + CASE WHEN c.holder = excluded.holder AND c.held_until > clock_timestamp() THEN 0 ELSE 1 END,
       holder = excluded.holder, held_until = excluded.held_until, claimed_to = NULL
 WHERE c.held_until <= clock_timestamp() OR c.holder = excluded.holder
RETURNING sequence, token
"""
CLAIMED = """
UPDATE mnemon.subscription_cursors
   SET claimed_to = %(to)s,
       holder = CASE WHEN %(empty)s THEN NULL ELSE holder END,
       held_until = CASE WHEN %(empty)s THEN '-infinity' ELSE held_until END
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s
   AND token = %(token)s
"""


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
        self, database: Database, reader: LogReader, tenant: UUID, subscription: Subscription, wish: BatchRequest
    ) -> None:
        self._database = database
        self._reader = reader
        self._tenant = tenant
        self._subscription = subscription
        self._wish = wish
        # A circuit that is broken lets one event through to see; with that settled it is whole again.
        self._limit = wish.limit if subscription.status == "active" else int(subscription.may_probe)
        self._events: list[Event] = []
        self._has_more = False
        self._tokens: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        self._held: dict[str, str] = {}

    async def look(self, positions: Sequence[Position]) -> Batch:
        for position in positions if self._limit else ():
            if position.holder and position.holder != self._wish.holder:
                self._held[position.legal_entity] = position.holder
            elif position.due:
                await self._look_at(position)
        until = datetime.now(UTC) + self._wish.lease if self._wish.holder and self._events else None
        return Batch(self._events, self._has_more, self._tokens, self._failures, self._held, until)

    async def _look_at(self, position: Position) -> None:
        after, room = self._after(position), self._limit - len(self._events)
        if not room:
            self._has_more |= position.head > after
            return
        if self._wish.holder is None:
            self._take(position, after, await self._offer(position, after, room))
            return
        if position.head == after and not position.parked:
            return
        claimed = await self._claim(position)
        if claimed is None:
            self._held[position.legal_entity] = "another"
            return
        offer = await self._offer(claimed, claimed.sequence, room)
        await self._note(claimed, offer)
        self._take(claimed, claimed.sequence, offer)

    def _after(self, position: Position) -> int:
        passed = self._wish.passed or {}
        return max(position.sequence, passed.get(position.partition_id, 0))

    async def _offer(self, position: Position, after: int, room: int) -> Offer:
        offer = await make_offer(
            self._database, self._reader, self._tenant, self._subscription, position, after=after, limit=room
        )
        if self._wish.passed is None and not offer.events and offer.searched_to > after:
            # Events of no interest, and those that wait behind another: nobody needs to look at them again.
            values = self._values(position) | {"from": position.sequence, "to": offer.searched_to}
            async with self._database.transaction(self._tenant) as connection:
                await connection.execute(SKIP, values)
        return offer

    def _take(self, position: Position, after: int, offer: Offer) -> None:
        """Add an offer to the batch; of what failed before, a stream takes each failure once."""
        given = self._wish.given
        self._events += [one for one in offer.events if given.get(one.id) != offer.failures.get(one.id, -1)]
        self._has_more |= offer.has_more
        self._tokens[position.legal_entity] = position.token
        self._failures |= offer.failures
        if self._wish.passed is not None:
            self._wish.passed[position.partition_id] = max(after, offer.searched_to)
            given.update(offer.failures)

    async def _claim(self, position: Position) -> Position | None:
        values = self._values(position) | {"holder": self._wish.holder, "lease": self._wish.lease}
        async with self._database.transaction(self._tenant) as connection:
            row = await (await connection.execute(CLAIM, values)).fetchone()
        return replace(position, sequence=row["sequence"], token=row["token"]) if row else None

    async def _note(self, claimed: Position, offer: Offer) -> None:
        """Write down with which event the claim ends; at once if there is nothing."""
        to = offer.events[-1].sequence if offer.events and not offer.failures else None
        async with self._database.transaction(self._tenant) as connection:
            await connection.execute(CLAIMED, self._values(claimed) | {"to": to, "empty": not offer.events})

    def _values(self, position: Position) -> dict[str, Any]:
        return {
            "tenant": self._tenant,
            "subscription": self._subscription.subscription_id,
            "partition": position.partition_id,
            "token": position.token,
        }
