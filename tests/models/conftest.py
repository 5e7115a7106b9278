"""Fixtures of the models' suites: one real embedder, and a server that speaks a model service's protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mnemon.models.local import LocalEmbedder
from tests.patience import PATIENCE


@pytest.fixture(scope="session")
def model_home(open_folder: Path) -> Path:
    """A home whose graph is made once for the whole run."""
    return open_folder / "models-home"


@pytest.fixture(scope="session")
async def embedder(model_home: Path) -> AsyncIterator[LocalEmbedder]:
    opened = LocalEmbedder(model_home)
    yield opened
    await asyncio.wait_for(opened.close(), PATIENCE)


@dataclass
class Reply:
    """What the server does with one request."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    silent: bool = False
    hang_up: bool = False


@dataclass
class Seen:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ServiceDouble:
    """A real HTTP server on loopback that answers as told; the last answer is repeated."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.replies: list[Reply | Callable[[Seen], Reply]] = []
        self.url = ""
        self._connections: set[asyncio.Task[None]] = set()

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self.serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def close(self) -> None:
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await self._read(reader):
                self.requests.append(request)
                scripted = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                reply = scripted(request) if callable(scripted) else scripted
                if reply.silent:
                    await reader.read()
                if reply.hang_up or reply.silent:
                    break
                await self._write(writer, reply)
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Seen | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Seen(first.split()[1], headers, json.loads(body or b"{}"))

    async def _write(self, writer: asyncio.StreamWriter, reply: Reply) -> None:
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        headers = {"content-type": "application/json", **reply.headers, "content-length": str(len(content))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {reply.status} Scripted\r\n{lines}\r\n".encode() + content)
        await writer.drain()


@pytest.fixture
async def service() -> AsyncIterator[ServiceDouble]:
    double = ServiceDouble()
    server = await asyncio.start_server(double.connected, "127.0.0.1", 0)
    double.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    yield double
    server.close()
    await double.close()
    await server.wait_closed()


@pytest.fixture
def reply() -> type[Reply]:
    return Reply
