"""Subscriptions: declare who follows the log, look at them, pause, resume, reset and remove them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from mnemon.db.database import Connection, Database
from mnemon.errors import Conflict, InvalidRequest, NotAllowed
from mnemon.log.errors import SubscriptionNotFound
from mnemon.log.read.pattern import ALL_EVENTS, Pattern

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
START_NOW = """
INSERT INTO mnemon.subscription_cursors (tenant_id, subscription_id, partition_id, sequence)
SELECT tenant_id, %s, partition_id, sequence FROM mnemon.partitions WHERE tenant_id = %s
"""
REMOVE = "DELETE FROM mnemon.subscriptions WHERE tenant_id = %s AND subscription_id = %s"
CHANGE = f"""
UPDATE mnemon.subscriptions
   SET status = %s, probe_at = NULL, trips = 0, failures_in_a_row = 0, updated_at = now()
 WHERE tenant_id = %s AND subscription_id = %s
RETURNING {_COLUMNS}
"""
# Every partition that fits, whether its cursor exists yet or not.
POSITIONS = """
SELECT p.partition_id, p.legal_entity, p.sequence AS head, coalesce(c.sequence, 0) AS sequence, c.holder,
       c.held_until > clock_timestamp() AS held, coalesce(c.token, 0) AS token, c.advanced_at,
       coalesce(c.attempts, 0) AS attempts, coalesce(c.due_at, '-infinity') <= clock_timestamp() AS due,
       (SELECT count(*) FROM mnemon.parked_events k
         WHERE k.tenant_id = p.tenant_id AND k.subscription_id = %(subscription)s
           AND k.partition_id = p.partition_id) AS parked,
       (SELECT count(*) FROM mnemon.parked_events k
         WHERE k.tenant_id = p.tenant_id AND k.subscription_id = %(subscription)s
           AND k.partition_id = p.partition_id AND k.state = 'dead') AS dead
  FROM mnemon.partitions p
  LEFT JOIN mnemon.subscription_cursors c
    ON c.tenant_id = p.tenant_id AND c.subscription_id = %(subscription)s AND c.partition_id = p.partition_id
 WHERE p.tenant_id = %(tenant)s
 ORDER BY p.legal_entity
"""
# A new token: whoever is delivering at this moment can no longer move the cursor.
RESET = """
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence, token)
SELECT p.tenant_id, %(subscription)s, p.partition_id, least(%(sequence)s, p.sequence), 1
  FROM mnemon.partitions p
 WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = excluded.sequence, token = c.token + 1, holder = NULL, held_until = '-infinity', claimed_to = NULL,
       attempts = 0, due_at = '-infinity', advanced_at = now()
"""
# What is parked beyond the position comes again by itself.
UNPARK = """
DELETE FROM mnemon.parked_events
 WHERE tenant_id = %s AND subscription_id = %s AND partition_id = %s AND sequence > %s
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


@dataclass(frozen=True, slots=True)
class Position:
    """How far a subscription has come in one partition."""

    partition_id: int
    legal_entity: str
    head: int
    sequence: int
    token: int
    parked: int
    dead: int
    holder: str | None = field(default=None)
    advanced_at: datetime | None = None
    # Failures of the next event, where the whole partition waits for it, and whether it is time to try again.
    attempts: int = 0
    due: bool = True

    @property
    def lag(self) -> int:
        """Events that the subscription has not looked at."""
        return self.head - self.sequence

    def as_json(self) -> dict[str, Any]:
        return {
            "legal_entity": self.legal_entity,
            "head": str(self.head),
            "sequence": str(self.sequence),
            "lag": self.lag,
            "parked": self.parked,
            "dead": self.dead,
            "holder": self.holder,
            "advanced_at": self.advanced_at,
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
            return await positions_in(connection, tenant, subscription)

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
            known = {one.legal_entity: one for one in await positions_in(connection, tenant, subscription)}
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
            await connection.execute(REMOVE, (tenant, subscription_id))

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
            f"{wanted.subscription_id!r} ({wanted.subscriber_type!r}, {wanted.subscriber_id!r}) is not a subscription: "
            "its id has 1 to 100 of a-z, 0-9 and ._:-, its type up to 50 of a-z, 0-9 and _-.",
            id=wanted.subscription_id,
        ) from None
    if row is not None:
        if start == "now":
            await connection.execute(START_NOW, (wanted.subscription_id, tenant))
        return _subscription(row)
    there = await find_in(connection, tenant, wanted.subscription_id)
    if there.pattern.as_json() != wanted.pattern.as_json() or there.failure_holds != wanted.failure_holds:
        raise Conflict(
            f"The subscription {wanted.subscription_id} is there already and wants other events: "
            "remove it first, or choose another id.",
            id=wanted.subscription_id,
        )
    return there


async def find_in(connection: Connection, tenant: UUID, subscription_id: str) -> Subscription:
    row = await (await connection.execute(FIND, (tenant, subscription_id))).fetchone()
    if row is None:
        raise _not_found(subscription_id)
    return _subscription(row)


async def positions_in(connection: Connection, tenant: UUID, subscription: Subscription) -> list[Position]:
    values = {"tenant": tenant, "subscription": subscription.subscription_id}
    rows = await (await connection.execute(POSITIONS, values)).fetchall()
    return [
        Position(
            row["partition_id"], row["legal_entity"], row["head"], row["sequence"], row["token"], row["parked"],
            row["dead"], row["holder"] if row["held"] else None, row["advanced_at"], row["attempts"], row["due"],
        )
        for row in rows
        if subscription.pattern.wants_partition(row["legal_entity"])
    ]  # fmt: skip


async def reset_in(
    connection: Connection, tenant: UUID, subscription_id: str, partition_id: int, sequence: int
) -> None:
    values = {"tenant": tenant, "subscription": subscription_id, "partition": partition_id, "sequence": sequence}
    await connection.execute(RESET, values)
    await connection.execute(UNPARK, (tenant, subscription_id, partition_id, sequence))


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
