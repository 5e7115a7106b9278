"""Eight worker processes on one queue by each transport: jobs per second, then the same under kills and restarts.

Under the storm workers are killed at random and the broker is killed and started again; for the table that is the
database itself, and moto's SQS comes back empty, which is worse than Amazon's would. Every job must have been done
once in effect, and none may be left.
"""

import asyncio
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from uuid import UUID

import psycopg
import structlog
from local_services import KEYS, REGION, LocalService, amazon_client, amazon_service, free_port, nats_service
from transport_worker import EFFECT, Effect, settings_of

from mnemon.db.cluster import running_postmaster
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.migrate import migrate
from mnemon.work.enqueue import enqueue_many
from mnemon.work.transports.announcing import Announcer, announcing
from mnemon.work.transports.choose import announcing_transport

QUICK = bool(os.environ.get("QUICK"))
TRANSPORTS = tuple(filter(None, os.environ.get("TRANSPORTS", "postgres,http,nats,sqs").split(",")))
JOBS, WORKERS = (400, 4) if QUICK else (2_000, 8)
KILLS, RESTARTS = (4, 1) if QUICK else (16, 3)
TENANTS = [UUID(int=number) for number in range(1, 5)]
TABLE = """
CREATE TABLE mnemon.bench_effects (job_id uuid NOT NULL);
GRANT INSERT ON mnemon.bench_effects TO mnemon_app
"""
PROGRESS = """
SELECT count(*) FILTER (WHERE status IN ('PENDING', 'PROCESSING')) AS left,
       count(*) FILTER (WHERE status = 'DONE') AS done, count(*) FILTER (WHERE status = 'FAILED') AS failed
  FROM mnemon.jobs WHERE kind = 'bench.effect'
"""
EFFECTS = "SELECT count(*) AS effects, count(DISTINCT job_id) AS jobs FROM mnemon.bench_effects"
QUEUE = "bench-jobs"


class Stage:
    """A database and workers that come back when they are killed."""

    def __init__(self, server: EmbeddedServer, home: Path, transport: str, broker: LocalService | None) -> None:
        self.server, self.home, self.transport, self.broker = server, home, transport, broker
        self.chance = random.Random(19)
        self.ports = [free_port() for _ in range(WORKERS)]
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        match self.transport:
            case "nats":
                return f"nats://127.0.0.1:{self.broker.port}"
            case "sqs":
                return f"http://127.0.0.1:{self.broker.port}/123456789012/{QUEUE}"
            case _:
                return "-"

    def start(self, number: int) -> subprocess.Popen[bytes]:
        script = Path(__file__).parent / "transport_worker.py"
        command = [sys.executable, str(script), str(self.home), self.transport, self.address, str(self.ports[number])]
        return subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | KEYS)

    def start_all(self) -> None:
        self.workers = [self.start(number) for number in range(WORKERS)]
        for one in self.workers:
            assert one.stdout is not None and one.stdout.readline() == b"ready\n"

    def kill_one(self) -> None:
        number = self.chance.randrange(WORKERS)
        self.workers[number].kill()
        self.workers[number].wait()
        self.workers[number] = self.start(number)

    def restart_broker(self) -> None:
        if self.broker is not None:
            self.broker.restart()
            self.prepare()
        elif self.transport == "postgres" and (postmaster := running_postmaster(self.server.cluster)):
            os.kill(postmaster, signal.SIGKILL)

    def prepare(self) -> None:
        if self.transport == "sqs":
            amazon_client("sqs", self.broker.port).create_queue(QueueName=QUEUE)

    def ask(self, question: str) -> dict[str, int]:
        """As the owner, whatever state the server is in just now."""
        while True:
            with suppress(psycopg.OperationalError), psycopg.connect(self.server.owner_conninfo) as owner:
                return owner.cursor(row_factory=psycopg.rows.dict_row).execute(question).fetchone()
            time.sleep(0.1)

    def end(self) -> None:
        for one in self.workers:
            one.kill()
            one.wait()


def broker_of(transport: str, folder: Path) -> LocalService | None:
    return {"nats": lambda: nats_service(folder), "sqs": amazon_service}.get(transport, lambda: None)()


async def add_jobs(database: Database, longest: int) -> None:
    for tenant in TENANTS:
        async with database.transaction(tenant) as tx:
            share = [Effect(milliseconds=number * longest // 10) for number in range(10)]
            await enqueue_many(tx, EFFECT, share * (JOBS // len(TENANTS) // len(share)))


async def all_done(stage: Stage, of: int, at: Callable[[float], None] | None = None) -> None:
    """Wait until nothing is left, telling what part of the work is done."""
    deadline = time.monotonic() + 900
    while True:
        found = await asyncio.to_thread(stage.ask, PROGRESS)
        if at is not None:
            await asyncio.to_thread(at, 1 - (of - found["done"]) / JOBS)
        if found["done"] >= of:
            assert found == {"left": 0, "done": of, "failed": 0}, found
            return
        assert time.monotonic() < deadline and not found["failed"], found
        await asyncio.sleep(0.05)


class Storm:
    """Kills and restarts, each when its part of the work is done."""

    def __init__(self, stage: Stage) -> None:
        restarts = 0 if stage.transport == "http" else RESTARTS
        kills = [((number + 0.5) / KILLS, stage.kill_one) for number in range(KILLS)]
        broken = [((number + 0.6) / RESTARTS, stage.restart_broker) for number in range(restarts)]
        self._due = sorted(kills + broken, key=lambda one: one[0])
        self.restarts = restarts

    def __call__(self, part: float) -> None:
        if self._due and part >= self._due[0][0]:
            self._due.pop(0)[1]()

    @property
    def is_over(self) -> bool:
        return not self._due


async def measure(stage: Stage) -> dict[str, float]:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(EmbeddedServer(stage.home, linger_seconds=0), pool_size=4))
        if stage.broker is not None:
            await asyncio.to_thread(stage.broker.start)
            stack.callback(stage.broker.kill)
        stage.prepare()
        await asyncio.to_thread(stage.start_all)
        stack.callback(stage.end)
        urls = tuple(f"http://127.0.0.1:{port}" for port in stage.ports)
        gateway = announcing_transport(settings_of(stage.home, stage.transport, stage.address, urls))
        if gateway is not None:
            announcer = Announcer(stage.server, gateway, [EFFECT.name], again=5, poll=0.2)
            await stack.enter_async_context(announcing(announcer))
        before = stage.ask(PROGRESS)["done"]
        await add_jobs(database, 0)
        began = time.perf_counter()
        await all_done(stage, before + JOBS)
        rate = JOBS / (time.perf_counter() - began)
        storm = Storm(stage)
        await add_jobs(database, 40)
        began = time.perf_counter()
        await all_done(stage, before + 2 * JOBS, storm)
        seconds = time.perf_counter() - began
        assert storm.is_over
        if gateway is not None:
            stack.push_async_callback(gateway.close)
    found = stage.ask(EFFECTS)
    return {"rate": rate, "storm_s": seconds, "doubled": found["effects"] - found["jobs"], "restarts": storm.restarts,
            "lost": before + 2 * JOBS - found["jobs"]}  # fmt: skip


async def prepare(home: Path) -> None:
    async with Database(EmbeddedServer(home, linger_seconds=0)) as database, database.owner() as owner:
        await migrate(owner)
        await owner.execute(TABLE)


def main() -> None:
    os.environ |= KEYS | {"AWS_DEFAULT_REGION": REGION}
    results: dict[str, float] = {}
    print(f"{WORKERS} worker processes, {JOBS:,} jobs; in the storm {KILLS} kills of workers", flush=True)
    print(f"{'transport':<12}{'jobs/s':>8}{'storm s':>9}{'restarts':>10}{'doubled':>9}{'lost':>6}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)
        server = EmbeddedServer(home, linger_seconds=0)
        server.ensure_running()
        asyncio.run(prepare(home))
        for name in TRANSPORTS:
            found = asyncio.run(measure(Stage(server, home, name, broker_of(name, home / "nats"))))
            print(f"{name:<12}{found['rate']:>8,.0f}{found['storm_s']:>9.1f}{found['restarts']:>10}"
                  f"{found['doubled']:>9}{found['lost']:>6}", flush=True)  # fmt: skip
            results |= {f"{name}_jobs_per_s": round(found["rate"]), f"{name}_storm_s": round(found["storm_s"], 1)}
            for key in ("doubled", "lost"):
                results[key] = results.get(key, 0) + found[key]
        server.release()
    print(json.dumps({"bench": "transports", "results": results}))
    assert results["doubled"] == results["lost"] == 0


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    main()
