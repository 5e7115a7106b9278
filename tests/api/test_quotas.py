"""Quotas and connections: who asks for too much is told to wait, and who holds connections open loses them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import uvicorn
from structlog.testing import capture_logs

from mnemon.api.connections import ConnectionLimits, guarded_protocol
from mnemon.api.quotas import Quota, QuotaLimit
from mnemon.api.server import create_api
from mnemon.app import Mnemon
from mnemon.errors import TooManyRequests
from mnemon.settings import Settings
from tests.api.conftest import Person
from tests.patience import PATIENCE


def test_a_quota_fills_again_as_time_goes_by() -> None:
    quota = Quota("requests", 60, "MNEMON_QUOTA_REQUESTS")
    for _ in range(60):
        quota.take("ada", 0.0)
    with pytest.raises(TooManyRequests, match="MNEMON_QUOTA_REQUESTS") as refused:
        quota.take("ada", 0.5)
    assert refused.value.details["retry_after_seconds"] == 1
    quota.take("ben", 0.5)
    quota.take("ada", 1.5)


def test_no_limit_counts_nothing() -> None:
    quota = Quota("requests", 0, "MNEMON_QUOTA_REQUESTS")
    for _ in range(1000):
        quota.take("ada", 0.0)
    assert not quota._buckets


@pytest.fixture
async def strict(mnemon: Mnemon, caller_address: str) -> AsyncIterator[httpx.AsyncClient]:
    """A site with small quotas."""
    small = {"quota_requests": 20, "quota_searches": 3, "quota_uploads": 2, "quota_address_requests": 40}
    mnemon.settings = mnemon.settings.model_copy(update=small)
    transport = httpx.ASGITransport(create_api(mnemon), client=(caller_address, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://mnemon") as opened:
        yield opened


async def test_searches_over_the_quota_get_429_and_other_requests_do_not(
    strict: httpx.AsyncClient, user: Person, admin: Person
) -> None:
    async def search(person: Person) -> httpx.Response:
        return await strict.get("/v1/search", params={"query": "plan"}, headers=person.headers)

    answers = [await search(user) for _ in range(12)]
    assert {one.status_code for one in answers[:3]} == {200}
    refused = next(one for one in answers if one.status_code == 429)
    assert refused.json()["error_code"] == "TOO_MANY_REQUESTS"
    assert int(refused.headers["Retry-After"]) == refused.json()["details"]["retry_after_seconds"] >= 1
    assert (await strict.get("/v1/documents", headers=user.headers)).status_code == 200
    assert (await search(admin)).status_code == 200


async def test_uploads_over_the_quota_get_429(strict: httpx.AsyncClient, user: Person) -> None:
    async def upload(number: int) -> int:
        files = {"file": ("a.txt", f"note {number}".encode())}
        return (await strict.post("/v1/ingest", files=files, headers=user.headers)).status_code

    answers = [await upload(number) for number in range(8)]
    assert answers[:2] == [202, 202] and 429 in answers


async def test_invented_credentials_are_counted_by_their_address(strict: httpx.AsyncClient) -> None:
    answers = [
        (await strict.get("/v1/documents", headers={"Authorization": f"Bearer forged-{number}"})).status_code
        for number in range(200)
    ]
    assert set(answers[:40]) == {401} and set(answers[40:]) <= {401, 429} and 429 in answers
    assert (await strict.get("/health")).status_code == 200


async def test_refused_requests_do_not_fill_the_log(strict: httpx.AsyncClient) -> None:
    for _ in range(40):
        await strict.get("/v1/documents")
    with capture_logs() as lines:
        answers = [(await strict.get("/v1/documents")).status_code for _ in range(200)]
    # Some come late enough to be let in again; those have their lines.
    assert 429 in answers
    assert len(lines) <= 2 * (200 - answers.count(429)) + 2


async def test_live_subscriptions_have_a_number() -> None:
    holding = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await holding.wait()

    limit = QuotaLimit(app, Settings(quota_live=2))
    scope = {
        "type": "http", "path": "/v1/subscriptions/mine/events", "method": "GET", "query_string": b"",
        "headers": [(b"authorization", b"Bearer x")], "client": ("203.0.113.1", 1),
        "app": type("App", (), {"state": type("State", (), {"mnemon": type("M", (), {"settings": Settings()})})}),
    }  # fmt: skip
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    tasks = [asyncio.create_task(limit(scope, None, send)) for _ in range(2)]  # type: ignore[arg-type]
    await asyncio.sleep(0)
    await limit(scope, None, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == 429
    holding.set()
    await asyncio.gather(*tasks)
    await limit(scope, None, send)  # type: ignore[arg-type]
    assert not limit._live.by_credential


async def test_searches_at_once_have_a_number_and_tools_count_as_searches(
    mnemon: Mnemon, user: Person, admin: Person
) -> None:
    holding, waiting = asyncio.Event(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        waiting.append(scope["path"])
        await holding.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    limit = QuotaLimit(app, Settings(quota_at_once=2, quota_live=1))
    owner = type("App", (), {"state": type("State", (), {"mnemon": mnemon})})

    async def site(scope: Any, receive: Any, send: Any) -> None:
        await limit({**scope, "app": owner}, receive, send)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(site), base_url="http://mnemon") as client:
        held = [
            asyncio.create_task(client.get("/v1/search", headers=user.headers)),
            asyncio.create_task(client.post("/mcp", headers=user.headers)),
            asyncio.create_task(client.get("/mcp", headers=user.headers)),
            asyncio.create_task(client.get("/v1/ask", headers=admin.headers)),
        ]
        async with asyncio.timeout(PATIENCE):
            while len(waiting) < len(held):  # noqa: ASYNC110
                await asyncio.sleep(0)
        for refused in (
            await client.post("/mcp", headers=user.headers),
            await client.get("/v1/search", headers=user.headers),
            await client.get("/mcp", headers=user.headers),
        ):
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        holding.set()
        assert {one.status_code for one in await asyncio.gather(*held)} == {200}
        assert (await client.get("/v1/search", headers=user.headers)).status_code == 200


# The protocol alone, with an application that answers at once.


async def answer(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextlib.asynccontextmanager
async def served(**limits: Any) -> AsyncIterator[int]:
    chosen = {"most": 50, "per_address": 50, "header_seconds": 60.0, "idle_seconds": 60.0} | limits
    config = uvicorn.Config(
        answer, port=0, log_config=None, lifespan="off", http=guarded_protocol(ConnectionLimits(**chosen))
    )
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    task = asyncio.create_task(server.serve())
    async with asyncio.timeout(PATIENCE):
        while not server.started:  # noqa: ASYNC110  it has no event
            await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


async def spoken(port: int, words: bytes) -> bytes:
    """What comes until the server hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(words)
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE)
    except ConnectionResetError:
        return b"reset"
    finally:
        writer.close()


HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("words", [b"", b"GET /", HEAD, HEAD + b"Connection: keep-alive\r\n\r\n" + HEAD])
async def test_a_head_that_does_not_come_ends_the_connection(words: bytes) -> None:
    async with served(header_seconds=0.2) as port:
        assert (await spoken(port, words)).endswith(b"Content-Length: 0\r\n\r\n" if b"\r\n\r\n" not in words else b"")


async def test_a_body_that_does_not_come_ends_the_connection() -> None:
    async with served(idle_seconds=0.2) as port:
        said = await spoken(port, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        assert not said.startswith(b"HTTP/1.1 200")


async def test_one_address_has_its_share_of_connections_and_gets_them_back() -> None:
    async with served(per_address=3) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        refused = await spoken(port, HEAD + b"\r\n")
        assert refused.startswith(b"HTTP/1.1 503") and b"Retry-After" in refused
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        async with asyncio.timeout(PATIENCE):
            while not (await spoken(port, HEAD + b"Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 200"):
                pass


async def test_slow_clients_do_not_stop_the_server() -> None:
    async with served(most=40, per_address=40, header_seconds=0.3) as port:
        slow = [asyncio.create_task(spoken(port, HEAD)) for _ in range(120)]
        async with asyncio.timeout(PATIENCE):
            while not (await spoken(port, HEAD + b"Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 200"):
                pass
        await asyncio.gather(*slow)
