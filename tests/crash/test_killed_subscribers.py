"""kill -9 of projecting and delivering processes at random moments: nothing is skipped, nothing counts twice."""

import asyncio
import os
import random
import signal
import sys
from collections import defaultdict
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.events import Scope
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.log.types.registry import Registry
from tests.conftest import make_tenant
from tests.log.conftest import SHOP, noted, order_placed
from tests.log.shop_lenses import fold_of, lens_tables, rows_of, totals
from tests.patience import PATIENCE

PLACES = ("main", "berlin", "rome")
ROOT = Path(__file__).parents[2]


async def start(database: Database, tenant: UUID, file: Path) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.crash.subscriber",
        database.server.owner_conninfo, database.server.app_conninfo, str(tenant), str(file),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
    )  # fmt: skip
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        assert await process.stdout.readline() == b"ready\n"
    return process


async def kill(process: asyncio.subprocess.Process) -> None:
    process.send_signal(signal.SIGKILL)
    await process.wait()


async def write(log: EventLog, tenant: UUID, stop: asyncio.Event) -> None:
    number = 0
    while not stop.is_set():
        scope = Scope(random.choice(PLACES))
        events = [order_placed(f"{number}-{n}", scope=scope) for n in range(random.randint(1, 9))]
        await log.append(tenant, [*events, noted(scope=scope)])
        await asyncio.sleep(0.005)
        number += 1


def first_times(file: Path) -> dict[str, list[int]]:
    """The sequences of each partition in the order in which they were first delivered."""
    seen: dict[str, dict[int, None]] = defaultdict(dict)
    for line in file.read_text().splitlines():
        place, sequence = line.split()
        seen[place].setdefault(int(sequence))
    return {place: list(sequences) for place, sequences in seen.items()}


async def heads(log: EventLog, tenant: UUID) -> dict[str, list[int]]:
    return {one.legal_entity: list(range(1, one.sequence + 1)) for one in await log.list_partitions(tenant)}


async def until_all_done(log: EventLog, tenant: UUID, file: Path) -> None:
    with log.arrivals.watch() as signal_:
        async with asyncio.timeout(PATIENCE):
            while first_times(file) != await heads(log, tenant) or await rows_of(log, tenant) != await fold_of(
                log, tenant
            ):
                await signal_.wait(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_killed_subscribers_skip_nothing_and_count_nothing_twice(
    own_database: Database, tmp_path: Path, seed: int
) -> None:
    random.seed(seed)
    tenant = await make_tenant(own_database)
    file = tmp_path / "delivered"
    async with lens_tables(own_database), EventLog(own_database, registry=Registry(own_database, SHOP)) as log:
        await log.subscriptions.add(tenant, Subscription("written"))
        stop = asyncio.Event()
        writing = asyncio.create_task(write(log, tenant, stop))
        processes = [await start(own_database, tenant, file) for _ in range(2)]
        for _ in range(8):
            await asyncio.sleep(random.uniform(0.05, 0.8))
            victim = random.randrange(2)
            await kill(processes[victim])
            processes[victim] = await start(own_database, tenant, file)
        stop.set()
        await writing
        await until_all_done(log, tenant, file)
        for process in processes:
            await kill(process)
        projector = Projector(log)
        projector.add(totals(snapshot_every=50))
        before = await projector.state_hash(tenant, "totals")
        assert (await projector.rebuild(tenant, "totals", from_snapshot=False)).state_hash == before


async def test_a_killed_subscriber_is_followed_by_another_which_goes_on(own_database: Database, tmp_path: Path) -> None:
    tenant = await make_tenant(own_database)
    file = tmp_path / "delivered"
    async with lens_tables(own_database), EventLog(own_database, registry=Registry(own_database, SHOP)) as log:
        await log.subscriptions.add(tenant, Subscription("written"))
        for place in PLACES:
            await log.append(tenant, [order_placed(f"{place}-{n}", scope=Scope(place)) for n in range(300)])
        first = await start(own_database, tenant, file)
        async with asyncio.timeout(PATIENCE):
            with log.arrivals.watch() as signal_:
                while not file.exists() or file.stat().st_size < 200:
                    await signal_.wait(0.005)
        await kill(first)
        second = await start(own_database, tenant, file)
        await until_all_done(log, tenant, file)
        await kill(second)
