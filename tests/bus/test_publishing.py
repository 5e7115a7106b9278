"""The log leaves in order, at least once, and goes on where it ended; what comes from a queue is taken once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import orjson
import pytest

from mnemon.bus.carrier import BusUnavailable, EnvelopeRefused
from mnemon.bus.publishing import BusPublisher, subscription_of
from mnemon.bus.receiving import accept_envelope
from mnemon.db.database import Database
from mnemon.log.events import NewEvent
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import EventType
from tests.api.conftest import TESTER
from tests.patience import PATIENCE

TYPE = EventType(
    type="order.placed",
    description="An order.",
    data_schema={"type": "object", "required": ["number"], "properties": {"number": {"type": "integer"}}},
    bound_to_periods=False,
)


class Kept:
    """A broker in memory, which can be away."""

    name = "rabbitmq"

    def __init__(self) -> None:
        self.envelopes: list[dict[str, Any]] = []
        self.refuse = 0
        self.enough = asyncio.Event()
        self.wanted = 0

    async def publish(self, routing_key: str, event_id: str, body: bytes) -> None:
        if self.refuse > 0:
            self.refuse -= 1
            raise BusUnavailable("away")
        self.envelopes.append(orjson.loads(body))
        if len(self.envelopes) >= self.wanted:
            self.enough.set()

    async def receive(self, queue: str, handler: Any) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture
async def events(database: Database, tenant: UUID) -> AsyncIterator[EventLog]:
    async with EventLog(database) as opened:
        await opened.register_type(tenant, TYPE, TESTER)
        yield opened


async def place(events: EventLog, tenant: UUID, *numbers: int) -> None:
    await events.append(tenant, [NewEvent(type=TYPE.type, data={"number": number}, actor=TESTER) for number in numbers])


async def sent(events: EventLog, tenant: UUID, carrier: Kept, wanted: int) -> list[int]:
    carrier.wanted = wanted
    carrier.enough.clear()

    async def tenants() -> list[UUID]:
        return [tenant]

    async with AsyncExitStack() as stack:
        publisher = BusPublisher(events, carrier, tenants)
        await stack.enter_async_context(await publisher.delivery(tenant))
        await asyncio.wait_for(carrier.enough.wait(), PATIENCE)
    return [one["data"]["number"] for one in carrier.envelopes if one["routing_key"] == TYPE.type]


async def test_events_leave_in_order_through_an_outage_and_go_on_where_they_ended(
    events: EventLog, tenant: UUID
) -> None:
    carrier = Kept()
    carrier.refuse = 2
    await place(events, tenant, 1, 2, 3)
    before = (await events.read_page(tenant, limit=100)).events
    assert await sent(events, tenant, carrier, len(before)) == [1, 2, 3]
    await place(events, tenant, 4, 5)
    assert await sent(events, tenant, carrier, len(before) + 2) == [1, 2, 3, 4, 5], "none left out, none again"
    positions = await events.subscriptions.positions(tenant, subscription_of("rabbitmq"))
    assert positions


async def test_an_envelope_from_a_queue_is_taken_once(events: EventLog, tenant: UUID) -> None:
    envelope = {"event_id": "01HZZZZZZZZZZZZZZZZZZZZZZZ", "routing_key": TYPE.type, "data": {"number": 7}}
    assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "appended"
    await accept_envelope(events, tenant, orjson.dumps(envelope))
    found = [one for one in (await events.read_page(tenant, limit=100)).events if one.type == TYPE.type]
    assert [one.data for one in found] == [{"number": 7}]
    echo = {"event_id": found[0].id, "routing_key": TYPE.type, "data": {"number": 7}}
    assert await accept_envelope(events, tenant, orjson.dumps(echo)) == "known", "what was sent from here comes back"


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"[]",
        b'{"event_id": "x", "routing_key": "order.placed", "data": {}}',
        b'{"event_id": "x", "routing_key": "document.purged", "data": {"revisions": 1}}',
        b'{"event_id": "x", "routing_key": "no.such.type", "data": {"a": 1}}',
        b'{"event_id": "x", "routing_key": "order.placed", "data": {"number": "seven"}}',
    ],
)
async def test_what_the_log_cannot_take_is_refused(events: EventLog, tenant: UUID, body: bytes) -> None:
    with pytest.raises(EnvelopeRefused):
        await accept_envelope(events, tenant, body)
