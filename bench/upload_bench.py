"""Uploads to a real server: how soon each is acknowledged, how fast its worker reads them, what memory that takes."""

import asyncio
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

DATA = Path(os.environ.get("MNEMON_EVAL_DATA") or Path(__file__).parents[2] / "shared" / "eval")
KILOBYTES = 100
PATIENCE = 900


@dataclass
class Serving:
    """A server process with a worker of its own, and a session of its administrator."""

    process: "subprocess.Popen[bytes]"
    client: httpx.AsyncClient

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Serving]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMON_")}
    environment |= {"MNEMON_HOME": str(folder / "home"), "MNEMON_LOG_LEVEL": "WARNING"}
    environment |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = _serve(environment)
    try:
        greeting = json.loads(_document(process))
        link = greeting["login_url"].partition("#")[2]
        async with httpx.AsyncClient(base_url=greeting["url"], timeout=60) as client:
            session = (await client.post("/v1/auth/link", json={"link": link})).json()
            client.headers["Authorization"] = f"Bearer {session['access_token']}"
            yield Serving(process, client)
    finally:
        process.terminate()
        process.wait(60)


def _serve(environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "mnemon", "serve", "--port", "0", "--json"], env=environment, stdout=subprocess.PIPE
    )


def _document(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout is not None
    lines: list[bytes] = []
    while not lines or lines[-1] != b"}\n":
        lines.append(process.stdout.readline())
        if not lines[-1]:
            raise SystemExit("The server ended before it was up.")
    return b"".join(lines)


def files() -> Iterator[bytes]:
    """Texts of 100 KB, each from another place in the meetings, with headings now and then."""
    with gzip.open(DATA / "explainmeetsum" / "sentences.jsonl.gz", "rt") as file:
        sentences = [json.loads(line)["text"] for line in file]
    number = 0
    while True:
        number += 1
        lines, size, at = [f"# Meeting {number}"], 0, number * 977
        while size < KILOBYTES * 1024:
            sentence = sentences[at % len(sentences)]
            at += 1
            lines.append(f"\n## Topic {at}\n" if at % 60 == 0 else sentence)
            size += len(lines[-1]) + 1
        yield "\n".join(lines).encode()[: KILOBYTES * 1024]


async def measure_uploads(quick: bool) -> dict[str, float]:
    """Acknowledgements while the worker is busy; then how long until every file can be found."""
    acknowledged, read = (20, 2) if quick else (200, 8)
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        async with serving(Path(folder)) as server:
            made = files()
            await _through(server, [next(made)])
            chunks_before = await _chunks(server)
            began = time.perf_counter()
            await _through(server, [next(made) for _ in range(read)])
            seconds = time.perf_counter() - began
            chunks = await _chunks(server) - chunks_before
            memory = server.memory_mb()
            waits = [await _upload(server, next(made)) for _ in range(acknowledged)]
    p95 = float(np.quantile([wait for wait, _ in waits], 0.95))
    print(f"Upload of {KILOBYTES} KB acknowledged: p50 {np.median([w for w, _ in waits]):.1f} ms, p95 {p95:.1f} ms")
    print(f"Read, chunked, embedded and stored: {read / seconds:.2f} documents/s, {chunks / seconds:.1f} chunks/s")
    print(f"Server with its worker and the embedding model: {memory:.0f} MB at most")
    return {"ack_p95_ms": p95, "docs_per_s": read / seconds, "chunks_per_s": chunks / seconds, "rss_mb": memory}


async def _upload(server: Serving, content: bytes) -> tuple[float, str]:
    began = time.perf_counter()
    answer = await server.client.post("/v1/ingest", files={"file": ("meeting.md", content)})
    wait = (time.perf_counter() - began) * 1000
    answer.raise_for_status()
    return wait, answer.json()["run_id"]


async def _through(server: Serving, contents: list[bytes]) -> None:
    """Upload these, and wait until each has been read."""
    runs = [(await _upload(server, content))[1] for content in contents]
    deadline = time.perf_counter() + PATIENCE
    for run in runs:
        while (status := (await server.client.get(f"/v1/ingestion-runs/{run}")).json()["status"]) != "succeeded":
            if status == "failed" or time.perf_counter() > deadline:
                raise SystemExit(f"Run {run} is {status}.")
            await asyncio.sleep(0.1)


async def _chunks(server: Serving) -> int:
    documents = (await server.client.get("/v1/documents", params={"limit": 100})).json()
    return sum(one["chunk_count"] for one in documents["items"])
