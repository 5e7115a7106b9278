"""Handling: calls a subscriber with one event within its time, and counts what came of it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import psycopg

from mnemon.errors import DatabaseUnavailable
from mnemon.log.events import Event
from mnemon.telemetry import counter, histogram

EventHandler = Callable[[Event], Awaitable[None]]

DELIVERED = counter("mnemon_subscription_delivered_events_total", "Events that a subscriber handled.", ["subscription"])
FAILED = counter("mnemon_subscription_failures_total", "Events that a subscriber failed to handle.", ["subscription"])
DEAD = counter("mnemon_subscription_dead_letters_total", "Events that were given up as dead letters.", ["subscription"])
DELAY = histogram(
    "mnemon_subscription_delay_seconds",
    "Time from an event's commit until its subscriber has handled it.",
    ["subscription"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600),
)


# Whoever reads metrics sees no tenant, and no name that a tenant chose: those of lenses are ours.
OURS = "lens:"
OTHERS = "others"
BUSES = frozenset({"bus:rabbitmq", "bus:nats"})


def label_of(subscription_id: str) -> str:
    return subscription_id if subscription_id.startswith(OURS) or subscription_id in BUSES else OTHERS


class TookTooLong(Exception):
    """The subscriber did not finish within the time for one event."""


async def attempt(handler: EventHandler, event: Event, seconds: float) -> Exception | None:
    """None if the event was handled, else what the subscriber raised."""
    try:
        async with asyncio.timeout(seconds) as limit:
            await handler(event)
    except TimeoutError as failure:
        return TookTooLong(f"not done within {seconds:g} s") if limit.expired() else failure
    except Exception as failure:
        return failure
    return None


def count_delivered(subscription_id: str, events: Sequence[Event]) -> None:
    now = datetime.now(UTC)
    DELIVERED.labels(label_of(subscription_id)).inc(len(events))
    delay = DELAY.labels(label_of(subscription_id))
    for event in events:
        delay.observe(max(0.0, (now - event.recorded_at).total_seconds()))


def is_outage(failure: BaseException) -> bool:
    """True if the database went away, which is no fault of the subscriber."""
    if isinstance(failure, DatabaseUnavailable):
        return True
    return isinstance(failure, psycopg.OperationalError) and (failure.sqlstate or "08")[:2] in ("08", "57")
