"""The event log beside pyeventsourcing and bare COPY: one database, durable commits, alternating rounds."""

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from log_copy import BareCopy
from log_processes import Process, opened_mnemon
from log_workload import CLERK, DATA_BYTES, LONG, MAIN, NAMED_CLERK, ORDER, Orders
from psycopg.conninfo import conninfo_to_dict

from mnemon.db.database import Database
from mnemon.ids import new_uuid
from mnemon.log.events import Actor, NewEvent, Scope
from mnemon.log.proof.verify import verify
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
ROUNDS = 3 if QUICK else 9
BATCHES = 20 if QUICK else 50
SINGLES = 1_280 if QUICK else 6_400
CALLERS = 64
SMALL, LARGE = (2_000, 30_000) if QUICK else (10_000, 1_000_000)
READS = 300 if QUICK else 2_000
ROOT = Path(__file__).parents[1]
PEER_FOLDER = ROOT / ".make" / "bench-log"
PEER_PACKAGES = ("eventsourcing[postgres]==9.5.6",)


@dataclass
class Rates:
    """Events per second of each round, by contestant and task."""

    seen: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, who: str, what: str, rate: float) -> None:
        self.seen.setdefault((who, what), []).append(rate)

    def of(self, who: str, what: str) -> float:
        return statistics.median(self.seen[who, what])

    def ratio(self, what: str, who: str, other: str) -> float:
        """The median of the rounds' own ratios, so that a slow minute of the machine weighs on both."""
        pairs = zip(self.seen[who, what], self.seen[other, what], strict=True)
        return statistics.median(one / two for one, two in pairs)


@dataclass
class Bench:
    """What all measurements share."""

    home: Path
    database: Database
    log: EventLog
    tenant: UUID
    orders: Orders = field(default_factory=Orders)
    rates: Rates = field(default_factory=Rates)

    async def batches(self, count: int, size: int = 100, scope: Scope = MAIN, actor: Actor = CLERK) -> float:
        """Events per second of one caller that appends batch after batch."""
        work = [self.orders.take(size, scope, actor) for _ in range(count)]
        began = time.perf_counter()
        for batch in work:
            await self.log.append(self.tenant, batch)
        return count * size / (time.perf_counter() - began)

    async def singles(self, count: int) -> float:
        """Events per second of many callers that each append one event after the other."""
        shares = [self.orders.take(count // CALLERS) for _ in range(CALLERS)]

        async def call(share: list[NewEvent]) -> None:
            for event in share:
                await self.log.append(self.tenant, [event])

        began = time.perf_counter()
        await asyncio.gather(*(call(share) for share in shares))
        return count / (time.perf_counter() - began)


@asynccontextmanager
async def opened() -> AsyncIterator[Bench]:
    """The product as it is opened anywhere, in a home of its own that is removed afterwards."""
    home = Path(tempfile.mkdtemp(prefix="mnemon-bench-"))
    home.chmod(0o755)
    try:
        async with opened_mnemon(home) as mnemon:
            yield Bench(home, mnemon.database, mnemon.log, new_uuid())
    finally:
        await asyncio.to_thread(_until_gone, home)


def _until_gone(home: Path) -> None:
    """The keeper stops the server when its last user has left."""
    for _ in range(100):
        if not (home / "postgres" / "data" / "postmaster.pid").exists():
            break
        time.sleep(0.1)
    shutil.rmtree(home, ignore_errors=True)


class Peer:
    """pyeventsourcing in a process and an environment of its own."""

    def __init__(self, database: Database) -> None:
        where = conninfo_to_dict(database.server.owner_conninfo)
        command = [_peer_python(), str(ROOT / "bench" / "log_peer.py"), where["host"], where["port"], where["dbname"],
                   where["user"], str(DATA_BYTES)]  # fmt: skip
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **what: Any) -> float:
        """Seconds that the peer took."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline())["seconds"])

    def close(self) -> None:
        self._process.communicate(timeout=30)


def _peer_python() -> str:
    python = PEER_FOLDER / "bin" / "python"
    if not (PEER_FOLDER / "ready").exists():
        print("Installing pyeventsourcing (once)", flush=True)
        venv.create(PEER_FOLDER, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER_PACKAGES], check=True)
        (PEER_FOLDER / "ready").touch()
    return str(python)


async def measure_appends(bench: Bench, copy: BareCopy, peer: Peer) -> None:
    for _ in range(ROUNDS):
        bench.rates.add("mnemon", "batch", await bench.batches(BATCHES))
        bench.rates.add("sealed", "batch", await bench.batches(BATCHES, actor=NAMED_CLERK))
        bench.rates.add("copy", "batch", await copy.batches(BATCHES))
        took = await asyncio.to_thread(peer.ask, do="batch", batches=BATCHES, size=100)
        bench.rates.add("peer", "batch", BATCHES * 100 / took)
        bench.rates.add("mnemon", "single", await bench.singles(SINGLES))
        took = await asyncio.to_thread(peer.ask, do="concurrent", callers=CALLERS, events=SINGLES)
        bench.rates.add("peer", "single", SINGLES / took)


async def measure_two_processes(bench: Bench) -> None:
    """One process into one partition, then two processes into two."""
    writers = [await Process.start("writer", bench.home, bench.tenant, name) for name in ("one", "two")]
    for _ in range(ROUNDS):
        bench.rates.add("one", "processes", await _together(writers[:1], BATCHES))
        bench.rates.add("two", "processes", await _together(writers, BATCHES))
    for writer in writers:
        await writer.stop()


async def _together(writers: list[Process], batches: int) -> float:
    """Events per second of all of them, by the clock of the slowest. Each makes its events before it is told to go."""
    began = time.perf_counter()
    for writer in writers:
        await writer.tell(batches)
    for writer in writers:
        assert await writer.answer() == "done"
    rate = len(writers) * batches * 100 / (time.perf_counter() - began)
    for writer in writers:
        assert await writer.answer() == "ready"
    return rate


async def measure_growth(bench: Bench, copy: BareCopy) -> float:
    """Cost per event at a million events over that at ten thousand, each beside COPY into empty tables.

    The yardstick takes out what the machine itself does meanwhile.
    """
    await _fill(bench, SMALL)
    early = await _cost(bench, copy)
    await _fill(bench, LARGE)
    return await _cost(bench, copy) / early


async def _cost(bench: Bench, copy: BareCopy) -> float:
    costs = []
    for _ in range(ROUNDS):
        await copy.empty()
        yardstick = await copy.batches(BATCHES // 5)
        costs.append(yardstick / await bench.batches(BATCHES // 5, scope=LONG))
    return statistics.median(costs)


async def _fill(bench: Bench, target: int) -> None:
    while await _length(bench) < target:
        await asyncio.gather(*(bench.batches(5, 1_000, LONG) for _ in range(2)))


async def _length(bench: Bench) -> int:
    partitions = await bench.log.list_partitions(bench.tenant)
    return next((one.sequence for one in partitions if one.legal_entity == "long"), 0)


def _p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98] * 1_000


async def measure_reads(bench: Bench) -> dict[str, float]:
    """Milliseconds at the 99th percentile, over the large partition."""
    length = await _length(bench)
    ids = [
        event.id
        for place in range(100)
        async for event in bench.log.scan(
            bench.tenant, legal_entity="long", after=place * (length // 100), to=place * (length // 100) + 1
        )
    ]
    by_id, pages = [], []
    for number in range(READS):
        began = time.perf_counter()
        await bench.log.read_event(bench.tenant, ids[number * 37 % len(ids)], "long")
        by_id.append(time.perf_counter() - began)
        began = time.perf_counter()
        stream = (Stream.of_entity("customer", f"C-{number}"), Stream.of_type(ORDER.type), Stream.of_actor("clerk-7"))
        await bench.log.read_page(
            bench.tenant, stream[number % 3], legal_entity="long", direction="backward" if number % 2 else "forward"
        )
        pages.append(time.perf_counter() - began)
    return {"by_id_p99_ms": _p99(by_id), "stream_page_p99_ms": _p99(pages)}


async def measure_delivery(bench: Bench) -> float:
    """From the acknowledgement of a commit until a subscription's handler in another process has the event."""
    subscriber = await Process.start("subscriber", bench.home, bench.tenant, "long")
    committed: dict[str, float] = {}
    for _ in range(READS // 4):
        [appended] = await bench.log.append(bench.tenant, bench.orders.take(1, LONG))
        committed[appended.id] = time.monotonic()
        await asyncio.sleep(0.005)
    handled = dict([(await subscriber.answer()).split() for _ in committed])
    await subscriber.stop()
    return _p99([float(handled[event_id]) - moment for event_id, moment in committed.items()])


async def measure_replay(bench: Bench) -> float:
    """Events per second of a reader that folds the data of every event."""
    began, count, lines = time.perf_counter(), 0, 0
    async for event in bench.log.scan(bench.tenant, legal_entity="long"):
        count += 1
        lines += len(event.data["lines"])
    assert lines == 9 * count
    return count / (time.perf_counter() - began)


async def measure_verify(bench: Bench) -> float:
    began = time.perf_counter()
    report = await verify(bench.log.reader, bench.tenant, "long")
    assert report.intact, report.faults[:3]
    return report.checked / (time.perf_counter() - began)


async def main() -> None:
    configure_logging("WARNING")
    async with opened() as bench:
        await bench.log.append(bench.tenant, bench.orders.take(1))
        async with bench.database.owner() as owner:
            await owner.execute("CREATE SCHEMA peer")
        await bench.batches(max(BATCHES * 2, 40))
        number = await bench.log.partitions.number(bench.tenant, "main")
        copy = await BareCopy.prepare(bench.database, number, BATCHES * 2)
        peer = Peer(bench.database)
        say("growth: filling the long partition")
        results = {"append_growth_1m": await measure_growth(bench, copy)}
        say("appends beside COPY and the peer")
        await measure_appends(bench, copy, peer)
        peer.close()
        say("two processes")
        await measure_two_processes(bench)
        say("reads and delivery")
        results |= await measure_reads(bench)
        results["delivery_p99_ms"] = await measure_delivery(bench)
        say("replay and verification")
        results["replay_per_s"] = await measure_replay(bench)
        results["verify_per_s"] = await measure_verify(bench)
        await copy.close()
        report(bench.rates, results, await _length(bench))


def say(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)


def report(rates: Rates, results: dict[str, float], length: int) -> None:
    results |= {
        "batch_vs_peer": rates.ratio("batch", "mnemon", "peer"),
        "batch_vs_copy": rates.ratio("batch", "mnemon", "copy"),
        "concurrent_single_vs_peer": rates.ratio("single", "mnemon", "peer"),
        "two_partitions_vs_one": rates.ratio("processes", "two", "one"),
    }
    print(
        f"Data of {DATA_BYTES} bytes per event; {ROUNDS} alternating rounds; the long partition has {length:,} events."
    )
    print(f"{'':44}{'events/s':>10}")
    for (who, what), label in {
        ("mnemon", "batch"): "batches of 100, Mnemon",
        ("sealed", "batch"): "batches of 100, Mnemon, actor's name sealed",
        ("copy", "batch"): "batches of 100, bare COPY, same tables",
        ("peer", "batch"): "batches of 100, pyeventsourcing",
        ("mnemon", "single"): f"{CALLERS} callers, single events, Mnemon",
        ("peer", "single"): f"{CALLERS} callers, single events, pyeventsourcing",
        ("one", "processes"): "one process, one partition",
        ("two", "processes"): "two processes, two partitions",
    }.items():
        print(f"{label:44}{rates.of(who, what):>10,.0f}")
    goals = {
        "batch_vs_peer": "at least 1.3", "batch_vs_copy": "at least 0.75", "concurrent_single_vs_peer": "at least 3",
        "two_partitions_vs_one": "at least 1.5", "by_id_p99_ms": "under 5", "stream_page_p99_ms": "under 20",
        "delivery_p99_ms": "under 100", "replay_per_s": "at least 50,000", "verify_per_s": "at least 50,000",
        "append_growth_1m": "at most 1.5",
    }  # fmt: skip
    for key, goal in goals.items():
        print(f"{key:44}{results[key]:>10,.2f}   {goal}")
    print(json.dumps({"bench": "log", "results": {key: round(results[key], 3) for key in goals}}))


if __name__ == "__main__":
    asyncio.run(main())
