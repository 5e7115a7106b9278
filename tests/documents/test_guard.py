"""The crash guard: who waits is left alone, who is stuck ends with the reason."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.db.database import Database
from mnemon.documents import guard
from mnemon.documents.guard import end_silent_runs, guarding
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.intake.receive import accept
from mnemon.identity.sessions import Sessions
from mnemon.log.events import SYSTEM
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.settings import Settings
from mnemon.work.line import WorkerLine
from mnemon.work.queue import Turns, claim_jobs
from tests.api.conftest import KEY
from tests.conftest import make_tenant
from tests.documents.conftest import rows
from tests.patience import PATIENCE

STALE = timedelta(minutes=15)
HOUR = timedelta(hours=1)


@pytest.fixture
async def alone(own_database: Database, tmp_path: Path) -> AsyncIterator[Mnemon]:
    """A Mnemon whose database no other test's workers have registered in."""
    settings = Settings(home=tmp_path, embedder="none")
    privacy = Privacy(own_database, KeyRing(FileKeys(tmp_path)), DirectoryStore(tmp_path / "archive"))
    yield Mnemon(settings, own_database, privacy, Sessions(own_database, KEY, timedelta(hours=1)))
    await privacy.close()


async def queued(mnemon: Mnemon) -> tuple[UUID, UUID]:
    """A tenant and its one queued run."""
    tenant = await make_tenant(mnemon.database)
    incoming = mnemon.files.receive(tenant, "notes.txt")
    incoming.write(b"Some text.")
    outcome = await accept(mnemon.log, mnemon.files, tenant, SYSTEM, incoming.complete())
    assert outcome.run_id is not None
    return tenant, outcome.run_id


async def claimed(mnemon: Mnemon, *, silent: timedelta, lease: timedelta = timedelta(0)) -> tuple[UUID, UUID]:
    """The same, taken by a worker that gave its last sign so long ago."""
    tenant, run_id = await queued(mnemon)
    line = WorkerLine(mnemon.database.server)
    assert len(await claim_jobs(line, "w", Turns([INGEST]), 1, lease)) == 1
    await line.close()
    async with mnemon.database.owner() as owner:
        await owner.execute("UPDATE mnemon.jobs SET updated_at = now() - %s WHERE status = 'PROCESSING'", (silent,))
    return tenant, run_id


async def run_of(mnemon: Mnemon, tenant: UUID) -> dict[str, Any]:
    (run,) = await rows(mnemon, tenant, "SELECT * FROM mnemon.ingestion_runs")
    return run


async def register(mnemon: Mnemon, *kinds: str) -> None:
    async with mnemon.database.owner() as owner:
        await owner.execute("SELECT mnemon.register_worker('living', 'h', 1, 1, %s)", (list(kinds),))


async def test_a_run_whose_worker_fell_silent_ends_when_no_worker_is_left(alone: Mnemon) -> None:
    tenant, _ = await claimed(alone, silent=timedelta(minutes=16))
    assert (await run_of(alone, tenant))["status"] == "running"
    assert await end_silent_runs(alone.database, STALE) == 1
    run = await run_of(alone, tenant)
    assert (run["status"], run["error_code"]) == ("failed", "WORKER_LOST")
    assert "no heartbeat" in run["error"] and run["finished_at"] is not None


async def test_a_run_that_gave_a_sign_lately_is_not_touched(alone: Mnemon) -> None:
    tenant, _ = await claimed(alone, silent=timedelta(minutes=14))
    assert await end_silent_runs(alone.database, STALE) == 0
    assert (await run_of(alone, tenant))["status"] == "running"


async def test_a_living_worker_gets_the_run_instead(alone: Mnemon) -> None:
    """Its lease ran out: the next worker gives it another attempt, so it is not lost."""
    tenant, _ = await claimed(alone, silent=timedelta(hours=9))
    await register(alone, INGEST.name)
    assert await end_silent_runs(alone.database, STALE) == 0
    async with alone.database.owner() as owner:
        await owner.execute("SELECT * FROM mnemon.rescue_jobs(10)")
    run = await run_of(alone, tenant)
    assert (run["status"], run["attempts"], run["error"]) == ("queued", 1, None)


async def test_a_run_that_waits_without_any_worker_stays_queued(alone: Mnemon) -> None:
    tenant, _ = await queued(alone)
    async with alone.database.owner() as owner:
        await owner.execute("UPDATE mnemon.ingestion_runs SET created_at = now() - interval '3 days'")
    assert await end_silent_runs(alone.database, STALE) == 0
    assert (await run_of(alone, tenant))["status"] == "queued"


async def test_a_run_that_workers_live_beside_but_none_offers_to_read_ends_after_its_hour(alone: Mnemon) -> None:
    tenant, _ = await queued(alone)
    await register(alone, "something.else")
    async with alone.database.owner() as owner:
        ended = "SELECT mnemon.fail_unclaimed_jobs(%s, 100) AS n"
        assert (await (await owner.execute(ended, (HOUR,))).fetchone()) == {"n": 0}
        await owner.execute("UPDATE mnemon.jobs SET next_run_at = now() - interval '61 minutes'")
        assert (await (await owner.execute(ended, (HOUR,))).fetchone()) == {"n": 1}
    run = await run_of(alone, tenant)
    assert (run["status"], run["error_code"], run["started_at"]) == ("failed", "NEVER_PICKED_UP", None)


async def test_the_server_watches_only_after_workers_had_time_to_come_back(
    alone: Mnemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = asyncio.Event()

    async def look(database: Database, silence: timedelta) -> int:
        looked.set()
        return 0

    monkeypatch.setattr(guard, "end_silent_runs", look)
    async with guarding(alone.database, timedelta(0)):
        await asyncio.sleep(0)
    assert not looked.is_set()
    started = asyncio.get_running_loop().time()
    async with guarding(alone.database, timedelta(seconds=0.2)), asyncio.timeout(PATIENCE):
        await looked.wait()
    assert asyncio.get_running_loop().time() - started >= 0.2
