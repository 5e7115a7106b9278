"""Settling: a subscriber says that an event is handled, or that it could not be."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.errors import EventNotFound, SubscriptionMoved
from mnemon.log.events import Event
from mnemon.log.subscribe.failures import count_in, recover_in
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.parking import Parked, failed, park_in, parked_at, settle_in
from mnemon.log.subscribe.subscriptions import Position, Subscription, find_in, positions_in

# Who was given a token must show it while it holds; so must everyone as long as someone has claimed the partition.
# Where there is no cursor yet, no token but 0 was given to anyone.
_MAY_BEGIN = """(%(token)s::bigint IS NULL OR %(token)s = 0 OR EXISTS (
        SELECT FROM mnemon.subscription_cursors c WHERE c.tenant_id = %(tenant)s
           AND c.subscription_id = %(subscription)s AND c.partition_id = %(partition)s))"""
_MAY_MOVE = "(c.token = %(token)s OR %(token)s::bigint IS NULL AND c.held_until <= clock_timestamp())"
ACKNOWLEDGE = f"""
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence)
SELECT %(tenant)s, %(subscription)s, %(partition)s, %(to)s WHERE {_MAY_BEGIN}
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = greatest(c.sequence, excluded.sequence), advanced_at = now(),
       attempts = CASE WHEN excluded.sequence > c.sequence THEN 0 ELSE c.attempts END,
       due_at = CASE WHEN excluded.sequence > c.sequence THEN '-infinity' ELSE c.due_at END,
       holder = CASE WHEN excluded.sequence >= c.claimed_to THEN NULL ELSE c.holder END,
       held_until = CASE WHEN excluded.sequence >= c.claimed_to THEN '-infinity' ELSE c.held_until END,
       claimed_to = CASE WHEN excluded.sequence >= c.claimed_to THEN NULL ELSE c.claimed_to END
 WHERE {_MAY_MOVE}
RETURNING sequence
"""
# A new token: the rest of the batch is void, and whoever claimed it fetches again.
REJECT = f"""
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence, token, attempts,
                                              due_at)
SELECT %(tenant)s, %(subscription)s, %(partition)s, %(to)s, 1, %(stumbles)s,
       CASE WHEN %(stumbles)s > 0 THEN clock_timestamp() + %(pause)s ELSE '-infinity' END
 WHERE {_MAY_BEGIN}
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = greatest(c.sequence, excluded.sequence), token = c.token + 1, holder = NULL,
       held_until = '-infinity', claimed_to = NULL, advanced_at = now(), due_at = excluded.due_at,
       attempts = excluded.attempts + CASE WHEN c.sequence < excluded.sequence THEN 0 ELSE c.attempts END
 WHERE {_MAY_MOVE}
RETURNING attempts
"""


@dataclass(frozen=True, slots=True)
class Rejected:
    """How often the event has failed by now, and what becomes of it."""

    attempts: int
    state: Literal["retrying", "dead"]
    status: str


async def acknowledge_in(
    connection: Connection, tenant: UUID, subscription_id: str, legal_entity: str, sequence: int, token: int | None
) -> int:
    """Everything up to a sequence is handled, but for what failed before, which is settled one by one."""
    subscription, position = await _place_in(connection, tenant, subscription_id, legal_entity, sequence)
    values = _values(tenant, subscription, position, token) | {"to": sequence}
    row = await (await connection.execute(ACKNOWLEDGE, values)).fetchone()
    if row is None:
        raise _moved(subscription_id)
    await settle_in(connection, tenant, subscription_id, position.partition_id, sequence)
    if subscription.failures_in_a_row or subscription.status == "broken":
        await recover_in(connection, tenant, subscription_id)
    return int(row["sequence"])


async def reject_in(
    connection: Connection, tenant: UUID, subscription_id: str, event: Event, error: str, token: int | None,
    limits: DeliveryLimits,
) -> Rejected:  # fmt: skip
    """The event failed, everything before it is handled, and the rest of the batch is void."""
    subscription, position = await _place_in(connection, tenant, subscription_id, event.legal_entity, event.sequence)
    if not subscription.pattern.fits(event):
        raise InvalidRequest(f"{subscription_id} does not follow events like {event.id}.", id=event.id)
    before = await parked_at(connection, tenant, subscription_id, position.partition_id, event.sequence)
    _refuse_settled(subscription_id, event, position, before)
    values = _values(tenant, subscription, position, token)
    if subscription.failure_holds == "partition":
        return await _stumble(connection, subscription, event, error, values, limits, position)
    attempts = (before.attempts if before else 0) + 1
    values |= {"to": event.sequence, "stumbles": 0, "pause": timedelta(0)}
    if (await (await connection.execute(REJECT, values)).fetchone()) is None:
        raise _moved(subscription_id)
    one = failed(event, attempts, limits.failures, error)
    pause = limits.retry_after(attempts)
    await park_in(connection, tenant, subscription_id, position.partition_id, one, pause)
    status = await count_in(connection, tenant, subscription_id, event, error, limits)
    return Rejected(attempts, "dead" if one.state == "dead" else "retrying", status)


async def _stumble(
    connection: Connection, subscription: Subscription, event: Event, error: str, values: dict[str, Any],
    limits: DeliveryLimits, position: Position,
) -> Rejected:  # fmt: skip
    """The cursor stays before the event, and everything waits; after too many failures the circuit breaks."""
    pause = limits.retry_after(position.attempts + 1 if position.sequence == event.sequence - 1 else 1)
    values |= {"to": event.sequence - 1, "stumbles": 1, "pause": timedelta(seconds=pause)}
    row = await (await connection.execute(REJECT, values)).fetchone()
    if row is None:
        raise _moved(subscription.subscription_id)
    stuck = row["attempts"] >= limits.failures
    status = await count_in(
        connection, event.tenant_id, subscription.subscription_id, event, error, limits, stuck=stuck
    )
    return Rejected(row["attempts"], "retrying", status)


def _refuse_settled(subscription_id: str, event: Event, position: Position, before: Parked | None) -> None:
    if before is not None and before.state == "dead":
        raise Conflict(f"Event {event.id} is a dead letter of {subscription_id} already: replay it first.", id=event.id)
    if before is None and event.sequence <= position.sequence:
        raise Conflict(f"Event {event.id} was acknowledged already: it cannot be rejected any more.", id=event.id)


async def _place_in(
    connection: Connection, tenant: UUID, subscription_id: str, legal_entity: str, sequence: int
) -> tuple[Subscription, Position]:
    subscription = await find_in(connection, tenant, subscription_id)
    for position in await positions_in(connection, tenant, subscription):
        if position.legal_entity == legal_entity:
            break
    else:
        raise EventNotFound(
            f"{subscription_id} does not follow the legal entity {legal_entity!r}.", legal_entity=legal_entity
        )
    if sequence > position.head:
        raise InvalidRequest(
            f"{legal_entity} is at sequence {position.head}: {sequence} cannot have been handled.",
            sequence=str(sequence),
        )
    return subscription, position


def _values(tenant: UUID, subscription: Subscription, position: Position, token: int | None) -> dict[str, Any]:
    return {
        "tenant": tenant,
        "subscription": subscription.subscription_id,
        "partition": position.partition_id,
        "token": token,
    }


def _moved(subscription_id: str) -> SubscriptionMoved:
    return SubscriptionMoved(
        f"{subscription_id} was reset, claimed or taken over since this batch was fetched: fetch again.",
        id=subscription_id,
    )
