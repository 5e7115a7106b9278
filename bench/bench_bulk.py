"""Bulk embedding by 1, 2 and 4 processes `mnemon work --kinds embed`: chunks per second, each process with one thread.

A process has a home of its own, empty at first, and the database's URL: nothing else is shared. There are `CHUNKS` for
each process, so that no run is over before it says something. The clock runs from the first quarter of the vectors to
the last, and, told apart, to the third quarter: until then nobody has run out of work. At the end one process is killed
half-way and another takes its place. `PROCESSES=1,2,4,8` asks for other counts.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from passages import Passage, add_document, add_tenant, own_database

from mnemon.db.database import Database
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import find_weights
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import NoPayload
from mnemon.work.model_jobs import EMBED_MISSING

QUICK = bool(os.environ.get("QUICK"))
# For each process.
CHUNKS = 320 if QUICK else 1_280
PROCESSES = tuple(int(one) for one in os.environ.get("PROCESSES", "1,2,4").split(","))
TOKENS = 254
PER_DOCUMENT = 40
PATIENCE = 900
MADE = "SELECT count(*) AS made FROM mnemon.chunk_vectors WHERE tenant_id = %s"
ROOT = Path(__file__).parents[1]


def texts(count: int) -> list[str]:
    """Chunks of 256 tokens with the model's two marks, no two alike."""
    files = [ROOT / "LICENSE", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    text = " ".join(word for file in files for word in file.read_text().split())
    spans = ModelTokenizer(find_weights().tokenizer).spans(text)
    starts = (number * 7 for number in range(count))
    assert count * 7 + TOKENS < len(spans), f"{len(spans):,} tokens are too few for {count:,} chunks"
    return [text[spans[at][0] : spans[at + TOKENS - 1][1]] for at in starts]


async def stock_and_ask(database: Database, chunks: list[str]) -> UUID:
    """A tenant with chunks that have no vectors, and the job that finds them."""
    tenant = await add_tenant(database)
    for at in range(0, len(chunks), PER_DOCUMENT):
        some = [Passage(str(at + number), text) for number, text in enumerate(chunks[at : at + PER_DOCUMENT])]
        async with database.transaction(tenant) as tx:
            await add_document(tx, tenant, f"Document {at}", some, None, None)
    async with database.transaction(tenant) as tx:
        await enqueue(tx, EMBED_MISSING, NoPayload(), dedupe_key=EMBED_MISSING.name)
    return tenant


class EmbedWorkers:
    """Processes that know the database's address and nothing else."""

    def __init__(self, database: Database, folder: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MNEMON_")}
        url = {"MNEMON_DATABASE_URL": database.server.owner_conninfo, "MNEMON_EMBEDDER_THREADS": "1"}
        self._environment = kept | url | {"MNEMON_LOG_LEVEL": "ERROR"}
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []

    def join(self) -> None:
        home = Path(tempfile.mkdtemp(dir=self._folder))
        command = [sys.executable, "-m", "mnemon", "work", "--kinds", "embed", "--slots", "1"]
        self._processes.append(subprocess.Popen(command, env=self._environment | {"MNEMON_HOME": str(home)}))

    def kill_first(self) -> None:
        process = self._processes.pop(0)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def leave(self) -> None:
        for one in self._processes:
            one.terminate()
        for one in self._processes:
            one.wait()


async def made(database: Database, tenant: UUID) -> int:
    async with database.owner() as owner:
        return (await (await owner.execute(MADE, (tenant,))).fetchone())["made"]


async def reach(database: Database, tenant: UUID, count: int) -> float:
    """When so many vectors were there."""
    deadline = time.monotonic() + PATIENCE
    while await made(database, tenant) < count:
        assert time.monotonic() < deadline, f"{await made(database, tenant)} of {count} vectors were made"
        await asyncio.sleep(0.05)
    return time.monotonic()


@asynccontextmanager
async def embed_workers(database: Database, folder: Path) -> AsyncIterator[EmbedWorkers]:
    workers = EmbedWorkers(database, folder)
    try:
        yield workers
    finally:
        workers.leave()


@dataclass(frozen=True)
class BulkRate:
    """Chunks per second from the first quarter to the last, and to the third: then every process still has some."""

    to_the_last: float
    in_the_middle: float


async def rate_of(database: Database, workers: EmbedWorkers, chunks: list[str], processes: int) -> BulkRate:
    for _ in range(processes):
        workers.join()
    tenant = await stock_and_ask(database, chunks)
    # All have started and loaded the model by then.
    began = await reach(database, tenant, len(chunks) // 4)
    first = await made(database, tenant)
    turned = await reach(database, tenant, len(chunks) * 3 // 4)
    middle = await made(database, tenant)
    ended = await reach(database, tenant, len(chunks))
    return BulkRate((len(chunks) - first) / (ended - began), (middle - first) / (turned - began))


async def come_and_go(database: Database, workers: EmbedWorkers, chunks: list[str]) -> int:
    """One is killed in the middle and another joins: how many vectors are there at the end."""
    workers.join()
    tenant = await stock_and_ask(database, chunks)
    await reach(database, tenant, len(chunks) // 8)
    workers.kill_first()
    workers.join()
    await reach(database, tenant, len(chunks))
    return await made(database, tenant)


async def main() -> None:
    chunks, results = texts(CHUNKS * max(PROCESSES)), {}
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        async with own_database() as database:
            print(f"{CHUNKS:,} chunks of 256 tokens for each process, {os.cpu_count()} cores", flush=True)
            for processes in PROCESSES:
                async with embed_workers(database, Path(folder)) as workers:
                    rate = await rate_of(database, workers, chunks[: CHUNKS * processes], processes)
                told = f"{rate.to_the_last:6.1f} chunks/s to the last, {rate.in_the_middle:6.1f} in the middle"
                print(f"{processes} processes: {told}", flush=True)
                results[f"chunks_per_s_{processes}"] = round(rate.to_the_last, 1)
                results[f"chunks_per_s_{processes}_middle"] = round(rate.in_the_middle, 1)
            async with embed_workers(database, Path(folder)) as workers:
                kept = await come_and_go(database, workers, chunks[:CHUNKS])
            print(f"one killed, one joined: {kept:,} of {CHUNKS:,} vectors", flush=True)
            results |= {"lost": CHUNKS - kept}
    print(json.dumps({"bench": "bulk", "results": results}))
    assert results["lost"] == 0


if __name__ == "__main__":
    asyncio.run(main())
