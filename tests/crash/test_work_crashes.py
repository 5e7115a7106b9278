"""Any process may die at any moment: jobs end done or dead, with effects seen once, and nothing runs for ever."""

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from mnemon.db.cluster import running_postmaster
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.migrate import migrate
from mnemon.work.enqueue import enqueue_many

sys.path.insert(0, str(Path(__file__).parent))

import work_process
from work_process import Task

from tests.patience import PATIENCE

# Short for whoever is to die or to be paused, so that others need not wait long for what it held.
LEASE = 2.0
# Long for whoever is to finish: a busy machine costs it nothing.
LONG_LEASE = 600.0
TENANTS = (UUID(int=1), UUID(int=2))
EFFECTS_TABLE = """
CREATE TABLE mnemon.crash_effects (job_id uuid, worker text);
GRANT INSERT, SELECT ON mnemon.crash_effects TO mnemon_app
"""
UNFINISHED = "SELECT count(*) AS left FROM mnemon.jobs WHERE status IN ('PENDING', 'PROCESSING')"

EventuallyTrue = Callable[[Callable[[], Any]], Awaitable[None]]


@dataclass
class Fleet:
    """Worker processes on one embedded server, and the means to kill both."""

    server: EmbeddedServer
    home: Path
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    born: int = 0

    def start(self, name: str | None = None, lease: float = LEASE) -> subprocess.Popen[bytes]:
        """Every second worker's clock is wrong by up to an hour."""
        self.born += 1
        skew = self.chance.uniform(-3600, 3600) if self.born % 2 else 0.0
        arguments = [str(self.home), name or f"w{self.born}", str(lease), str(skew)]
        process = subprocess.Popen(
            [sys.executable, work_process.__file__, *arguments],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self.processes.append(process)
        return process

    def keep_up(self, size: int) -> None:
        self.processes = [process for process in self.processes if process.poll() is None]
        while len(self.processes) < size:
            self.start()

    def kill_one(self) -> None:
        self.chance.choice(self.processes).kill()

    def kill_database(self) -> None:
        postmaster = running_postmaster(self.server.cluster)
        if postmaster is not None:
            os.kill(postmaster, signal.SIGKILL)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def ask(self, question: str) -> list[dict[str, Any]]:
        """As the owner, whatever state the server is in just now."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with psycopg.connect(self.server.owner_conninfo, autocommit=True, row_factory=dict_row) as owner:
                    return owner.execute(question).fetchall()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


@pytest.fixture
def embedded(home: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(home, linger_seconds=0)
    server.ensure_running()
    yield server
    server.release()


@pytest.fixture
async def crash_database(embedded: EmbeddedServer) -> AsyncIterator[Database]:
    async with Database(embedded) as database:
        async with database.owner() as owner:
            await migrate(owner)
            await owner.execute(EFFECTS_TABLE)
        yield database


@pytest.fixture
def fleet(embedded: EmbeddedServer, home: Path) -> Iterator[Fleet]:
    ships = Fleet(embedded, home)
    yield ships
    ships.end()


@pytest.fixture
def eventually_true() -> EventuallyTrue:
    async def ask(question: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not question():  # noqa: ASYNC110  other processes have no event to wait for
                await asyncio.sleep(0.05)

    return ask


async def add_bad_jobs(database: Database) -> None:
    """One or two of every kind that harms its worker."""
    for tenant in TENANTS:
        async with database.transaction(tenant) as tx:
            await enqueue_many(tx, work_process.KILLER, [Task()])
            await enqueue_many(tx, work_process.LEAKER, [Task()])
    async with database.transaction(TENANTS[0]) as tx:
        await enqueue_many(tx, work_process.HANGER, [Task()])


async def add_innocent_jobs(database: Database, count: int) -> None:
    """Even while the database is being killed: what was not acknowledged is added again."""
    work = [Task(milliseconds=number % 40) for number in range(count // 4)]
    for tenant in TENANTS:
        for kind in (work_process.EFFECT, work_process.PLAIN):
            added = False
            while not added:
                with contextlib.suppress(psycopg.OperationalError):
                    async with database.transaction(tenant) as tx:
                        await enqueue_many(tx, kind, work)
                    added = True


async def storm(fleet: Fleet, database: Database, size: int, jobs: int, kills: list[str], patience: float) -> None:
    """Add jobs and kill something at every turn, then let the rest be done."""
    deadline = time.monotonic() + patience
    share = jobs // len(kills)
    fleet.chance.shuffle(kills)
    while kills or fleet.ask(UNFINISHED)[0]["left"]:
        assert time.monotonic() < deadline, fleet.ask("SELECT kind, status, count(*) FROM mnemon.jobs GROUP BY 1, 2")
        fleet.keep_up(size)
        if kills:
            await add_innocent_jobs(database, share)
            (fleet.kill_one if kills.pop() == "worker" else fleet.kill_database)()
        await asyncio.sleep(fleet.chance.uniform(0.3, 1.2))


def check(fleet: Fleet, least: int) -> None:
    """Every claim of the suite, on the rows that are left."""
    jobs = fleet.ask("SELECT * FROM mnemon.jobs")
    effects = [row["job_id"] for row in fleet.ask("SELECT job_id FROM mnemon.crash_effects")]
    assert {job["status"] for job in jobs} <= {"DONE", "FAILED"}
    innocent = [job for job in jobs if job["kind"] in ("crash.effect", "crash.plain")]
    assert len(innocent) >= least
    assert {job["status"] for job in innocent} == {"DONE"}
    assert sorted(effects) == sorted(job["job_id"] for job in innocent if job["kind"] == "crash.effect")
    ends = {
        kind: {(job["last_error_code"], job["errors"][-1]["code"]) for job in jobs if job["kind"] == kind}
        for kind in ("crash.killer", "crash.hanger", "crash.leaker")
    }
    # A kill of the suite's own may come first and end the last attempt in its place.
    killed = ("MAX_ATTEMPTS_EXCEEDED", "WORKER_LOST")
    assert ends["crash.killer"] == {killed}
    assert ends["crash.hanger"] <= {("MAX_ATTEMPTS_EXCEEDED", "TIME_LIMIT"), killed}
    assert ends["crash.leaker"] <= {("MEMORY_LIMIT", "MEMORY_LIMIT"), killed}
    assert all(job["last_error_message"] for job in jobs if job["status"] == "FAILED")
    assert all(job["attempts"] <= job["max_attempts"] for job in jobs)


async def test_a_short_storm_of_crashes_loses_and_doubles_nothing(crash_database: Database, fleet: Fleet) -> None:
    await add_bad_jobs(crash_database)
    await storm(fleet, crash_database, 3, jobs=400, kills=["worker"] * 4 + ["database"], patience=PATIENCE)
    check(fleet, least=380)


@pytest.mark.slow
async def test_a_long_storm_of_crashes_loses_and_doubles_nothing(crash_database: Database, fleet: Fleet) -> None:
    await add_bad_jobs(crash_database)
    await storm(fleet, crash_database, 8, jobs=3000, kills=["worker"] * 26 + ["database"] * 4, patience=600)
    check(fleet, least=3000)


async def test_a_worker_that_was_paused_past_its_lease_cannot_write(
    crash_database: Database, fleet: Fleet, tmp_path: Path, eventually_true: EventuallyTrue
) -> None:
    async with crash_database.transaction(TENANTS[0]) as tx:
        await enqueue_many(tx, work_process.STUBBORN, [Task(folder=str(tmp_path))])
    paused = fleet.start("paused")
    await eventually_true((tmp_path / "paused.began").exists)
    os.kill(paused.pid, signal.SIGSTOP)
    fleet.start("second", LONG_LEASE)
    await eventually_true((tmp_path / "second.began").exists)
    (tmp_path / "gate").touch()
    await eventually_true((tmp_path / "second.verdict").exists)
    os.kill(paused.pid, signal.SIGCONT)
    await eventually_true((tmp_path / "paused.verdict").exists)
    assert (tmp_path / "second.verdict").read_text() == "wrote"
    assert (tmp_path / "paused.verdict").read_text() == "lease lost"
    assert fleet.ask("SELECT worker FROM mnemon.crash_effects") == [{"worker": "second"}]
    (row,) = fleet.ask("SELECT * FROM mnemon.jobs")
    assert (row["status"], row["locked_by"], row["attempts"]) == ("DONE", "second", 2)


async def test_a_terminated_worker_gives_its_job_back_and_ends_well(
    crash_database: Database, fleet: Fleet, eventually_true: EventuallyTrue
) -> None:
    async with crash_database.transaction(TENANTS[0]) as tx:
        await enqueue_many(tx, work_process.EFFECT, [Task(milliseconds=300_000)])
    leaving = fleet.start("leaving")
    await eventually_true(lambda: fleet.ask("SELECT 1 FROM mnemon.jobs WHERE status = 'PROCESSING'"))
    leaving.terminate()
    assert await asyncio.to_thread(leaving.wait, PATIENCE) == 0
    (row,) = fleet.ask("SELECT * FROM mnemon.jobs")
    assert (row["status"], row["attempts"], row["errors"]) == ("PENDING", 0, [])


async def test_a_second_signal_stops_a_worker_hard_and_its_job_goes_on_elsewhere(
    crash_database: Database, fleet: Fleet, tmp_path: Path, eventually_true: EventuallyTrue
) -> None:
    async with crash_database.transaction(TENANTS[0]) as tx:
        await enqueue_many(tx, work_process.STUBBORN, [Task(folder=str(tmp_path))])
    stopped = fleet.start("stopped")
    await eventually_true((tmp_path / "stopped.began").exists)
    stopped.terminate()
    # Its job would hold it for ever: that it ends at all is the second signal's doing.
    async with asyncio.timeout(PATIENCE):
        while stopped.poll() is None:
            stopped.terminate()
            await asyncio.sleep(0.1)
    assert stopped.returncode == 128 + signal.SIGTERM
    (tmp_path / "gate").touch()
    fleet.start("second", LONG_LEASE)
    await eventually_true((tmp_path / "second.verdict").exists)
    assert fleet.ask("SELECT worker FROM mnemon.crash_effects") == [{"worker": "second"}]


@pytest.mark.slow
async def test_a_worker_that_a_job_blocks_for_good_starts_over_and_works_on(
    crash_database: Database, fleet: Fleet, eventually_true: EventuallyTrue
) -> None:
    async with crash_database.transaction(TENANTS[0]) as tx:
        await enqueue_many(tx, work_process.HANGER, [Task()])
    alone = fleet.start("alone")
    await eventually_true(lambda: fleet.ask("SELECT 1 FROM mnemon.jobs WHERE status = 'FAILED'"))
    (row,) = fleet.ask("SELECT * FROM mnemon.jobs")
    assert [error["code"] for error in row["errors"]] == ["TIME_LIMIT"]
    async with crash_database.transaction(TENANTS[0]) as tx:
        await enqueue_many(tx, work_process.EFFECT, [Task()])
    await eventually_true(lambda: fleet.ask("SELECT 1 FROM mnemon.crash_effects"))
    assert alone.poll() is None
