"""Jobs per second beside procrastinate and PgQueuer, enqueues per second, and the delay from commit to start.

Every system gets the same server with its default durability, its own database, and empty jobs. Workers are running
and idle when the jobs arrive in one commit; the clock runs from that commit until no job is left. Our enqueue and our
finish wait for the disk, our claim does not (docs/decisions, leases and fencing); PgQueuer waits for both.
"""

import asyncio
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import psycopg
import structlog
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pydantic import BaseModel

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import migrate
from mnemon.ids import new_uuid
from mnemon.work.enqueue import enqueue, enqueue_many
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind, NoPayload
from mnemon.work.worker import Worker

QUICK = bool(os.environ.get("QUICK"))
JOBS = 3_000 if QUICK else 20_000
ROUNDS = 1 if QUICK else 3
STARTS = 200 if QUICK else 1_000
# Another tenant's queue, and the lone jobs that come while it is worked off.
QUEUE = 10_000 if QUICK else 100_000
LONE = 20 if QUICK else 50
SLOTS = 100
# Procrastinate takes its jobs one by one: a tenth of them shows its rate as well.
JOBS_OF = {"mnemon": JOBS, "pgqueuer": JOBS, "procrastinate": JOBS // 10}
PEERS = Path(__file__).parent.parent / ".make" / "peers"
REQUIRED = ("procrastinate==3.10.0", "pgqueuer[asyncpg]==1.6.0", "uvloop==0.23.0")
# Jobs that a worker holds at once: a peer's default, and the numbers that we use ourselves. The best one counts.
OUR_SETTINGS = (SLOTS, 3 * SLOTS)
PEER_SETTINGS = {"procrastinate": (10,), "pgqueuer": (10, SLOTS, 3 * SLOTS)}
LEFT = {
    "mnemon": "SELECT count(*) FROM mnemon.jobs WHERE status IN ('PENDING', 'PROCESSING')",
    "procrastinate": "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
    "pgqueuer": "SELECT count(*) FROM pgqueuer",
}

NOTHING = JobKind("bench.nothing", NoPayload)


class Moment(BaseModel):
    committed: float = 0.0


STAMPED = JobKind("bench.stamped", Moment)


@NOTHING.handler
async def nothing(job: Job[NoPayload]) -> None: ...


def main() -> None:
    install_peers()
    with server() as embedded:
        rates = throughput(embedded)
        ours = Database(own_database(embedded, "bench_mnemon_rest"), pool_size=4)
        enqueued, p50, p99 = asyncio.run(enqueue_and_start(ours))
        behind = asyncio.run(start_behind_a_queue(Database(own_database(embedded, "bench_mnemon_queue"), pool_size=4)))
    best = {workers: max(rate for (name, count), rate in rates.items() if name != "mnemon" and count == workers)
            for workers in (1, 4)}  # fmt: skip
    print(f"\n{'empty jobs/s':<16}{'1 worker':>10}{'4 workers':>11}")
    for name in ("mnemon", "pgqueuer", "procrastinate"):
        print(f"{name:<16}{rates[name, 1]:>10,.0f}{rates[name, 4]:>11,.0f}")
    print(f"enqueue in a transaction {enqueued:,.0f}/s; commit to start p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    print(f"a lone job behind {QUEUE:,} of another tenant: started after {behind:.1f} ms (median of {LONE})")
    ratio = min(rates["mnemon", workers] / best[workers] for workers in (1, 4))
    results = {
        "jobs_vs_best_peer": round(ratio, 2),
        "jobs_per_s": round(rates["mnemon", 4]),
        "jobs_per_s_1_worker": round(rates["mnemon", 1]),
        "enqueue_per_s": round(enqueued),
        "start_p50_ms": round(p50, 1),
        "start_p99_ms": round(p99, 1),
        "start_behind_queue_p50_ms": round(behind, 1),
    }
    print(json.dumps({"bench": "work", "results": results}))


def install_peers() -> None:
    """Into an environment of their own: they are no dependency of ours."""
    stamp = PEERS / "installed"
    if stamp.exists() and stamp.read_text() == str(REQUIRED):
        return
    subprocess.run([sys.executable, "-m", "venv", PEERS], check=True)
    subprocess.run([PEERS / "bin" / "pip", "install", "--quiet", *REQUIRED], check=True)
    stamp.write_text(str(REQUIRED))


@contextmanager
def server():
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        embedded = EmbeddedServer(Path(folder), linger_seconds=0)
        embedded.ensure_running()
        wait_for(embedded)
        yield embedded
        embedded.release()


def wait_for(embedded: EmbeddedServer) -> None:
    """The socket answers a moment before the server lets anyone in."""
    for _ in range(200):
        try:
            return psycopg.connect(embedded.owner_conninfo).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise SystemExit("The server does not answer.")


def own_database(embedded: EmbeddedServer, name: str) -> ExternalServer:
    superuser = embedded.cluster.conninfo("postgres")
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER mnemon_owner").format(sql.Identifier(name)))
    with psycopg.connect(make_conninfo(superuser, dbname=name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    made = ExternalServer(
        make_conninfo(embedded.owner_conninfo, dbname=name), make_conninfo(embedded.app_conninfo, dbname=name)
    )
    if "mnemon" in name:
        asyncio.run(prepare(made))
    return made


async def prepare(made: ExternalServer) -> None:
    async with Database(made) as database, database.owner() as owner:
        await migrate(owner)


def throughput(embedded: EmbeddedServer) -> dict[tuple[str, int], float]:
    """The median of the rounds; systems take turns, so that a slow moment of the machine meets them all."""
    measured: dict[tuple[str, int, int], list[float]] = {}
    for turn in range(ROUNDS):
        for workers in (1, 4):
            for name, settings in {"mnemon": OUR_SETTINGS, **PEER_SETTINGS}.items():
                for at_once in settings:
                    made = own_database(embedded, f"bench_{name}_{turn}_{workers}_{at_once}")
                    rate = one_run(name, made, workers, at_once)
                    measured.setdefault((name, workers, at_once), []).append(rate)
                    print(f"{name:<14} {workers} worker(s), {at_once:>3} at once: {rate:>8,.0f} jobs/s", flush=True)
    best: dict[tuple[str, int], float] = {}
    for (name, workers, _), rates in measured.items():
        best[name, workers] = max(best.get((name, workers), 0), statistics.median(rates))
    return best


def one_run(name: str, made: ExternalServer, workers: int, at_once: int) -> float:
    if name == "mnemon":
        base = [sys.executable, __file__, "mnemon"]
    else:
        base = [str(PEERS / "bin" / "python"), str(Path(__file__).parent / "work_peers.py"), name]
        subprocess.run([*base, "install", made.owner_conninfo, "0"], check=True)
    conninfo = made.app_conninfo if name == "mnemon" else made.owner_conninfo
    running = [start(base, conninfo, at_once) for _ in range(workers)]
    try:
        time.sleep(1.0)
        begun = float(
            subprocess.run([*base, "enqueue", conninfo, str(JOBS_OF[name])], check=True, capture_output=True).stdout
        )
        with psycopg.connect(made.owner_conninfo, autocommit=True) as connection:
            deadline = time.time() + 300
            while connection.execute(LEFT[name]).fetchone() != (0,):
                assert time.time() < deadline, f"{name} did not finish"
                time.sleep(0.02)
        return JOBS_OF[name] / (time.time() - begun)
    finally:
        for process in running:
            process.kill()
            process.wait()


def start(base: list[str], conninfo: str, at_once: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([*base, "work", conninfo, str(at_once)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


async def mnemon(action: str, conninfo: str, number: int) -> None:
    """Our own side of `one_run`, in a process of its own like the peers'."""
    async with Database(ExternalServer("", conninfo), pool_size=4) as database:
        if action == "enqueue":
            async with database.transaction(UUID(int=1)) as tx:
                await enqueue_many(tx, NOTHING, [NoPayload()] * number)
            print(time.time(), flush=True)
        else:
            print("ready", flush=True)
            await Worker(database, [NOTHING], slots=number).run()


async def start_behind_a_queue(database: Database) -> float:
    """One tenant's long queue of the same kind is being worked off while another tenant's jobs come one by one."""
    delays: list[float] = []
    left = QUEUE

    @STAMPED.handler
    async def stamped(job: Job[Moment]) -> None:
        nonlocal left
        if job.payload.committed:
            delays.append(time.time() - job.payload.committed)
        else:
            left -= 1

    async with database:
        async with database.transaction(UUID(int=1)) as tx:
            for _ in range(QUEUE // 10_000):
                await enqueue_many(tx, STAMPED, [Moment()] * 10_000)
        worker = Worker(database, [STAMPED], slots=4)
        task = asyncio.create_task(worker.run())
        for number in range(LONE):
            await asyncio.sleep(0.02)
            async with database.transaction(UUID(int=2)) as tx:
                await enqueue(tx, STAMPED, Moment(committed=time.time()))
            while len(delays) <= number:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        assert left > 0, "the queue was empty too soon to show anything"
        worker.stop()
        await task
    return statistics.median(delays) * 1000


async def enqueue_and_start(database: Database) -> tuple[float, float, float]:
    delays: list[float] = []

    @STAMPED.handler
    async def stamped(job: Job[Moment]) -> None:
        delays.append(time.time() - job.payload.committed)

    async with database:
        tenant = new_uuid()
        begun = time.perf_counter()
        count = JOBS // 4
        async with database.transaction(tenant) as tx:
            for _ in range(count):
                await enqueue(tx, NOTHING, NoPayload())
        rate = count / (time.perf_counter() - begun)
        worker = Worker(database, [STAMPED], slots=4)
        task = asyncio.create_task(worker.run())
        await asyncio.sleep(1)
        for number in range(STARTS):
            async with database.transaction(tenant) as tx:
                # The stamp is taken before the commit, so the delay includes it.
                await enqueue(tx, STAMPED, Moment(committed=time.time()))
            await asyncio.sleep(0.002 + number % 7 / 500)
        while len(delays) < STARTS:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        worker.stop()
        await task
    ordered = sorted(delay * 1000 for delay in delays)
    return rate, statistics.median(ordered), ordered[int(len(ordered) * 0.99)]


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    if len(sys.argv) > 1:
        asyncio.run(mnemon(sys.argv[2], sys.argv[3], int(sys.argv[4])))
    else:
        main()
