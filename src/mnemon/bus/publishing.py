"""The log published outward: a subscription per tenant, in order per partition, at least once, until confirmed."""

import asyncio
from dataclasses import replace
from uuid import UUID

import orjson

from mnemon.bus.carrier import BusCarrier, BusUnavailable
from mnemon.bus.envelope import outward
from mnemon.log.events import Event
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.lag import LagOfAll
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.telemetry import counter, logger

BEHIND = "SELECT DISTINCT tenant_id FROM mnemon.tenants_behind(%s)"
LONGEST_PAUSE = 5.0
# A broker that is away for a week is no reason to give up an event.
PATIENT = {"failures": 1_000_000, "breaker_failures": 1_000_000, "event_seconds": 86_400.0}

PUBLISHED = counter("mnemon_bus_published", "Envelopes that the broker confirmed.", ["carrier"])
REFUSED = counter("mnemon_bus_failures", "Times that the broker did not confirm an envelope.", ["carrier"])

log = logger(__name__)


def subscription_of(carrier: str) -> str:
    """Its cursors say how far each tenant's log has been published."""
    return f"bus:{carrier}"


class BusPublisher:
    """Runs beside a server or a worker. Of several processes one has a partition at a time.

    One look tells which tenants have something to send; those alone are followed, and for as long as they have. So a
    thousand tenants at rest cost as much as one.
    """

    def __init__(self, events: EventLog, carrier: BusCarrier, *, personal: bool = False) -> None:
        self._events = events
        self._carrier = carrier
        self._personal = personal
        self._limits = replace(events.delivery, **PATIENT)  # type: ignore[arg-type]
        self._name = subscription_of(carrier.name)
        self._lag = LagOfAll()
        self.followed: dict[UUID, Delivery] = {}

    async def run(self) -> None:
        """For ever. A database that is away, or a tenant that is not open, holds up nobody else."""
        try:
            with self._events.arrivals.watch() as signal:
                while True:
                    signal.clear()
                    try:
                        await self._look()
                    except Exception as failure:
                        log.warning("bus_look_failed", error=str(failure))
                    await signal.wait(self._limits.poll_seconds)
        finally:
            await asyncio.gather(*(one.stop() for one in self.followed.values()))

    async def _look(self) -> None:
        """Follow whoever has something to send, and leave those alone who have nothing more."""
        async with self._events.database.session() as connection:
            rows = await (await connection.execute(BEHIND, ([self._name],))).fetchall()
            await self._lag.read(connection, [self._name])
        behind = {row["tenant_id"] for row in rows}
        for tenant in [one for one, delivery in self.followed.items() if one not in behind and delivery.is_idle]:
            await self.followed.pop(tenant).stop()
        for tenant in behind - self.followed.keys():
            try:
                delivery = await self.delivery(tenant)
            except Exception as failure:
                log.warning("bus_tenant_not_followed", tenant_id=str(tenant), error=str(failure))
            else:
                self.followed[tenant] = await delivery.__aenter__()

    async def delivery(self, tenant: UUID) -> Delivery:
        """Of one tenant. A whole partition waits for an event that cannot be sent: its order is the consumers'."""
        wanted = Subscription(self._name, "service", "mnemon.bus", failure_holds="partition")
        await self._events.subscriptions.add(tenant, wanted)
        return Delivery(self._events, tenant, self._name, self._send, limits=self._limits)

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
