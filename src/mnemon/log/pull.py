"""Pulling: a subscriber fetches its next events and acknowledges them, at its own pace."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.arrivals import Arrivals
from mnemon.log.errors import EventNotFound, SubscriptionMoved
from mnemon.log.events import Event
from mnemon.log.limits import DeliveryLimits
from mnemon.log.pattern import find_next
from mnemon.log.read import LARGEST_PAGE, Reader
from mnemon.log.subscriptions import Position, Subscription, find_in, positions_in

LONGEST_WAIT = 60.0

# A cursor that someone else has moved meanwhile is left alone: there is nothing to lose by looking again.
SKIP = """
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence)
VALUES (%(tenant)s, %(subscription)s, %(partition)s, %(to)s)
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = excluded.sequence, advanced_at = now()
 WHERE c.sequence = %(from)s AND c.token = %(token)s
"""
ACKNOWLEDGE = """
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence)
VALUES (%(tenant)s, %(subscription)s, %(partition)s, %(to)s)
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = greatest(c.sequence, excluded.sequence), advanced_at = now()
 WHERE %(token)s::bigint IS NULL OR c.token = %(token)s
RETURNING sequence
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """The next events of a subscription; `tokens`, by legal entity, go back with the acknowledgement."""

    events: Sequence[Event]
    has_more: bool
    tokens: dict[str, int]


class Pull:
    """Fetching and acknowledging. What is not acknowledged comes again."""

    def __init__(self, database: Database, reader: Reader, arrivals: Arrivals, limits: DeliveryLimits) -> None:
        self._database = database
        self._reader = reader
        self._arrivals = arrivals
        self._limits = limits

    async def fetch(
        self, tenant: UUID, subscription_id: str, *, limit: int | None = None, wait_seconds: float = 0.0
    ) -> Batch:
        """The next events after the cursor, in order per partition; waits for the first one if told to.

        A paused or broken subscription yields nothing.
        """
        limit = self._limits.batch_events if limit is None else limit
        if not 1 <= limit <= LARGEST_PAGE:
            raise InvalidRequest(f"A batch has 1 to {LARGEST_PAGE} events, not {limit}.", limit=limit)
        if not 0 <= wait_seconds <= LONGEST_WAIT:
            raise InvalidRequest(f"A wait is 0 to {LONGEST_WAIT:.0f} s, not {wait_seconds}.", wait=wait_seconds)
        deadline = asyncio.get_running_loop().time() + wait_seconds
        with self._arrivals.watch() as signal:
            while True:
                signal.clear()
                batch = await self._look(tenant, subscription_id, limit)
                left = deadline - asyncio.get_running_loop().time()
                if batch.events or (left <= 0 and not batch.has_more):
                    return batch
                if not batch.has_more:
                    await signal.wait(min(left, self._limits.poll_seconds))

    async def stream(self, tenant: UUID, subscription_id: str) -> AsyncIterator[Event]:
        """The events after the cursor and those to come, each once per call; acknowledge them as they are handled."""
        passed: dict[int, int] = {}
        with self._arrivals.watch() as signal:
            await self._arrivals.listening(self._limits.poll_seconds)
            while True:
                signal.clear()
                batch = await self._look(tenant, subscription_id, self._limits.batch_events, passed)
                for event in batch.events:
                    yield event
                if not batch.has_more:
                    await signal.wait(self._limits.poll_seconds)

    async def acknowledge(
        self, tenant: UUID, subscription_id: str, legal_entity: str, sequence: int, *, token: int | None = None
    ) -> int:
        """Say that everything up to a sequence is handled; returns where the cursor is. It never goes back.

        With the batch's token, an acknowledgement from before a reset is refused instead of undoing it.
        """
        async with self._database.transaction(tenant) as connection:
            subscription = await find_in(connection, tenant, subscription_id)
            position = await _position(connection, tenant, subscription, legal_entity)
            if sequence > position.head:
                raise InvalidRequest(
                    f"{legal_entity} is at sequence {position.head}: {sequence} cannot have been handled.",
                    sequence=str(sequence),
                )
            values = {
                "tenant": tenant, "subscription": subscription_id, "partition": position.partition_id,
                "to": sequence, "token": token,
            }  # fmt: skip
            row = await (await connection.execute(ACKNOWLEDGE, values)).fetchone()
        if row is None:
            raise SubscriptionMoved(
                f"{subscription_id} was reset or taken over since this batch was fetched: fetch again.",
                id=subscription_id,
            )
        return int(row["sequence"])

    async def acknowledge_event(
        self, tenant: UUID, subscription_id: str, event_id: str, sequence: int, *, token: int | None = None
    ) -> int:
        """The same, with the event named by its id too; the two must agree."""
        event = await self._reader.by_id(tenant, event_id)
        if event.sequence != sequence:
            raise Conflict(
                f"Event {event_id} is at sequence {event.sequence}, not {sequence}: acknowledge what was delivered.",
                id=event_id,
            )
        return await self.acknowledge(tenant, subscription_id, event.legal_entity, sequence, token=token)

    async def _look(
        self, tenant: UUID, subscription_id: str, limit: int, passed: dict[int, int] | None = None
    ) -> Batch:
        async with self._database.transaction(tenant) as connection:
            subscription = await find_in(connection, tenant, subscription_id)
            positions = await positions_in(connection, tenant, subscription)
        if subscription.status != "active":
            return Batch([], False, {})
        events: list[Event] = []
        has_more = False
        for position in positions:
            after = max(position.sequence, passed.get(position.partition_id, 0)) if passed else position.sequence
            if len(events) == limit:
                has_more |= position.head > after
                continue
            found = await find_next(
                self._reader, tenant, subscription.pattern, (position.partition_id, position.legal_entity),
                after=after, head=position.head, limit=limit - len(events),
            )  # fmt: skip
            events += found.events
            has_more |= found.searched_to < position.head
            if passed is not None:
                passed[position.partition_id] = found.searched_to
            elif not found.events and found.searched_to > after:
                await self._skip(tenant, subscription_id, position, found.searched_to)
        return Batch(events, has_more, {one.legal_entity: one.token for one in positions})

    async def _skip(self, tenant: UUID, subscription_id: str, position: Position, to: int) -> None:
        """Move the cursor over events that are of no interest, so that nobody looks at them again."""
        values = {
            "tenant": tenant, "subscription": subscription_id, "partition": position.partition_id,
            "from": position.sequence, "to": to, "token": position.token,
        }  # fmt: skip
        async with self._database.transaction(tenant) as connection:
            await connection.execute(SKIP, values)


async def _position(connection: Connection, tenant: UUID, subscription: Subscription, legal_entity: str) -> Position:
    for position in await positions_in(connection, tenant, subscription):
        if position.legal_entity == legal_entity:
            return position
    raise EventNotFound(
        f"{subscription.subscription_id} does not follow the legal entity {legal_entity!r}.", legal_entity=legal_entity
    )
