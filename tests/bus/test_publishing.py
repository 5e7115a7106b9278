"""The log leaves in order, at least once, and goes on where it ended; what comes from a queue is taken once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import orjson
import pytest
from prometheus_client import generate_latest

from mnemon import beside
from mnemon.bus.carrier import BusUnavailable, EnvelopeRefused
from mnemon.bus.envelope import outward
from mnemon.bus.publishing import BusPublisher, subscription_of
from mnemon.bus.receiving import accept_envelope, receive_for_ever
from mnemon.db.database import Database
from mnemon.errors import DatabaseUnavailable
from mnemon.ids import new_uuid
from mnemon.log.events import NewEvent
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.store import EventLog
from mnemon.log.subscribe import dispatch
from mnemon.log.subscribe.lag import LagOfAll
from mnemon.log.subscribe.ready import look
from mnemon.log.types.event_type import DataMigration, EventType, PersonalField
from mnemon.settings import Settings
from mnemon.tasks import end
from mnemon.telemetry import REGISTRY
from tests.api.conftest import TESTER
from tests.brokers import free_port
from tests.conftest import make_tenant
from tests.patience import PATIENCE
from tests.work.conftest import Eventually, eventually

__all__ = ["eventually"]

TYPE = EventType(
    type="order.placed",
    description="An order.",
    data_schema={"type": "object", "required": ["number"], "properties": {"number": {"type": "integer"}}},
    bound_to_periods=False,
)

JOINED = EventType(
    type="customer.joined",
    description="A customer.",
    data_schema={
        "type": "object",
        "properties": {"number": {"type": "integer"}, "customer": {"type": "string"}, "name": {"type": "string"}},
    },
    personal_fields=(PersonalField("name", "name", subject_path="customer"),),
    bound_to_periods=False,
)

AWAY = "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, 'acme', 'opening', 'https://two')"


class Kept:
    """A broker in memory, which can be away."""

    name = "rabbitmq"

    def __init__(self) -> None:
        self.envelopes: list[dict[str, Any]] = []
        self.refuse = 0
        self.enough = asyncio.Event()
        self.wanted = 0

    async def publish(self, tenant: UUID, routing_key: str, event_id: str, body: bytes) -> None:
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

    async with AsyncExitStack() as stack:
        publisher = BusPublisher(events, carrier)
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


@pytest.fixture
async def own_events(own_database: Database) -> AsyncIterator[EventLog]:
    """A log whose tenants are all of them: who follows every tenant would send those of other tests too."""
    async with EventLog(own_database) as opened:
        yield opened


async def with_an_order(events: EventLog, number: int) -> UUID:
    tenant = await make_tenant(events.database)
    await events.register_type(tenant, TYPE, TESTER)
    await place(events, tenant, number)
    return tenant


async def test_the_log_leaves_though_the_database_was_away_and_one_tenant_is_not_open(
    own_events: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    carrier, looks, session = Kept(), 0, own_events.database.session

    def away_at_first() -> Any:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise DatabaseUnavailable("away")
        return session()

    tenant, closed = await with_an_order(own_events, 1), await with_an_order(own_events, 2)
    carrier.wanted = len((await own_events.read_page(tenant, limit=100)).events)
    async with own_events.database.owner() as owner:
        await owner.execute(AWAY, (closed,))
    monkeypatch.setattr(own_events.database, "session", away_at_first)
    publishing = asyncio.create_task(BusPublisher(own_events, carrier).run())
    await asyncio.wait_for(carrier.enough.wait(), PATIENCE)
    await end(publishing)
    assert looks > 1
    assert {one["position"]["tenant_id"] for one in carrier.envelopes} == {str(tenant)}


async def test_tenants_at_rest_are_not_followed_one_by_one(
    own_events: EventLog, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand of them must cost no more than one."""
    carrier, looked = Kept(), 0

    async def counted(*given: Any) -> Any:
        nonlocal looked
        looked += 1
        return await look(*given)

    async def nobody_is_followed() -> bool:
        return bool(carrier.envelopes) and not publisher.followed

    async def the_second_is_there() -> bool:
        return any(one["data"].get("number") == 2 for one in carrier.envelopes)

    monkeypatch.setattr(dispatch, "look", counted)
    tenant = await with_an_order(own_events, 1)
    publisher = BusPublisher(own_events, carrier)
    publishing = asyncio.create_task(publisher.run())
    await eventually(nobody_is_followed)
    before = looked
    with own_events.arrivals.watch() as signal:
        for _ in range(4):
            await signal.wait(own_events.delivery.poll_seconds)
    assert looked == before, "nothing was asked of a tenant that has nothing to send"
    await place(own_events, tenant, 2)
    await eventually(the_second_is_there)
    await end(publishing)


async def test_lag_is_told_though_another_process_sends(own_events: EventLog) -> None:
    """Who sends nothing of a tenant never looks at it: what it told of it once must not stand for ever."""
    tenant, name = await with_an_order(own_events, 1), subscription_of("rabbitmq")
    count = len((await own_events.read_page(tenant, limit=100)).events)

    async def told() -> str:
        async with own_events.database.session() as connection:
            await LagOfAll().read(connection, [name])
        shown = generate_latest(REGISTRY).decode().splitlines()
        [line] = [one for one in shown if one.startswith(f'mnemon_subscription_lag_events{{subscription="{name}"}}')]
        return line.rpartition(" ")[2]

    assert await told() == f"{count}.0"
    await sent(own_events, tenant, Kept(), count)
    assert await told() == "0.0"


async def test_an_envelope_from_a_queue_is_taken_once(events: EventLog, tenant: UUID) -> None:
    envelope = {"event_id": "01HZZZZZZZZZZZZZZZZZZZZZZZ", "routing_key": TYPE.type, "data": {"number": 7}}
    assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "appended"
    await accept_envelope(events, tenant, orjson.dumps(envelope))
    found = [one for one in (await events.read_page(tenant, limit=100)).events if one.type == TYPE.type]
    assert [one.data for one in found] == [{"number": 7}]
    assert found[0].envelope["source"]["reference"] == envelope["event_id"]
    with pytest.raises(EnvelopeRefused, match="other content"):
        await accept_envelope(events, tenant, orjson.dumps(envelope | {"data": {"number": 8}}))
    await place(events, tenant, 9)
    [_, found[0]] = [one for one in (await events.read_page(tenant, limit=100)).events if one.type == TYPE.type]
    echo = {"event_id": found[0].id, "routing_key": TYPE.type, "data": {"number": 9}}
    assert await accept_envelope(events, tenant, orjson.dumps(echo)) == "known", "what was sent from here comes back"
    for other in (
        {"data": {"number": 10}},
        {"routing_key": "order.lost"},
        {"routing_key": None, "event_type": "Other"},
    ):
        with pytest.raises(EnvelopeRefused, match="other content"):
            await accept_envelope(events, tenant, orjson.dumps(echo | other))


@pytest.mark.parametrize("personal", [False, True])
async def test_what_was_sent_from_here_is_known_when_it_comes_back(
    events: EventLog, tenant: UUID, personal: bool
) -> None:
    """Whether or not its personal fields left."""
    await events.register_type(tenant, JOINED, TESTER)
    data = {"number": 2, "customer": "c-1", "name": "Ada"}
    await events.append(tenant, [NewEvent(type=JOINED.type, data=data, actor=TESTER)])
    found = (await events.read_page(tenant, limit=100)).events
    assert JOINED.type in {event.type for event in found}
    for event in found:
        declaration = (await events.registry.find(tenant, event.type, event.data_version)).declaration
        envelope = outward(event, declaration, personal=personal)
        assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "known"
        with pytest.raises(EnvelopeRefused, match="other content"):
            await accept_envelope(events, tenant, orjson.dumps(envelope | {"data": {"number": "other"}}))


async def test_what_was_sent_of_a_field_that_became_personal_is_known_when_it_comes_back(
    events: EventLog, tenant: UUID
) -> None:
    """Its newer version has it under another name, and keeps it here."""
    await events.append(tenant, [NewEvent(type=TYPE.type, data={"number": 1, "name": "Ada"}, actor=TESTER)])
    newer = replace(
        TYPE,
        schema_version=2,
        upcast=DataMigration(renames={"name": "full_name"}),
        personal_fields=(PersonalField("full_name", "name", subject_path="customer", optional_subject=True),),
    )
    await events.register_type(tenant, newer, TESTER)
    [event] = [one for one in (await events.read_page(tenant, limit=100)).events if one.type == TYPE.type]
    envelope = outward(event, newer)
    assert envelope["data"] == {"number": 1}
    assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "known"


async def test_an_envelope_that_comes_again_is_known_though_something_was_redacted_since(
    database: Database, ring: KeyRing, tenant: UUID, tmp_path: Path
) -> None:
    privacy = Privacy(database, ring, DirectoryStore(tmp_path), listening=False)
    try:
        await _redelivered(privacy, tenant)
    finally:
        await privacy.close()


async def _redelivered(privacy: Privacy, tenant: UUID) -> None:
    events = privacy.log
    await events.register_type(tenant, TYPE, TESTER)
    envelope = {"event_id": "o-1", "routing_key": TYPE.type, "data": {"number": 7, "by": [{"name": "Ada"}]}}
    assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "appended"
    [event] = [one for one in (await events.read_page(tenant)).events if one.type == TYPE.type]
    await privacy.redactions.redact(
        tenant, event.id, ["/data/by/0/name"], reason="legacy_data", requested_by="u-1", approved_by="u-2"
    )
    assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "known"
    for other in ({"number": 8, "by": [{"name": "Ada"}]}, {"number": 7, "by": []}, {"number": 7}):
        with pytest.raises(EnvelopeRefused, match="other content"):
            await accept_envelope(events, tenant, orjson.dumps(envelope | {"data": other}))


@pytest.mark.parametrize("event_id", ["01HZZZZZZZZZZZZZZZZZZZZZZZ", "660e8400-e29b-41d4-a716-446655440000"])
async def test_an_envelope_is_known_for_ever_though_keys_are_forgotten(
    events: EventLog, tenant: UUID, event_id: str
) -> None:
    envelope = {"event_id": event_id, "routing_key": TYPE.type, "data": {"number": 7}}
    assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "appended"
    async with events.database.owner() as owner:
        await owner.execute("SELECT mnemon.enter_tenant(%s)", (str(tenant),))
        await owner.execute("DELETE FROM mnemon.event_keys WHERE tenant_id = %s", (tenant,))
    assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "known"


async def test_the_specification_s_own_envelope_is_taken(events: EventLog, tenant: UUID) -> None:
    """It names the event and not its routing key, which brokers carry beside it."""
    envelope = {
        "event_type": "OrderPlaced", "event_id": "dd0e8400-e29b-41d4-a716-446655440000", "version": "1.0",
        "timestamp": "2025-01-15T15:06:00Z", "data": {"number": 7},
    }  # fmt: skip
    assert await accept_envelope(events, tenant, orjson.dumps(envelope)) == "appended"
    [found] = [one for one in (await events.read_page(tenant, limit=100)).events if one.type == TYPE.type]
    assert (found.data, found.occurred_at.isoformat()) == ({"number": 7}, "2025-01-15T15:06:00+00:00")
    for other in ({"event_type": "OrderLost"}, {"version": "2.0"}):
        with pytest.raises(EnvelopeRefused):
            await accept_envelope(events, tenant, orjson.dumps(envelope | {"event_id": "other"} | other))


async def test_while_the_tenant_is_not_open_nothing_is_asked_of_the_broker(
    events: EventLog, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would count each time, and take the envelope for a dead letter in the end."""
    monkeypatch.setattr("mnemon.bus.receiving.PAUSE", 0.01)
    envelope = orjson.dumps({"event_id": "E1", "routing_key": TYPE.type, "data": {"number": 7}})
    away, brought, taken = 30, 0, asyncio.Event()
    transaction = events.database.transaction

    def sometimes(whose: UUID) -> Any:
        nonlocal away
        if away:
            away -= 1
            raise DatabaseUnavailable("away")
        return transaction(whose)

    class Bringing(Kept):
        async def receive(self, queue: str, handler: Any) -> None:
            nonlocal brought
            brought += 1
            await handler(envelope)
            taken.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(events.database, "transaction", sometimes)
    receiving = asyncio.create_task(receive_for_ever(events, Bringing(), "inbound", tenant))
    await asyncio.wait_for(taken.wait(), PATIENCE)
    await end(receiving)
    assert brought == 2


async def test_what_is_larger_than_a_request_may_be_is_refused(events: EventLog, tenant: UUID) -> None:
    envelope = {"event_id": "x", "routing_key": TYPE.type, "data": {"number": 7, "note": "x" * 2_000}}
    with pytest.raises(EnvelopeRefused, match="MNEMON_REQUEST_MAX_BYTES"):
        await accept_envelope(events, tenant, orjson.dumps(envelope), most_bytes=2_000)
    assert await accept_envelope(events, tenant, orjson.dumps(envelope), most_bytes=3_000) == "appended"


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b'{"event_id": "x", "data": {"number": 7}}',
        b'{"event_id": "a\\u0000b", "routing_key": "order.placed", "data": {"number": 7}}',
        b'{"event_id": "x", "routing_key": "order.placed", "data": {"number": 7}, "correlation_id": 5}',
        b'{"event_id": "x", "routing_key": "order.placed", "data": {"number": 7}, "correlation_id": {"a": 1}}',
        b'{"event_id": "x", "routing_key": "order.placed", "data": {"number": 7}, "timestamp": "yesterday"}',
        b'{"event_id": "x", "routing_key": "order.placed", "data": {"number": 7}, '
        b'"timestamp": "0001-01-01T00:00:00+14:00"}',
        b'{"event_id": "x", "routing_key": "order.placed", "data": {"number": 7}, "version": "new"}',
        b'{"event_id": "x", "routing_key": "order.placed", "data": {"number": 7}, "entities": [{"entity_type": 5}]}',
        b'{"event_id": "x", "routing_key": "order.placed", "data": {"number": 7}, '
        b'"entities": [{"entity_type": [], "entity_id": {}}]}',
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


async def test_a_server_serves_the_others_where_the_tenant_of_envelopes_is_not_here(
    own_events: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have moved to another database since the setting was written."""
    wanted: asyncio.Future[UUID] = asyncio.get_running_loop().create_future()

    async def receive(events: EventLog, carrier: Any, queue: str, tenant: UUID, most_bytes: int) -> None:
        wanted.set_result(tenant)
        await asyncio.Event().wait()

    monkeypatch.setattr(beside, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(beside, "receive_for_ever", receive)
    tenant = new_uuid()
    settings = Settings(
        home=tmp_path, bus="nats", nats_url=f"nats://127.0.0.1:{free_port()}", bus_inbound_queue="orders",
        bus_inbound_tenant=f"t-{tenant.hex}",
    )  # fmt: skip
    mnemon = SimpleNamespace(settings=settings, log=own_events, database=own_events.database)
    async with beside.on_the_bus(cast(Any, mnemon)):
        async with own_events.database.owner() as owner:
            added = "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, %s, 'Back again')"
            await owner.execute(added, (tenant, settings.bus_inbound_tenant))
        assert await asyncio.wait_for(wanted, PATIENCE) == tenant
