"""The hostile tenant: uploads what is costly, floods, holds connections open, and forges, all at the same time."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import httpx

from tests.log.test_schema_work import DOUBLED
from tests.storm.clients import Ledger

COSTLY = "".join(f"# Heading {number}\n\nLine {number}.\n\n" for number in range(4_000)).encode()
# What is sent at the same time, and half-sent for each of these.
MANY, HALF_SENT = 20, 7
# As many as the small disk holds; from then on the same come again.
FILES = 20
# Its own: what one address may ask for is bounded, and another tenant is elsewhere.
ADDRESS = "127.0.0.66"
HOLD_SECONDS = 8


class Hostile:
    """What came back that should not have is in `leaks`."""

    def __init__(self, url: str, headers: dict[str, str], victims: Ledger, many: int = MANY) -> None:
        self._many = many
        transport = httpx.AsyncHTTPTransport(local_address=ADDRESS)
        self.http = httpx.AsyncClient(base_url=url, headers=headers, timeout=5, transport=transport)
        self.victims = victims
        self.leaks: list[str] = []
        self.requests = 0
        self.ending = False

    def attacks(self) -> list[Callable[[], Any]]:
        return [self.upload, self.flood, self.hold, self.forge]

    async def upload(self) -> None:
        number = 0
        while not self.ending:
            number = number % FILES + 1
            content = COSTLY + f"{number}\n".encode()
            await self._ask("POST", "/v1/ingest", files={"file": (f"costly-{number}.md", content)})
            await asyncio.sleep(2)

    async def flood(self) -> None:
        async def one() -> None:
            await self._ask("GET", "/v1/search", params={"query": "the " * 200})

        while not self.ending:
            await asyncio.gather(*(one() for _ in range(self._many)))
            await asyncio.sleep(0.5)

    async def hold(self) -> None:
        """Half-sent heads."""
        host, port = self.http.base_url.host, self.http.base_url.port
        while not self.ending:
            writers = []
            for _ in range(self._many * HALF_SENT):
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection(host, port, local_addr=(ADDRESS, 0))
                    writer.write(b"GET /v1/search HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                    writers.append(writer)
            await asyncio.sleep(HOLD_SECONDS)
            for writer in writers:
                writer.close()
            for writer in writers:
                with contextlib.suppress(OSError, TimeoutError):
                    await asyncio.wait_for(writer.wait_closed(), 5)

    async def forge(self) -> None:
        """Asks for what is another tenant's by its exact name, and for a schema that would freeze the server."""
        while not self.ending:
            runs = list(self.victims.uploads.items())[-5:]
            for run, (word, _) in runs:
                await self._must_not_find(f"/v1/ingestion-runs/{run}", run)
                answer = await self._ask("GET", "/v1/search", params={"query": word})
                if answer is not None and answer.status_code == 200 and f"{word} for the north" in answer.text:
                    self.leaks.append(f"search shows {word}")
            for write in self.victims.history.writes[-3:]:
                path = "/v1/events?stream_type=entity&entity_type=counter&stream_id=" + write.key
                await self._must_not_find(path, write.unit)
            await self._ask("POST", "/v1/event-types", json={"type": "evil.type", "data_schema": DOUBLED})
            await self._ask("GET", "/v1/documents", headers={"Authorization": "Bearer mnm_forged"})
            await asyncio.sleep(0.5)

    async def _must_not_find(self, path: str, secret: str) -> None:
        answer = await self._ask("GET", path)
        if answer is not None and answer.status_code == 200 and secret in answer.text:
            self.leaks.append(f"{path} shows {secret}")

    async def _ask(self, method: str, path: str, **given: Any) -> httpx.Response | None:
        self.requests += 1
        with contextlib.suppress(httpx.HTTPError):
            return await self.http.request(method, path, **given)
        await asyncio.sleep(0.2)
        return None
