"""The log published outward: a subscription per tenant, in order per partition, at least once, until confirmed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from uuid import UUID

import orjson

from mnemon.bus.carrier import BusCarrier, BusUnavailable
from mnemon.bus.envelope import outward
from mnemon.log.events import Event
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.telemetry import counter, logger

LOOK_SECONDS = 30.0
LONGEST_PAUSE = 5.0
# A broker that is away for a week is no reason to give up an event.
PATIENT = {"failures": 1_000_000, "breaker_failures": 1_000_000, "event_seconds": 86_400.0}

PUBLISHED = counter("mnemon_bus_published", "Envelopes that the broker confirmed.", ["carrier"])
REFUSED = counter("mnemon_bus_failures", "Times that the broker did not confirm an envelope.", ["carrier"])

log = logger(__name__)

Tenants = Callable[[], Awaitable[Sequence[UUID]]]


def subscription_of(carrier: str) -> str:
    """Its cursors say how far each tenant's log has been published."""
    return f"bus:{carrier}"


class BusPublisher:
    """Runs beside a server or a worker. Of several processes one has a partition at a time."""

    def __init__(self, events: EventLog, carrier: BusCarrier, tenants: Tenants, *, personal: bool = False) -> None:
        self._events = events
        self._carrier = carrier
        self._tenants = tenants
        self._personal = personal
        self._limits = replace(events.delivery, **PATIENT)  # type: ignore[arg-type]

    async def run(self, look_seconds: float = LOOK_SECONDS) -> None:
        """For ever; tenants that come later are found. A database that is away, or a tenant that has moved, holds up
        nobody else: they are looked for again."""
        followed: set[UUID] = set()
        async with AsyncExitStack() as stack:
            while True:
                try:
                    fresh = [one for one in await self._tenants() if one not in followed]
                except Exception as failure:
                    log.warning("bus_tenants_unknown", error=str(failure))
                    fresh = []
                for tenant in fresh:
                    try:
                        await stack.enter_async_context(await self.delivery(tenant))
                    except Exception as failure:
                        log.warning("bus_tenant_not_followed", tenant_id=str(tenant), error=str(failure))
                    else:
                        followed.add(tenant)
                await asyncio.sleep(look_seconds)

    async def delivery(self, tenant: UUID) -> Delivery:
        """Of one tenant. A whole partition waits for an event that cannot be sent: its order is the consumers'."""
        name = subscription_of(self._carrier.name)
        wanted = Subscription(name, "service", "mnemon.bus", failure_holds="partition")
        await self._events.subscriptions.add(tenant, wanted)
        return Delivery(self._events, tenant, name, self._send, limits=self._limits)

    async def _send(self, event: Event) -> None:
        compiled = await self._events.registry.find(event.tenant_id, event.type, event.data_version)
        envelope = outward(event, compiled.declaration, personal=self._personal)
        body, pause, told = orjson.dumps(envelope), 0.1, ""
        while True:
            try:
                await self._carrier.publish(event.tenant_id, event.type, event.id, body)
            except BusUnavailable as failure:
                if failure.code != told:
                    log.warning(
                        "bus_lost", carrier=self._carrier.name, tenant_id=event.tenant_id, event_id=event.id,
                        error=failure.message,
                    )  # fmt: skip
                told = failure.code
                REFUSED.labels(self._carrier.name).inc()
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                PUBLISHED.labels(self._carrier.name).inc()
                return
