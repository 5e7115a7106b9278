"""Subscriptions: declare who follows the log, look at them, pause, resume, reset and remove them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from mnemon.db.database import Connection, Database
from mnemon.errors import Conflict, InvalidRequest, NotAllowed
from mnemon.log.errors import SubscriptionNotFound
from mnemon.log.read.pattern import ALL_EVENTS, Pattern
from mnemon.log.subscribe.cursors import Cursor, begin_at_heads_in
from mnemon.log.subscribe.parking import unpark_after_in
from mnemon.log.subscribe.positions import Position, positions_in

SubscriptionStatus = Literal["active", "paused", "broken"]
Holds = Literal["entity", "partition"]
Start = Literal["beginning", "now"]
LENS_PREFIX = "lens:"

_COLUMNS = """
    subscription_id, subscriber_type, subscriber_id, pattern, failure_holds, status, probe_at, failures_in_a_row,
    error_count, last_error, last_error_at, created_at, updated_at
"""
FIND = f"SELECT {_COLUMNS} FROM mnemon.subscriptions WHERE tenant_id = %s AND subscription_id = %s"
LIST = f"SELECT {_COLUMNS} FROM mnemon.subscriptions WHERE tenant_id = %s ORDER BY subscription_id"
ADD = f"""
INSERT INTO mnemon.subscriptions (tenant_id, subscription_id, subscriber_type, subscriber_id, pattern, failure_holds)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}
"""
REMOVE = "DELETE FROM mnemon.subscriptions WHERE tenant_id = %s AND subscription_id = %s"
CHANGE = f"""
UPDATE mnemon.subscriptions
   SET status = %s, probe_at = NULL, trips = 0, failures_in_a_row = 0, updated_at = now()
 WHERE tenant_id = %s AND subscription_id = %s
RETURNING {_COLUMNS}
"""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A durable follower of the log. `failure_holds` says what waits behind an event that fails."""

    subscription_id: str
    subscriber_type: str = "service"
    subscriber_id: str = ""
    pattern: Pattern = ALL_EVENTS
    failure_holds: Holds = "entity"
    status: SubscriptionStatus = "active"
    probe_at: datetime | None = None
    failures_in_a_row: int = 0
    error_count: int = 0
    last_error: str | None = None
    last_error_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def may_probe(self) -> bool:
        """Whether a broken circuit may let one event through, to see."""
        return self.status == "broken" and self.probe_at is not None and self.probe_at <= datetime.now(UTC)

    def as_json(self) -> dict[str, Any]:
        """The subscription as REST and command line show it."""
        return {
            "id": self.subscription_id,
            "subscriber_type": self.subscriber_type,
            "subscriber_id": self.subscriber_id,
            **self.pattern.as_json(),
            "failure_holds": self.failure_holds,
            "status": self.status,
            "probe_at": self.probe_at,
            "error_count": self.error_count,
            "last_error": self.last_error,
            "last_error_at": self.last_error_at,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }


class Subscriptions:
    """The subscriptions of every tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, tenant: UUID, wanted: Subscription, *, start: Start = "beginning") -> Subscription:
        """Declare a subscription; the same declaration again changes nothing, another one is a conflict.

        From `now` on means: what is in the log already is left out, and partitions to come are seen in full.
        """
        refuse_lens(wanted.subscription_id)
        async with self._database.transaction(tenant) as connection:
            return await add_in(connection, tenant, wanted, start=start)

    async def find(self, tenant: UUID, subscription_id: str) -> Subscription:
        async with self._database.transaction(tenant) as connection:
            return await find_in(connection, tenant, subscription_id)

    async def list(self, tenant: UUID) -> Sequence[Subscription]:
        async with self._database.transaction(tenant) as connection:
            rows = await (await connection.execute(LIST, (tenant,))).fetchall()
        return [_subscription(row) for row in rows]

    async def positions(self, tenant: UUID, subscription_id: str) -> Sequence[Position]:
        """Where the subscription stands in each partition it follows."""
        async with self._database.transaction(tenant) as connection:
            subscription = await find_in(connection, tenant, subscription_id)
            return await positions_in(connection, tenant, subscription_id, subscription.pattern)

    async def pause(self, tenant: UUID, subscription_id: str) -> Subscription:
        """Deliver nothing more; the event being handled may finish."""
        return await self._change(tenant, subscription_id, "paused")

    async def resume(self, tenant: UUID, subscription_id: str) -> Subscription:
        """Go on from the cursor, after a pause or a broken circuit."""
        return await self._change(tenant, subscription_id, "active")

    async def reset(self, tenant: UUID, subscription_id: str, positions: Mapping[str, int] | None = None) -> None:
        """Go on after another sequence, forward or back, per legal entity; with none named, from the very beginning."""
        refuse_lens(subscription_id)
        async with self._database.transaction(tenant) as connection:
            subscription = await find_in(connection, tenant, subscription_id)
            known = {
                one.legal_entity: one
                for one in await positions_in(connection, tenant, subscription_id, subscription.pattern)
            }
            wanted = dict.fromkeys(known, 0) if positions is None else positions
            for legal_entity, sequence in wanted.items():
                if legal_entity not in known or sequence < 0:
                    raise InvalidRequest(
                        f"{subscription_id} cannot start after {sequence} in {legal_entity!r}: "
                        f"it follows {', '.join(known) or 'no partition yet'}, each from 0.",
                        legal_entity=legal_entity,
                    )
                await reset_in(connection, tenant, subscription_id, known[legal_entity].partition_id, sequence)

    async def remove(self, tenant: UUID, subscription_id: str) -> None:
        """Forget the subscription, its cursors and its dead letters."""
        refuse_lens(subscription_id)
        async with self._database.transaction(tenant) as connection:
            await find_in(connection, tenant, subscription_id)
            await remove_in(connection, tenant, subscription_id)

    async def _change(self, tenant: UUID, subscription_id: str, status: SubscriptionStatus) -> Subscription:
        async with self._database.transaction(tenant) as connection:
            row = await (await connection.execute(CHANGE, (status, tenant, subscription_id))).fetchone()
        if row is None:
            raise _not_found(subscription_id)
        return _subscription(row)


async def add_in(
    connection: Connection, tenant: UUID, wanted: Subscription, *, start: Start = "beginning"
) -> Subscription:
    values = (
        tenant, wanted.subscription_id, wanted.subscriber_type, wanted.subscriber_id or wanted.subscription_id,
        Jsonb(wanted.pattern.as_json()), wanted.failure_holds,
    )  # fmt: skip
    try:
        row = await (await connection.execute(ADD, values)).fetchone()
    except psycopg.errors.CheckViolation:
        raise InvalidRequest(
            f"{wanted.subscription_id!r} cannot be the name of a subscription, or {wanted.subscriber_type!r} the kind "
            "of its subscriber: a name has 1 to 100 of a-z, 0-9 and ._:-, a kind 1 to 50 of a-z, 0-9 and _-.",
            id=wanted.subscription_id,
        ) from None
    if row is not None:
        if start == "now":
            await begin_at_heads_in(connection, tenant, wanted.subscription_id)
        return _subscription(row)
    there = await find_in(connection, tenant, wanted.subscription_id)
    if there.pattern.as_json() != wanted.pattern.as_json() or there.failure_holds != wanted.failure_holds:
        raise Conflict(
            f"The subscription {wanted.subscription_id} is there already and wants other events: "
            "remove it first, or choose another id.",
            id=wanted.subscription_id,
        )
    return there


async def remove_in(connection: Connection, tenant: UUID, subscription_id: str) -> None:
    await connection.execute(REMOVE, (tenant, subscription_id))


async def find_in(connection: Connection, tenant: UUID, subscription_id: str) -> Subscription:
    row = await (await connection.execute(FIND, (tenant, subscription_id))).fetchone()
    if row is None:
        raise _not_found(subscription_id)
    return _subscription(row)


async def reset_in(
    connection: Connection, tenant: UUID, subscription_id: str, partition_id: int, sequence: int
) -> None:
    """Go on after another sequence in one partition, with nothing parked beyond it."""
    cursor = Cursor(tenant, subscription_id, partition_id)
    await cursor.reset_in(connection, sequence)
    await unpark_after_in(connection, cursor, sequence)


def refuse_lens(subscription_id: str) -> None:
    """Rows and cursor of a lens move together: with the cursor moved alone, events would count twice or never."""
    if subscription_id.startswith(LENS_PREFIX):
        raise NotAllowed(
            f"{subscription_id} is the cursor of a lens, which only the lens itself moves: rebuild the lens instead.",
            id=subscription_id,
        )


def _subscription(row: dict[str, Any]) -> Subscription:
    return Subscription(**row | {"pattern": Pattern.from_json(row["pattern"])})


def _not_found(subscription_id: str) -> SubscriptionNotFound:
    return SubscriptionNotFound(f"There is no subscription {subscription_id!r}: add it first.", id=subscription_id)
