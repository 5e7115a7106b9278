"""Each transport as the suite sees it: one side that announces, workers that take, and ways to hurt what is between."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from mnemon.api.internal import create_internal_api
from mnemon.db.database import Database
from mnemon.work.enqueue import enqueue_many
from mnemon.work.kinds import JobKind
from mnemon.work.transports.announcing import Announcer
from mnemon.work.transports.http_transport import HttpDelegation, HttpReceiver
from mnemon.work.transports.nats_transport import NatsTransport
from mnemon.work.transports.sqs_transport import SqsTransport
from mnemon.work.transports.transport import JobDelivery, JobMessage, Transport
from mnemon.work.worker import Worker
from tests.brokers import nats_server
from tests.object_store import REGION, ObjectStore, store, store_address
from tests.work.conftest import (
    Eventually,
    Note,
    RunWorker,
    eventually,
    job_reaches,
    make_kind,
    read_job,
    run_worker,
)

__all__ = ["eventually", "job_reaches", "make_kind", "read_job", "run_worker", "store", "store_address"]

TOKEN = "an internal token that is long enough"


class Faulty:
    """A transport that does to messages what brokers do, when a test says so."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.lose_publishes = 0
        self.refuse_publishes = 0
        self.lose_acknowledgements = 0
        self.deliver_twice = False
        self.acknowledged = 0
        self.published = 0
        self.largest_take = 0

    @property
    def keep_seconds(self) -> float:
        return self._inner.keep_seconds

    async def publish(self, message: JobMessage) -> None:
        self.published += 1
        if self.refuse_publishes > 0:
            self.refuse_publishes -= 1
            raise ValueError("Invalid endpoint: a mistake that the client finds only now")
        if self.lose_publishes > 0:
            self.lose_publishes -= 1
            return
        await self._inner.publish(message)

    async def take(self, most: int) -> list[JobDelivery]:
        self.largest_take = max(self.largest_take, most)
        found: list[JobDelivery] = [_FaultyDelivery(self, one) for one in await self._inner.take(most)]
        return [one for one in found for _ in range(2)] if self.deliver_twice else found

    async def close(self) -> None:
        await self._inner.close()


class _FaultyDelivery:
    def __init__(self, faulty: Faulty, inner: JobDelivery) -> None:
        self.message = inner.message
        self._faulty, self._inner = faulty, inner

    async def done(self) -> None:
        self._faulty.acknowledged += 1
        if self._faulty.lose_acknowledgements > 0:
            self._faulty.lose_acknowledgements -= 1
            return
        await self._inner.done()

    async def keep(self) -> None:
        await self._inner.keep()

    async def reject(self) -> None:
        await self._inner.reject()


class Carrier:
    """What every transport gives the suite. `taking` makes the side of one more worker."""

    is_broker = True

    def __init__(self, database: Database, stack: AsyncExitStack) -> None:
        self.database, self.stack = database, stack
        self.announcing: Faulty | None = None
        self.taken: list[Faulty] = []

    async def open(self) -> None:
        self.announcing = Faulty(self.make())
        self.stack.push_async_callback(self.announcing.close)

    def make(self) -> Transport:
        raise NotImplementedError

    async def taking(self) -> Transport | None:
        side = Faulty(self.make())
        self.stack.push_async_callback(side.close)
        self.taken.append(side)
        return side

    async def restart(self) -> None:
        """The broker dies and comes back."""

    async def send_nonsense(self) -> None: ...

    async def dead_letters(self) -> int:
        return 0

    async def announce(self, kind: JobKind[Any], **options: Any) -> None:
        if self.announcing is None:
            return
        options = {"again": 0.5, "poll": 0.05, **options}
        announcer = Announcer(self.database.server, self.announcing, [kind.name], **options)
        task = asyncio.create_task(announcer.run())

        async def end() -> None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        self.stack.push_async_callback(end)


class TableCarrier(Carrier):
    is_broker = False

    async def open(self) -> None:
        pass

    async def taking(self) -> Transport | None:
        return None


class HttpCarrier(Carrier):
    """Workers inside this process, asked through their API."""

    is_broker = False

    async def open(self) -> None:
        self.receivers: list[HttpReceiver] = []
        self.down = False
        self.busy = 0
        self.announcing = Faulty(HttpDelegation([], TOKEN))

    async def taking(self) -> Transport | None:
        receiver = HttpReceiver()
        self.receivers.append(receiver)
        side = Faulty(receiver)
        self.taken.append(side)
        routes = [httpx2.ASGITransport(app=create_internal_api(one, TOKEN)) for one in self.receivers]
        carrier = self

        class Routes(httpx2.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                if carrier.down:
                    raise httpx2.ConnectError("nobody is there")
                answer = await routes[int(request.url.host.removeprefix("worker-"))].handle_async_request(request)
                carrier.busy += answer.status_code == 503
                return answer

        workers = [f"http://worker-{number}" for number in range(len(routes))]
        assert self.announcing is not None
        self.announcing._inner = HttpDelegation(workers, TOKEN, Routes())
        return side

    async def restart(self) -> None:
        self.down = True
        await asyncio.sleep(0)
        self.down = False


class NatsCarrier(Carrier):
    async def open(self) -> None:
        self.server = self.stack.enter_context(nats_server(self.folder))
        await super().open()

    folder = Path()

    def make(self) -> Transport:
        return NatsTransport(self.server.url)

    async def restart(self) -> None:
        await asyncio.to_thread(self.server.kill)
        await asyncio.to_thread(self.server.start)

    async def send_nonsense(self) -> None:
        import nats

        async with await nats.connect(self.server.url) as client:
            await client.jetstream().publish("mnemon.jobs", b"no message of ours")

    async def dead_letters(self) -> int:
        import nats

        async with await nats.connect(self.server.url) as client:
            state = await client.jetstream().stream_info("MNEMON_JOBS_DEAD")
            return int(state.state.messages)


class SqsCarrier(Carrier):
    object_store: ObjectStore

    async def open(self) -> None:
        self.client = self.object_store.client("sqs")
        names = [f"{self.object_store.bucket}-{end}" for end in ("jobs", "dead")]
        self.queue, self.dead = [self.client.create_queue(QueueName=name)["QueueUrl"] for name in names]
        await super().open()

    def make(self) -> Transport:
        return SqsTransport(self.queue, self.dead, region=REGION, endpoint=self.object_store.endpoint, receives=2)

    async def send_nonsense(self) -> None:
        await asyncio.to_thread(self.client.send_message, QueueUrl=self.queue, MessageBody="no message of ours")

    async def dead_letters(self) -> int:
        told = await asyncio.to_thread(
            self.client.get_queue_attributes, QueueUrl=self.dead, AttributeNames=["ApproximateNumberOfMessages"]
        )
        return int(told["Attributes"]["ApproximateNumberOfMessages"])


CARRIERS: dict[str, type[Carrier]] = {
    "postgres": TableCarrier,
    "http": HttpCarrier,
    "nats": NatsCarrier,
    "sqs": SqsCarrier,
}
QUICK = ("postgres", "http")


@pytest.fixture(params=[pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in CARRIERS])
async def carrier(request: pytest.FixtureRequest, database: Database, tmp_path: Path) -> AsyncIterator[Carrier]:
    async with AsyncExitStack() as stack:
        made = CARRIERS[request.param](database, stack)
        if isinstance(made, SqsCarrier):
            made.object_store = request.getfixturevalue("store")
        if isinstance(made, NatsCarrier):
            made.folder = tmp_path
        await made.open()
        yield made


StartWorkers = Callable[..., Awaitable[list[Worker]]]


@pytest.fixture
def start_workers(carrier: Carrier, run_worker: RunWorker) -> StartWorkers:
    """Workers that hear of jobs through the transport."""

    async def start(kind: JobKind[Any], count: int = 1, **options: Any) -> list[Worker]:
        return [await run_worker(kind, transport=await carrier.taking(), **options) for _ in range(count)]

    return start


@pytest.fixture
def all_done(database: Database, tenant: UUID, eventually: Eventually) -> Callable[..., Awaitable[None]]:
    async def done(kind: JobKind[Any], status: str = "DONE") -> None:
        async def ended() -> bool:
            async with database.transaction(tenant) as tx:
                rows = await (
                    await tx.execute("SELECT status FROM mnemon.jobs WHERE kind = %s", (kind.name,))
                ).fetchall()
            return bool(rows) and all(row["status"] == status for row in rows)

        await eventually(ended)

    return done


async def add_jobs(database: Database, tenant: UUID, kind: JobKind[Note], count: int) -> list[UUID]:
    async with database.transaction(tenant) as tx:
        return await enqueue_many(tx, kind, [Note(text=str(number)) for number in range(count)])
