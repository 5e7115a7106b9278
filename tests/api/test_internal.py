"""The worker's own door: jobs of whoever has the internal token, and no more of them than there are slots."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import httpx2
import pytest

from mnemon.api.internal import LARGEST, create_internal_api
from mnemon.ids import new_uuid
from mnemon.work.transports.http_transport import PATH, HttpDelegation, HttpReceiver
from mnemon.work.transports.transport import JobMessage, TransportUnavailable
from tests.patience import PATIENCE

TOKEN = "an internal token that is long enough"
RIGHT = {"Authorization": f"Bearer {TOKEN}"}


def message() -> JobMessage:
    return JobMessage(new_uuid(), new_uuid(), "documents.ingest")


@pytest.fixture
def receiver() -> HttpReceiver:
    return HttpReceiver()


@pytest.fixture
async def client(receiver: HttpReceiver) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_internal_api(receiver, TOKEN))
    async with httpx.AsyncClient(transport=transport, base_url="http://worker") as opened:
        yield opened


async def taking(receiver: HttpReceiver, slots: int) -> asyncio.Task[list[JobMessage]]:
    """A worker with so many free slots; what it takes."""

    async def take() -> list[JobMessage]:
        return [one.message for one in await receiver.take(slots) if one.message]

    task = asyncio.create_task(take())
    await asyncio.sleep(0)
    return task


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": f"Bearer {TOKEN} "},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": "Bearer \xff\xfe"},
    ],
)
async def test_nobody_without_the_token_gives_a_worker_a_job(
    client: httpx.AsyncClient, receiver: HttpReceiver, headers: dict[str, str]
) -> None:
    task = await taking(receiver, 3)
    sent = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = await client.post(PATH, content=message().as_bytes(), headers=sent)
    assert (answer.status_code, answer.json()["error_code"]) == (401, "NOT_AUTHENTICATED")
    known = message()
    assert (await client.post(PATH, content=known.as_bytes(), headers=RIGHT)).status_code == 202
    assert await asyncio.wait_for(task, PATIENCE) == [known], "what was refused left nothing behind"


async def test_a_worker_says_so_when_every_slot_is_taken_and_takes_jobs_again_when_one_is_free(
    client: httpx.AsyncClient, receiver: HttpReceiver
) -> None:
    full = await client.post(PATH, content=message().as_bytes(), headers=RIGHT)
    assert (full.status_code, full.json()["error"]) == (503, "worker busy"), "nobody has asked for work yet"
    task = await taking(receiver, 2)
    answers = [await client.post(PATH, content=message().as_bytes(), headers=RIGHT) for _ in range(3)]
    assert [one.status_code for one in answers] == [202, 202, 503]
    assert answers[0].json()["status"] == "accepted"
    assert len(await asyncio.wait_for(task, PATIENCE)) == 2
    again = await taking(receiver, 1)
    assert (await client.post(PATH, content=message().as_bytes(), headers=RIGHT)).status_code == 202
    assert len(await asyncio.wait_for(again, PATIENCE)) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422), (b"nonsense", 422), (b"[]", 422), (b'{"job_id": 5, "tenant_id": 6, "job_type": 7}', 422),
        (b'{"job_id": "x", "tenant_id": "y", "job_type": "z"}', 422), (b"x" * (LARGEST + 1), 413),
    ],
)  # fmt: skip
async def test_what_is_no_message_takes_no_slot(
    client: httpx.AsyncClient, receiver: HttpReceiver, body: bytes, status: int
) -> None:
    task = await taking(receiver, 1)
    assert (await client.post(PATH, content=body, headers=RIGHT)).status_code == status
    assert (await client.post(PATH, content=message().as_bytes(), headers=RIGHT)).status_code == 202
    assert len(await asyncio.wait_for(task, PATIENCE)) == 1


async def test_a_body_whose_length_is_not_told_is_not_read(client: httpx.AsyncClient) -> None:
    asked = False

    async def endless() -> AsyncIterator[bytes]:
        nonlocal asked
        while True:
            asked = True
            yield b"x"

    for given in (RIGHT, RIGHT | {"Content-Length": "\xb2"}):
        sent = {name: value.encode("latin-1") for name, value in given.items()}
        assert (await client.post(PATH, content=endless(), headers=sent)).status_code == 413
    assert not asked


async def test_a_gateway_with_another_token_says_what_the_worker_answered(receiver: HttpReceiver) -> None:
    """The job stays in its table; nothing is lost, and the log says why nobody takes it."""
    inside = httpx2.ASGITransport(app=create_internal_api(receiver, TOKEN))
    delegation = HttpDelegation(["http://worker/"], "another token that is long enough", inside)
    with pytest.raises(TransportUnavailable, match=f"http://worker{PATH} answered 401"):
        await delegation.publish(message())
    await delegation.close()


async def test_health_needs_no_token_and_tells_nothing(client: httpx.AsyncClient) -> None:
    assert (await client.get("/health")).json() == {"status": "ok"}
    for path in ("/docs", "/openapi.json", "/metrics", "/internal"):
        assert (await client.get(path)).status_code == 404
