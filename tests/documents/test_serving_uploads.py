"""Uploads to a real server process: little memory, many at once, and slow senders who hold nobody up."""

import asyncio
import hashlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import orjson
import pytest

from tests.conftest import MakeHome, new_folder
from tests.patience import PATIENCE

BOUNDARY = b"frontier"
HEAD = b'--%s\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n'
TAIL = b"\r\n--%s--\r\n" % BOUNDARY
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY.decode()}"}
MEGABYTE = 1 << 20


@dataclass
class Serving:
    """A server process without workers, and a session of its administrator."""

    process: subprocess.Popen[bytes]
    url: str
    headers: dict[str, str]
    home: Path

    def memory(self, what: str) -> int:
        """In bytes; VmRSS is now, VmHWM the most since it was reset."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(what))

    def reset_peak(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")


@pytest.fixture(scope="module")
def serving(open_folder: Path, make_home: MakeHome) -> Iterator[Serving]:
    home = make_home(new_folder(open_folder, "serving-uploads"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMON_")}
    environment |= {"MNEMON_HOME": str(home), "MNEMON_LOG_LEVEL": "WARNING", "MNEMON_EMBEDDER": "none"}
    # Five hundred senders from one address are one test's, not one person's.
    environment |= {"MNEMON_CONNECTIONS_PER_ADDRESS": "900", "MNEMON_QUOTA_UPLOADS": "10000"}
    environment |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "serve", "--port", "0", "--no-worker", "--json"],
        env=environment, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        greeting = orjson.loads(_document(process))
        link = greeting["login_url"].partition("#")[2]
        session = httpx.post(f"{greeting['url']}/v1/auth/link", json={"link": link}, timeout=PATIENCE).json()
        yield Serving(process, greeting["url"], {"Authorization": f"Bearer {session['access_token']}"}, home)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


def _document(process: subprocess.Popen[bytes]) -> bytes:
    lines = []
    assert process.stdout is not None
    while not lines or lines[-1] != b"}\n":
        lines.append(process.stdout.readline())
        assert lines[-1], "the server ended before it was up"
    return b"".join(lines)


async def send(serving: Serving, client: httpx.AsyncClient, pieces: AsyncIterator[bytes]) -> httpx.Response:
    return await client.post(f"{serving.url}/v1/ingest", content=pieces, headers=serving.headers | FORM)


async def form(name: bytes, *pieces: bytes) -> AsyncIterator[bytes]:
    yield HEAD % (BOUNDARY, name)
    for piece in pieces:
        yield piece
    yield TAIL


async def test_a_file_of_fifty_megabytes_costs_the_server_little_memory(serving: Serving) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        assert (await send(serving, client, form(b"warm.txt", b"warm up " * MEGABYTE))).status_code == 202
        line = b"The same sixty-four letters over and over, until it is enough.\n\n"
        block = line * (MEGABYTE // len(line))
        serving.reset_peak()
        before = serving.memory("VmRSS")
        answer = await send(serving, client, form(b"large.txt", *[block] * 50))
        assert answer.status_code == 202, answer.text
        assert answer.json()["content_hash"] == "sha256:" + hashlib.sha256(block * 50).hexdigest()
        assert serving.memory("VmHWM") - before < 20 * MEGABYTE


async def test_a_file_over_the_limit_is_refused_before_it_has_all_come(serving: Serving) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield HEAD % (BOUNDARY, b"endless.txt")
        while True:
            yield b"x" * MEGABYTE
            sent += MEGABYTE

    host, port = serving.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"POST /v1/ingest HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in (serving.headers | FORM).items())
    writer.write(head.encode() + b"\r\n")
    answering = asyncio.create_task(reader.read(4096))
    async for piece in endless():
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if answering.done() or writer.is_closing():
            break
        try:
            await writer.drain()
        except ConnectionError:
            break
    answer = await answering
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()
    # Buffers on the way hold a little of what comes after the limit.
    assert sent < 70 * MEGABYTE
    writer.close()


async def test_senders_of_a_byte_at_a_time_hold_nobody_up(serving: Serving) -> None:
    finish = asyncio.Event()

    async def trickle(number: int) -> AsyncIterator[bytes]:
        yield HEAD % (BOUNDARY, b"slow.txt")
        while not finish.is_set():
            yield b"."
            await asyncio.sleep(0.05)
        yield b"%d" % number + TAIL

    # More of them than the server has database connections.
    async with httpx.AsyncClient(timeout=PATIENCE, limits=httpx.Limits(max_connections=100)) as client:
        slow = [asyncio.create_task(send(serving, client, trickle(number))) for number in range(30)]
        loop = asyncio.get_running_loop()
        for number in range(5):
            began = loop.time()
            assert (await send(serving, client, form(b"quick.txt", b"quick %d" % number))).status_code == 202
            assert (await client.get(f"{serving.url}/v1/documents", headers=serving.headers)).status_code == 200
            assert loop.time() - began < 60
        assert not any(task.done() for task in slow)
        finish.set()
        answers = await asyncio.gather(*slow)
    assert {answer.status_code for answer in answers} == {202}


async def test_a_sender_who_leaves_leaves_nothing_behind(serving: Serving) -> None:
    uploads = serving.home / "uploads"

    async def broken() -> AsyncIterator[bytes]:
        yield HEAD % (BOUNDARY, b"half.txt") + b"half of it"
        raise ConnectionResetError

    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        assert (await send(serving, client, form(b"whole.txt", b"all of it"))).status_code == 202
        before = len(list(uploads.glob("*/*")))
        assert before > 0, "this is where uploads are kept"
        with pytest.raises(ConnectionResetError):
            await send(serving, client, broken())
        async with asyncio.timeout(PATIENCE):
            while len(list(uploads.glob("*/*"))) != before:  # noqa: ASYNC110  the disk has no event to wait for
                await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_five_hundred_uploads_at_once_get_five_hundred_right_answers(serving: Serving) -> None:
    contents = [b"document number %d " % (number // 2) * 50 for number in range(500)]
    async with httpx.AsyncClient(timeout=300, limits=httpx.Limits(max_connections=500)) as client:
        answers = await asyncio.gather(
            *(send(serving, client, form(b"%d.txt" % n, content)) for n, content in enumerate(contents))
        )
        assert {answer.status_code for answer in answers} == {202}
        for content, answer in zip(contents, answers, strict=True):
            assert answer.json()["content_hash"] == "sha256:" + hashlib.sha256(content).hexdigest()
        assert len({answer.json()["run_id"] for answer in answers}) == 500
        # Every content came twice, and is one document.
        assert len({answer.json()["doc_id"] for answer in answers}) == 250
        page = await client.get(f"{serving.url}/v1/documents?status=unread&limit=1", headers=serving.headers)
        assert page.json()["total"] >= 250
