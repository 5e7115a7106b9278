"""A NATS cluster of three keeps what it confirmed when one of them is killed mid-run."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import nats
import orjson
import pytest

from mnemon.bus.carrier import BusUnavailable
from mnemon.bus.nats_carrier import NatsCarrier as BusOnNats
from mnemon.db.database import Database
from mnemon.work.job import Job
from mnemon.work.transports.nats_transport import NatsTransport
from mnemon.work.transports.transport import Transport
from tests.brokers import NatsServer, nats_cluster
from tests.patience import PATIENCE
from tests.work.conftest import Eventually, MakeKind, Note, RunWorker
from tests.work.transports.conftest import Carrier, add_jobs

pytestmark = pytest.mark.slow
# Nothing is announced a second time within a test: what is done was kept by the cluster.
NEVER_AGAIN = 24 * 3600.0
TENANT = UUID(int=1)


class Cluster:
    """Three servers, of which one can be told to die."""

    def __init__(self, servers: list[NatsServer]) -> None:
        self.servers = servers

    @property
    def url(self) -> str:
        return ",".join(one.url for one in self.servers)

    async def meets(self) -> None:
        """The servers have found each other: a stream of three replicas can be made."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    async with await nats.connect(self.servers[0].url, connect_timeout=5) as client:
                        streams = client.jetstream(timeout=5)
                        await streams.add_stream(name="MEETING", subjects=["meeting"], num_replicas=3)
                        return
                except Exception:  # whatever a cluster says that is not one yet
                    await asyncio.sleep(0.2)

    async def kill_leader(self, stream: str) -> None:
        async with await nats.connect(self.url.split(",")) as client:
            told = (await client.jetstream().stream_info(stream)).cluster
        assert told is not None and told.leader is not None
        leader = self.servers.pop(int(told.leader.removeprefix("node-")))
        await asyncio.to_thread(leader.kill)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    with nats_cluster(tmp_path) as servers:
        found = Cluster(list(servers))
        await found.meets()
        yield found


class ClusterCarrier(Carrier):
    cluster: Cluster

    def make(self) -> Transport:
        return NatsTransport(self.cluster.url, replicas=3)


async def test_jobs_whose_messages_a_dead_server_led_are_done_once(
    cluster: Cluster, database: Database, tenant: UUID, make_kind: MakeKind, run_worker: RunWorker,
    eventually: Eventually,
) -> None:  # fmt: skip
    kind, seen, killed = make_kind(), Counter[str](), asyncio.Event()

    @kind.handler
    async def see(job: Job[Note]) -> None:
        if len(seen) >= 10:
            await killed.wait()
        seen[job.payload.text] += 1

    async with AsyncExitStack() as stack:
        carrier = ClusterCarrier(database, stack)
        carrier.cluster = cluster
        await carrier.open()
        for _ in range(2):
            await run_worker(kind, transport=await carrier.taking(), slots=4)
        await carrier.announce(kind, again=NEVER_AGAIN)
        await add_jobs(database, tenant, kind, 60)

        async def under_way() -> bool:
            return len(seen) >= 10 and carrier.announcing is not None and carrier.announcing.published >= 60

        await eventually(under_way)
        await cluster.kill_leader("MNEMON_JOBS")
        killed.set()

        async def all_seen() -> bool:
            return len(seen) == 60

        await eventually(all_seen)
    assert set(seen.values()) == {1}


async def test_what_the_bus_was_confirmed_outlives_a_server(cluster: Cluster) -> None:
    carrier = BusOnNats(cluster.url, "copilot.events", replicas=3)
    for number in range(60):
        if number == 20:
            await cluster.kill_leader("MNEMON_EVENTS")
        await _confirmed(carrier, number)
    await carrier.close()
    kept: list[Any] = [orjson.loads(one) for one in await cluster.servers[0].messages("MNEMON_EVENTS", 60)]
    assert kept == list(range(60)), "each once, in order"


async def _confirmed(carrier: BusOnNats, number: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await carrier.publish(TENANT, "order.placed", f"event-{number}", orjson.dumps(number))
            except BusUnavailable:
                await asyncio.sleep(0.1)
