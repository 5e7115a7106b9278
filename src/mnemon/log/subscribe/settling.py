"""Settling: what the end of an attempt at an event does to cursor, parked events and circuit, whoever made it."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.errors import EventNotFound, SubscriptionMoved
from mnemon.log.events import Event
from mnemon.log.subscribe.cursors import Cursor, CursorLost
from mnemon.log.subscribe.failures import count_in, recover_in
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.parking import Parked, failed, park_in, parked_at_in, settle_in
from mnemon.log.subscribe.positions import Position, positions_in
from mnemon.log.subscribe.subscriptions import Subscription, find_in


@dataclass(frozen=True, slots=True)
class Rejected:
    """How often the event has failed by now, what becomes of it, and the subscription's status after that."""

    attempts: int
    state: Literal["retrying", "dead"]
    status: str


async def put_aside_in(
    connection: Connection, cursor: Cursor, event: Event, attempts: int, error: str, limits: DeliveryLimits
) -> Rejected:
    """Park a failed event that the cursor has passed; it is tried again after a pause, or dead."""
    one = failed(event, attempts, limits.failures, error)
    await park_in(connection, cursor, one, limits.retry_after(attempts))
    status = await count_in(connection, cursor.tenant, cursor.subscription_id, event, error, limits)
    return Rejected(attempts, "dead" if one.state == "dead" else "retrying", status)


async def put_off_in(
    connection: Connection, cursor: Cursor, event: Event, error: str, limits: DeliveryLimits
) -> Rejected:
    """Leave the cursor before a failed event: everything waits for it; after too many failures the circuit breaks."""
    before = event.sequence - 1
    pause = limits.retry_after(cursor.attempts + 1 if cursor.sequence == before else 1)
    attempts = await cursor.put_off_in(connection, before, pause)
    stuck = attempts >= limits.failures
    status = await count_in(connection, cursor.tenant, cursor.subscription_id, event, error, limits, stuck=stuck)
    return Rejected(attempts, "retrying", status)


async def acknowledge_in(
    connection: Connection, tenant: UUID, subscription_id: str, legal_entity: str, sequence: int, token: int | None
) -> int:
    """Everything up to a sequence is handled, but for what failed before, which is settled one by one."""
    subscription, position = await _place_in(connection, tenant, subscription_id, legal_entity, sequence)
    cursor = position.cursor(tenant, subscription_id, token)
    try:
        await cursor.advance_in(connection, sequence)
    except CursorLost:
        raise _moved(subscription_id) from None
    await settle_in(connection, cursor, sequence)
    if subscription.failures_in_a_row or subscription.status == "broken":
        await recover_in(connection, tenant, subscription_id)
    return cursor.sequence


async def reject_in(
    connection: Connection, tenant: UUID, subscription_id: str, event: Event, error: str, token: int | None,
    limits: DeliveryLimits,
) -> Rejected:  # fmt: skip
    """The event failed, everything before it is handled, and the rest of the batch is void."""
    subscription, position = await _place_in(connection, tenant, subscription_id, event.legal_entity, event.sequence)
    if not subscription.pattern.fits(event):
        raise InvalidRequest(f"{subscription_id} does not follow events like {event.id}.", id=event.id)
    cursor = position.cursor(tenant, subscription_id, token)
    before = await parked_at_in(connection, cursor, event.sequence)
    _refuse_settled(subscription_id, event, position, before)
    try:
        if subscription.failure_holds == "partition":
            rejected = await put_off_in(connection, cursor, event, error, limits)
        else:
            await cursor.advance_in(connection, event.sequence)
            attempts = (before.attempts if before else 0) + 1
            rejected = await put_aside_in(connection, cursor, event, attempts, error, limits)
    except CursorLost:
        raise _moved(subscription_id) from None
    await cursor.revoke_in(connection)
    return rejected


def _refuse_settled(subscription_id: str, event: Event, position: Position, before: Parked | None) -> None:
    if before is not None and before.state == "dead":
        raise Conflict(f"Event {event.id} is a dead letter of {subscription_id} already: replay it first.", id=event.id)
    if before is None and event.sequence <= position.sequence:
        raise Conflict(f"Event {event.id} was acknowledged already: it cannot be rejected any more.", id=event.id)


async def _place_in(
    connection: Connection, tenant: UUID, subscription_id: str, legal_entity: str, sequence: int
) -> tuple[Subscription, Position]:
    subscription = await find_in(connection, tenant, subscription_id)
    for position in await positions_in(connection, tenant, subscription_id, subscription.pattern):
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


def _moved(subscription_id: str) -> SubscriptionMoved:
    return SubscriptionMoved(
        f"{subscription_id} was reset, claimed or taken over since this batch was fetched: fetch again.",
        id=subscription_id,
    )
