"""What every transport keeps, whatever becomes of its messages: the row of a job is the truth."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Database
from mnemon.work import worker as worker_module
from mnemon.work.job import Job
from mnemon.work.transports.sqs_transport import SqsTransport
from mnemon.work.transports.transport import JobMessage
from tests.object_store import REGION, ObjectStore
from tests.patience import PATIENCE
from tests.work.conftest import Eventually, MakeKind, Note
from tests.work.transports.conftest import Carrier, StartWorkers, add_jobs

AllDone = Callable[..., Awaitable[None]]


@pytest.fixture
def seen() -> Counter[str]:
    return Counter()


@pytest.fixture
def kind(make_kind: MakeKind, seen: Counter[str]) -> Any:
    """Jobs whose one effect is that they were seen."""
    made = make_kind(attempts=3)

    @made.handler
    async def see(job: Job[Note]) -> None:
        seen[job.payload.text] += 1

    return made


async def test_every_job_is_done_once_whichever_worker_has_it(
    carrier: Carrier, kind: Any, seen: Counter[str], database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone,
) -> None:  # fmt: skip
    await start_workers(kind, 3, slots=4)
    await carrier.announce(kind)
    await add_jobs(database, tenant, kind, 40)
    await all_done(kind)
    assert seen == {str(number): 1 for number in range(40)}


async def test_a_message_that_comes_twice_does_its_job_once(
    carrier: Carrier, kind: Any, seen: Counter[str], database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone,
) -> None:  # fmt: skip
    await start_workers(kind, 2, slots=2)
    for side in carrier.taken:
        side.deliver_twice = True
    await carrier.announce(kind, again=0.05)
    await add_jobs(database, tenant, kind, 10)
    await all_done(kind)
    assert set(seen.values()) == {1} and len(seen) == 10


async def test_a_lost_message_is_sent_again(
    carrier: Carrier, kind: Any, seen: Counter[str], database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone,
) -> None:  # fmt: skip
    await start_workers(kind)
    if carrier.announcing is not None:
        carrier.announcing.lose_publishes = 3
    await carrier.announce(kind)
    await add_jobs(database, tenant, kind, 3)
    await all_done(kind)
    assert set(seen.values()) == {1}
    assert carrier.announcing is None or carrier.announcing.published >= 6


async def test_who_announces_outlives_whatever_a_client_raises(
    carrier: Carrier, kind: Any, seen: Counter[str], database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone,
) -> None:  # fmt: skip
    await start_workers(kind)
    if carrier.announcing is not None:
        carrier.announcing.refuse_publishes = 3
    await carrier.announce(kind)
    await add_jobs(database, tenant, kind, 2)
    await all_done(kind)
    assert set(seen.values()) == {1}


async def test_a_lost_acknowledgement_costs_nothing(
    carrier: Carrier, kind: Any, seen: Counter[str], database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("mnemon.work.transports.nats_transport.ACKNOWLEDGED_WITHIN", 1.0)
    monkeypatch.setattr("mnemon.work.transports.sqs_transport.HIDDEN_SECONDS", 1)
    await start_workers(kind, 2)
    for side in carrier.taken:
        side.lose_acknowledgements = 3
    await carrier.announce(kind)
    await add_jobs(database, tenant, kind, 4)
    await all_done(kind)
    await add_jobs(database, tenant, kind, 4)
    await all_done(kind)
    assert sum(seen.values()) == 8


async def test_a_broker_that_starts_again_loses_no_job(
    carrier: Carrier, kind: Any, seen: Counter[str], database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone,
) -> None:  # fmt: skip
    await start_workers(kind, 2)
    await carrier.announce(kind)
    await add_jobs(database, tenant, kind, 10)
    await carrier.restart()
    await add_jobs(database, tenant, kind, 10)
    await all_done(kind)
    assert sum(seen.values()) == 20


async def test_a_failure_is_on_record_before_its_message_is_acknowledged(
    carrier: Carrier, make_kind: MakeKind, database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone, eventually: Eventually, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The database is away while the worker wants to say that the job failed."""
    kind = make_kind(attempts=1)

    @kind.handler
    async def fail(job: Job[Note]) -> None:
        raise ValueError("no good")

    refused, back, record = asyncio.Event(), asyncio.Event(), worker_module.fail_job

    async def fail_job(*given: Any) -> Any:
        if not back.is_set():
            refused.set()
            raise psycopg.OperationalError("the database went away")
        return await record(*given)

    monkeypatch.setattr(worker_module, "fail_job", fail_job)
    await start_workers(kind)
    # Told again, a second message would find the job taken and be acknowledged, rightly.
    await carrier.announce(kind, again=3600.0)
    await add_jobs(database, tenant, kind, 1)
    await asyncio.wait_for(refused.wait(), 300)
    assert sum(side.acknowledged for side in carrier.taken) == 0
    back.set()
    await all_done(kind, "FAILED")

    async def acknowledged() -> bool:
        return not carrier.taken or sum(side.acknowledged for side in carrier.taken) > 0

    await eventually(acknowledged)


async def test_a_poison_job_ends_with_its_reason_and_a_poison_message_with_the_dead(
    carrier: Carrier, make_kind: MakeKind, database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone, eventually: Eventually,
) -> None:  # fmt: skip
    kind = make_kind(attempts=2)
    tries = Counter[str]()

    @kind.handler
    async def fail(job: Job[Note]) -> None:
        tries[job.payload.text] += 1
        raise ValueError("poison")

    await start_workers(kind)
    await carrier.announce(kind)
    await add_jobs(database, tenant, kind, 2)
    await all_done(kind, "FAILED")
    assert tries == {"0": 2, "1": 2}
    if carrier.is_broker:
        await carrier.send_nonsense()

        async def buried() -> bool:
            return await carrier.dead_letters() == 1

        await eventually(buried)


async def test_a_worker_takes_no_more_than_it_has_slots_for(
    carrier: Carrier, make_kind: MakeKind, database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone, eventually: Eventually,
) -> None:  # fmt: skip
    kind, begun, go_on, most = make_kind(), Counter[str](), asyncio.Event(), [0, 0]

    @kind.handler
    async def wait(job: Job[Note]) -> None:
        begun[job.payload.text] += 1
        most[0] += 1
        most[1] = max(most)
        await go_on.wait()
        most[0] -= 1

    await start_workers(kind, slots=2)
    await carrier.announce(kind)
    await add_jobs(database, tenant, kind, 8)

    async def full() -> bool:
        busy = getattr(carrier, "busy", 1)
        return len(begun) == 2 and busy > 0

    await eventually(full)
    go_on.set()
    await all_done(kind)
    assert most[1] == 2
    assert all(side.largest_take <= 2 for side in carrier.taken)


async def test_of_many_workers_with_the_same_message_one_has_the_job(
    carrier: Carrier, kind: Any, seen: Counter[str], database: Database, tenant: UUID, start_workers: StartWorkers,
    all_done: AllDone,
) -> None:  # fmt: skip
    await start_workers(kind, 4)
    [job_id] = await add_jobs(database, tenant, kind, 1)
    if carrier.announcing is not None:
        message = JobMessage(tenant, job_id, kind.name)
        await asyncio.gather(*(_told(carrier, message) for _ in range(8)))
    await all_done(kind)
    assert seen == {"0": 1}


async def _told(carrier: Carrier, message: JobMessage) -> None:
    """Workers that are asked by HTTP may be busy."""
    from mnemon.work.transports.transport import TransportUnavailable

    assert carrier.announcing is not None
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await carrier.announcing.publish(message)
            except TransportUnavailable:
                await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_without_dead_letters_a_message_that_nobody_can_read_comes_once(store: ObjectStore) -> None:
    client = store.client("sqs")
    queue = client.create_queue(QueueName=f"{store.bucket}-alone")["QueueUrl"]
    client.send_message(QueueUrl=queue, MessageBody="no message of ours")
    transport = SqsTransport(queue, region=REGION, endpoint=store.endpoint)
    [delivery] = await transport.take(5)
    assert delivery.message is None
    await delivery.reject()
    counts = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    told = client.get_queue_attributes(QueueUrl=queue, AttributeNames=counts)["Attributes"]
    assert [told[one] for one in counts] == ["0", "0"]
    await transport.close()
