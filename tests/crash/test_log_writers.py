"""Writers that die, and a database that dies under them: nothing acknowledged is lost, doubled or out of order."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from mnemon.db.cluster import running_postmaster
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.migrate import migrate
from mnemon.errors import MnemonError
from mnemon.ids import new_uuid
from mnemon.log.proof.verify import verify
from mnemon.log.store import EventLog
from mnemon.log.types.registry import Registry
from tests.patience import PATIENCE

from .log_writer import COUNTED, PARTITIONS

PROGRAM = Path(__file__).with_name("log_writer.py")


@dataclass
class Writers:
    """Processes that append, each killed and replaced now and then."""

    server: EmbeddedServer
    tenant: UUID
    folder: Path
    tasks: int
    embedded: bool = False
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    started: int = 0

    def start(self) -> None:
        self.started += 1
        place = [str(self.server._home)] if self.embedded else []
        command = [
            sys.executable, str(PROGRAM), str(self.tenant), str(self.started), str(self.tasks),
            str(self.folder / f"notes-{self.started}"), self.server.app_conninfo, self.server.owner_conninfo, *place,
        ]  # fmt: skip
        self.running.append(subprocess.Popen(command))

    def kill_one(self, choice: random.Random) -> None:
        victim = self.running.pop(choice.randrange(len(self.running)))
        victim.kill()
        victim.wait()

    def kill_all(self) -> None:
        for one in self.running:
            one.kill()
        for one in self.running:
            one.wait()
        self.running.clear()

    def acknowledged(self) -> dict[str, dict[int, str]]:
        """What writers were told, by partition and sequence. A kill may cut the last line short."""
        noted: dict[str, dict[int, str]] = defaultdict(dict)
        for file in self.folder.glob("notes-*"):
            for line in file.read_text().split("\n")[:-1]:
                partition, sequence, key = line.split(" ")
                assert noted[partition].setdefault(int(sequence), key) == key
        return noted


@dataclass
class Watcher:
    """A reader that follows every partition from its cursor, as a subscriber does."""

    log: EventLog
    tenant: UUID
    seen: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in PARTITIONS})
    caught_up: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, count: int) -> None:
        """Return once that many events were seen."""
        while sum(map(len, self.seen.values())) < count:
            self.caught_up.clear()
            await self.caught_up.wait()

    async def follow(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                await self.catch_up()
                self.caught_up.set()
            except (MnemonError, psycopg.Error):
                await asyncio.sleep(0.05)

    async def catch_up(self) -> None:
        for name, seen in self.seen.items():
            async for event in self.log.scan(self.tenant, legal_entity=name, after=len(seen)):
                assert event.sequence == len(seen) + 1, f"{name}: saw {event.sequence} after {len(seen)}"
                seen.append(event.data["key"])


async def check(log: EventLog, tenant: UUID, watcher: Watcher, writers: Writers) -> int:
    """All the promises at once; returns how many events there are."""
    await watcher.catch_up()
    for name, told in writers.acknowledged().items():
        for sequence, key in told.items():
            assert watcher.seen[name][sequence - 1] == key, f"{name} {sequence} is not what was acknowledged"
    everything = [key for seen in watcher.seen.values() for key in seen]
    assert len(everything) == len(set(everything)), "an event is double"
    for name in PARTITIONS:
        report = await verify(log.reader, tenant, name)
        assert report.intact, report.faults[:3]
    return len(everything)


async def test_killed_writers_lose_nothing_that_was_acknowledged(
    server: EmbeddedServer, database: Database, tenant: UUID, home: Path
) -> None:
    log = EventLog(database, registry=Registry(database, [COUNTED]))
    watcher, stop = Watcher(log, tenant), asyncio.Event()
    writers = Writers(server, tenant, home, tasks=5)
    following = asyncio.create_task(watcher.follow(stop))
    try:
        for _ in range(3):
            writers.start()
        async with asyncio.timeout(PATIENCE):
            for target in (20, 60):
                await watcher.until(target)
                writers.kill_one(random.Random(target))
                writers.start()
            await watcher.until(150)
    finally:
        writers.kill_all()
        stop.set()
        await following
    assert await check(log, tenant, watcher, writers) >= 150


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
async def test_forty_writers_survive_kills_of_clients_and_of_postgresql(home: Path, seed: int) -> None:
    choice = random.Random(seed)
    server = EmbeddedServer(home, 0)
    server.ensure_running()
    tenant = new_uuid()
    async with Database(server) as database:
        async with database.owner() as owner:
            await migrate(owner)
        log = EventLog(database, registry=Registry(database, [COUNTED]))
        watcher, stop = Watcher(log, tenant), asyncio.Event()
        writers = Writers(server, tenant, home, tasks=10, embedded=True)
        following = asyncio.create_task(watcher.follow(stop))
        try:
            for _ in range(4):
                writers.start()
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                await asyncio.sleep(choice.uniform(0.5, 3))
                if choice.random() < 0.3:
                    postmaster = running_postmaster(server.cluster)
                    if postmaster is not None:
                        os.kill(postmaster, signal.SIGKILL)
                else:
                    writers.kill_one(choice)
                    writers.start()
        finally:
            writers.kill_all()
            stop.set()
            await following
        assert await check(log, tenant, watcher, writers) > 500
        await log.close()
