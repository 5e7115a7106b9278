"""A broker that was never there is told of, and does not keep everybody waiting without a word."""

import asyncio

import pytest

from mnemon import brokers
from mnemon.bus.carrier import BusUnavailable
from mnemon.bus.nats_carrier import NatsCarrier
from mnemon.ids import new_uuid
from mnemon.work.transports.nats_transport import NatsTransport
from mnemon.work.transports.transport import JobMessage, TransportUnavailable
from tests.brokers import free_port
from tests.patience import PATIENCE


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """Where nobody listens."""
    monkeypatch.setattr(brokers, "CONNECTED_WITHIN", 0.3)
    return f"nats://somebody:s3cret@127.0.0.1:{free_port()}"


async def test_the_bus_says_that_no_server_of_nats_answers(nowhere: str) -> None:
    carrier = NatsCarrier(nowhere, "copilot.events")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(BusUnavailable, match=r"no server answered within 0.3 s: .*Connect call failed") as refusal:
            await carrier.publish(new_uuid(), "order.placed", "1", b"{}")
    assert "s3cret" not in refusal.value.message
    await carrier.close()


async def test_a_transport_says_that_no_server_of_nats_answers(nowhere: str) -> None:
    transport = NatsTransport(nowhere)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(TransportUnavailable, match="no server answered"):
            await transport.publish(JobMessage(job_id=new_uuid(), tenant_id=new_uuid(), kind="documents.ingest"))
    await transport.close()
