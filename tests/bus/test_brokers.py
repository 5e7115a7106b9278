"""The bus on real brokers: confirmed, through a restart, with dead letters for what is no envelope."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import nats
import orjson
import pytest

from mnemon.bus.carrier import DELIVERIES, BusCarrier, BusUnavailable, EnvelopeTooLarge
from mnemon.bus.nats_carrier import NatsCarrier
from mnemon.bus.rabbitmq import RabbitCarrier
from mnemon.bus.receiving import receive_for_ever
from mnemon.log.store import EventLog
from mnemon.tasks import end
from tests.brokers import NatsServer, RabbitServer, nats_server, rabbit_server
from tests.bus.test_publishing import TYPE, events
from tests.work.conftest import Eventually, eventually

__all__ = ["events", "eventually"]

pytestmark = pytest.mark.slow
EXCHANGE = "copilot.events"
TENANT = UUID(int=1)


class Side:
    """One broker, and what a consumer of it sees."""

    def __init__(self, server: RabbitServer | NatsServer, carrier: BusCarrier) -> None:
        self.server, self.carrier = server, carrier

    async def consumed(self, wanted: int) -> list[dict[str, Any]]:
        if isinstance(self.server, RabbitServer):
            return await self.server.messages("all", wanted)
        return [orjson.loads(one) for one in await self.server.messages("MNEMON_EVENTS", wanted)]

    async def send(self, queue: str, body: bytes) -> None:
        if isinstance(self.server, RabbitServer):
            await self.server.send(queue, body)
        else:
            await self.server.send(f"{EXCHANGE}-inbound.{queue}", body)

    async def dead(self) -> int:
        if isinstance(self.server, RabbitServer):
            return await self.server.count(f"{EXCHANGE}.dead")
        return await self.server.count("MNEMON_EVENTS_DEAD")


@pytest.fixture(params=["rabbitmq", "nats"])
async def side(request: pytest.FixtureRequest, tmp_path: Path, open_folder: Path) -> AsyncIterator[Side]:
    if request.param == "nats":
        with nats_server(tmp_path) as server:
            carrier = NatsCarrier(server.url, EXCHANGE)
            yield Side(server, carrier)
            await carrier.close()
    else:
        with rabbit_server(open_folder / "rabbit") as rabbit:
            quorum = RabbitCarrier(rabbit.url, EXCHANGE, {"all": ["#"], "orders": ["order.*"]})
            yield Side(rabbit, quorum)
            await quorum.close()


async def test_what_was_confirmed_outlives_the_broker(side: Side) -> None:
    for number in range(5):
        await side.carrier.publish(TENANT, "order.placed", f"id-{number}", orjson.dumps({"number": number}))
    await asyncio.to_thread(side.server.stop)
    with pytest.raises(BusUnavailable):
        await asyncio.wait_for(side.carrier.publish(TENANT, "order.placed", "id-5", b"{}"), 120)
    await asyncio.to_thread(side.server.start)
    async with asyncio.timeout(300):
        while True:
            try:
                await side.carrier.publish(TENANT, "order.placed", "id-5", orjson.dumps({"number": 5}))
                break
            except BusUnavailable:
                await asyncio.sleep(0.2)
    assert [one["number"] for one in await side.consumed(6)] == list(range(6))


async def test_envelopes_come_into_the_log_and_nonsense_to_the_dead_letters(
    side: Side, events: EventLog, tenant: UUID, eventually: Eventually
) -> None:
    receiving = asyncio.create_task(receive_for_ever(events, side.carrier, "inbound", tenant))
    envelope = {"event_id": "E1", "routing_key": TYPE.type, "data": {"number": 7}}

    async def sendable() -> bool:
        try:
            await side.send("inbound", b"nonsense")
        except Exception:
            return False
        return True

    await eventually(sendable)
    for _ in range(3):
        await side.send("inbound", orjson.dumps(envelope))

    async def taken() -> bool:
        page = await events.read_page(tenant, limit=100)
        return TYPE.type in [one.type for one in page.events] and await side.dead() == 1

    await eventually(taken)
    receiving.cancel()
    await asyncio.wait([receiving])
    found = [one for one in (await events.read_page(tenant, limit=100)).events if one.type == TYPE.type]
    assert len(found) == 1


async def test_what_nobody_can_take_is_a_dead_letter_in_the_end(side: Side, eventually: Eventually) -> None:
    brought = 0

    async def fails(body: bytes) -> None:
        nonlocal brought
        brought += 1
        raise RuntimeError("out of order")

    async def receive() -> None:
        while True:
            with contextlib.suppress(RuntimeError, BusUnavailable):
                await side.carrier.receive("inbound", fails)

    async def sent() -> bool:
        try:
            await side.send("inbound", b"{}")
        except Exception:
            return False
        return True

    async def dead() -> bool:
        return await side.dead() == 1

    receiving = asyncio.create_task(receive())
    await eventually(sent)
    await eventually(dead)
    await end(receiving)
    assert DELIVERIES <= brought <= DELIVERIES + 1


async def test_what_the_owner_of_a_stream_has_set_stays(tmp_path: Path) -> None:
    with nats_server(tmp_path) as server:
        for number in range(2):
            carrier = NatsCarrier(server.url, EXCHANGE)
            await carrier.publish(TENANT, "order.placed", f"id-{number}", b"{}")
            await carrier.close()
            async with await nats.connect(server.url) as client:
                streams = client.jetstream()
                known = (await streams.stream_info("MNEMON_EVENTS")).config
                assert number == 0 or known.max_age == 3600
                await streams.update_stream(known.evolve(max_age=3600))
        assert await server.count("MNEMON_EVENTS") == 2


async def test_events_of_two_tenants_that_have_the_same_id_both_leave(tmp_path: Path) -> None:
    with nats_server(tmp_path) as server:
        carrier = NatsCarrier(server.url, EXCHANGE)
        for tenant in (TENANT, UUID(int=2), TENANT):
            await carrier.publish(tenant, "order.placed", "01HZZZZZZZZZZZZZZZZZZZZZZZ", str(tenant).encode())
        await carrier.close()
        assert await server.messages("MNEMON_EVENTS", 2) == [str(TENANT).encode(), str(UUID(int=2)).encode()]
        assert await server.count("MNEMON_EVENTS") == 2, "the same event of the same tenant is taken once"


async def test_what_is_too_large_for_the_broker_is_told_and_disturbs_nobody_else(tmp_path: Path) -> None:
    with nats_server(tmp_path) as server:
        carrier = NatsCarrier(server.url, EXCHANGE)
        await carrier.publish(TENANT, "order.placed", "id-1", b"{}")
        with pytest.raises(EnvelopeTooLarge, match="max_payload"):
            await carrier.publish(TENANT, "order.placed", "id-2", b"x" * (1 << 20))
        await carrier.publish(TENANT, "order.placed", "id-3", b"x" * 1_000_000)
        await carrier.close()
        assert await server.count("MNEMON_EVENTS") == 2


async def test_queues_are_quorum_queues_that_get_what_they_want(open_folder: Path) -> None:
    import aio_pika

    with rabbit_server(open_folder / "rabbit") as rabbit:
        carrier = RabbitCarrier(rabbit.url, EXCHANGE, {"all": ["#"], "orders": ["order.*"]})
        for key in ("order.placed", "order.line.added", "report.published"):
            await carrier.publish(TENANT, key, key, b"{}")
        await carrier.close()
        assert [await rabbit.count(name) for name in ("all", "orders")] == [3, 1]
        dead = f"{EXCHANGE}.dead"
        followed = {"x-dead-letter-exchange": dead, "x-delivery-limit": DELIVERIES}
        async with await aio_pika.connect(rabbit.url) as connection:
            for name, arguments in (("all", followed), ("orders", followed), (dead, {})):
                # Declaring is refused where it says anything else than what is there.
                channel = await connection.channel()
                await channel.declare_queue(name, durable=True, arguments={"x-queue-type": "quorum", **arguments})
                with pytest.raises(aio_pika.exceptions.ChannelPreconditionFailed):
                    await channel.declare_queue(name, durable=True, arguments={"x-queue-type": "classic"})
