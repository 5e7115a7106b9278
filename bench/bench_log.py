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
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from log_workload import DATA_BYTES, ORDER, order
from psycopg.conninfo import conninfo_to_dict

from mnemon.db.database import Connection, Database, connect
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.migrate import migrate
from mnemon.ids import new_uuid
from mnemon.log.events import NewEvent, Scope
from mnemon.log.registry import Registry
from mnemon.log.requests import Limits
from mnemon.log.store import EventLog
from mnemon.log.streams import Stream
from mnemon.log.verify import verify
from mnemon.log.wake import CHANNEL
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
MAIN, LONG = Scope(), Scope("long")

SCRATCH = """
DROP SCHEMA IF EXISTS scratch CASCADE;
CREATE SCHEMA scratch;
CREATE TABLE scratch.events (LIKE mnemon.events_{number} INCLUDING ALL);
CREATE TABLE scratch.event_payloads (LIKE mnemon.event_payloads_{number} INCLUDING ALL);
CREATE TABLE scratch.event_entities (LIKE mnemon.event_entities INCLUDING ALL);
"""
COPIED = {
    "events": ["uuid", "int4", "int8", "text", "text", "timestamptz", "date", "timestamptz", "text", "text", "text",
               "text", "bytea", "bytea", "bytea"],
    "event_payloads": ["uuid", "int4", "int8", "text"],
    "event_entities": ["uuid", "int4", "int4", "int8", "text", "text"],
}  # fmt: skip


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


class Orders:
    """Numbers every order, so that no two are the same."""

    def __init__(self) -> None:
        self.number = 0

    def take(self, count: int, scope: Scope = MAIN) -> list[NewEvent]:
        self.number += count
        return [order(number, scope) for number in range(self.number - count, self.number)]


@dataclass
class Bench:
    """What all measurements share."""

    server: EmbeddedServer
    database: Database
    log: EventLog
    tenant: UUID
    orders: Orders = field(default_factory=Orders)
    rates: Rates = field(default_factory=Rates)

    async def batches(self, count: int, size: int = 100, scope: Scope = MAIN) -> float:
        """Events per second of one caller that appends batch after batch."""
        work = [self.orders.take(size, scope) for _ in range(count)]
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
    """A new embedded server with its default configuration, removed afterwards."""
    home = Path(tempfile.mkdtemp(prefix="mnemon-bench-"))
    home.chmod(0o755)
    server = EmbeddedServer(home, 0)
    try:
        async with Database(server) as database:
            async with database.owner() as owner:
                await migrate(owner)
            limits = Limits(batch_events=1_000)
            async with EventLog(database, registry=Registry(database, [ORDER]), limits=limits) as log:
                yield Bench(server, database, log, new_uuid())
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

    def __init__(self, server: EmbeddedServer) -> None:
        where = conninfo_to_dict(server.owner_conninfo)
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


class BareCopy:
    """The same rows into tables of the same form by COPY, with nothing checked, hashed or looked up."""

    def __init__(self, connection: Connection, rows: dict[str, list[list[tuple[Any, ...]]]]) -> None:
        self._connection = connection
        self._rows = rows
        self._next = 0

    @classmethod
    async def prepare(cls, bench: Bench, batches: int) -> "BareCopy":
        """Rows as the log itself wrote them."""
        connection = await connect(bench.server, bench.server.owner_conninfo)
        rows: dict[str, list[list[tuple[Any, ...]]]] = {}
        number = await bench.log.partitions.number(bench.tenant, "main")
        await connection.execute(SCRATCH.format(number=number))
        for table in COPIED:
            found = await connection.execute(
                f"SELECT * FROM mnemon.{table} WHERE partition_id = {number} AND sequence <= {batches * 100} "
                "ORDER BY sequence", binary=True
            )  # fmt: skip
            split: list[list[tuple[Any, ...]]] = [[] for _ in range(batches)]
            for row in await found.fetchall():
                split[(row["sequence"] - 1) // 100].append(tuple(row.values()))
            rows[table] = split
        return cls(connection, rows)

    async def batches(self, count: int) -> float:
        """Events per second; starts over in empty tables when all rows are in."""
        if self._next + count > len(self._rows["events"]):
            await self.empty()
        began = time.perf_counter()
        for number in range(self._next, self._next + count):
            async with self._connection.transaction():
                for table, types in COPIED.items():
                    await self._copy(table, types, self._rows[table][number])
        self._next += count
        return count * 100 / (time.perf_counter() - began)

    async def empty(self) -> None:
        await self._connection.execute("TRUNCATE scratch.events, scratch.event_payloads, scratch.event_entities")
        self._next = 0

    async def _copy(self, table: str, types: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
        statement = f"COPY scratch.{table} FROM STDIN (FORMAT BINARY)"
        async with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(types)
            for row in rows:
                await copy.write_row(row)

    async def close(self) -> None:
        await self._connection.close()


async def measure_appends(bench: Bench, copy: BareCopy, peer: Peer) -> None:
    for _ in range(ROUNDS):
        bench.rates.add("mnemon", "batch", await bench.batches(BATCHES))
        bench.rates.add("copy", "batch", await copy.batches(BATCHES))
        took = await asyncio.to_thread(peer.ask, do="batch", batches=BATCHES, size=100)
        bench.rates.add("peer", "batch", BATCHES * 100 / took)
        bench.rates.add("mnemon", "single", await bench.singles(SINGLES))
        took = await asyncio.to_thread(peer.ask, do="concurrent", callers=CALLERS, events=SINGLES)
        bench.rates.add("peer", "single", SINGLES / took)


async def measure_two_processes(bench: Bench) -> None:
    """One process into one partition, then two processes into two."""
    writers = [await _Writer.start(bench, name) for name in ("one", "two")]
    for _ in range(ROUNDS):
        bench.rates.add("one", "processes", await _together(writers[:1], BATCHES))
        bench.rates.add("two", "processes", await _together(writers, BATCHES))
    for writer in writers:
        await writer.stop()


@dataclass
class _Writer:
    """Another process with a log of its own, which appends to one partition when told."""

    process: asyncio.subprocess.Process

    @classmethod
    async def start(cls, bench: Bench, legal_entity: str) -> "_Writer":
        process = await asyncio.create_subprocess_exec(
            sys.executable, __file__, "writer", str(bench.server._home), str(bench.tenant), legal_entity,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        writer = cls(process)
        await writer.tell(2)
        await writer.answer()
        return writer

    async def tell(self, batches: int) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{batches}\n".encode())
        await self.process.stdin.drain()

    async def answer(self) -> None:
        assert self.process.stdout
        assert await self.process.stdout.readline() == b"done\n"

    async def stop(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        await self.process.wait()


async def _together(writers: list[_Writer], batches: int) -> float:
    """Events per second of all of them, by the clock of the slowest. Each makes its events before it is told to go."""
    began = time.perf_counter()
    for writer in writers:
        await writer.tell(batches)
    for writer in writers:
        await writer.answer()
    return len(writers) * batches * 100 / (time.perf_counter() - began)


async def run_writer(home: str, tenant: str, legal_entity: str) -> None:
    async with Database(EmbeddedServer(Path(home), 0)) as database:
        log = EventLog(database, registry=Registry(database, [ORDER]))
        bench = Bench(EmbeddedServer(Path(home), 0), database, log, UUID(tenant))
        scope = Scope(legal_entity)
        work = [bench.orders.take(100, scope) for _ in range(BATCHES)]
        while line := await asyncio.to_thread(sys.stdin.readline):
            for batch in work[: int(line)]:
                await log.append(bench.tenant, batch)
            print("done", flush=True)
        await log.close()


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
    """From the acknowledgement of a commit until a listener in another connection has read the event."""
    committed: dict[str, float] = {}
    seen: dict[str, float] = {}
    listener = await connect(bench.server, bench.server.app_conninfo)
    await listener.execute(f"LISTEN {CHANNEL}")
    position = await _length(bench)

    async def follow() -> None:
        nonlocal position
        while len(seen) < READS // 4:
            async for _ in listener.notifies(timeout=0.5, stop_after=1):
                pass
            async for event in bench.log.scan(bench.tenant, legal_entity="long", after=position):
                seen[event.id] = time.perf_counter()
                position = event.sequence

    following = asyncio.create_task(follow())
    for _ in range(READS // 4):
        [appended] = await bench.log.append(bench.tenant, bench.orders.take(1, LONG))
        committed[appended.id] = time.perf_counter()
        await asyncio.sleep(0.005)
    await following
    await listener.close()
    return _p99([seen[event_id] - moment for event_id, moment in committed.items()])


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
        copy = await BareCopy.prepare(bench, BATCHES * 2)
        peer = Peer(bench.server)
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
    asyncio.run(run_writer(*sys.argv[2:]) if sys.argv[1:2] == ["writer"] else main())
