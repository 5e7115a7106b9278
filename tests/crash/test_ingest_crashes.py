"""A worker may die at any moment of reading a file: the run ends, once, and nothing is left behind or lost."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon, open_mnemon
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.intake.arrival import Outcome
from mnemon.documents.intake.receive import accept
from mnemon.documents.intake.sweep import Ages, sweep_uploads
from mnemon.documents.jobs import KINDS
from mnemon.log.events import SYSTEM
from mnemon.log.read.streams import Stream
from mnemon.settings import Settings
from mnemon.work.kinds import Backoff
from mnemon.work.worker import Worker
from tests.conftest import make_tenant, new_folder
from tests.documents.conftest import files_below, rows
from tests.patience import PATIENCE
from tests.work.conftest import running

sys.path.insert(0, str(Path(__file__).parent))

import ingest_worker

# So long that a busy machine costs nobody a lease; those of the dead are ended by hand.
LEASE = 600.0
THE_DEAD_HOLD_NOTHING = "UPDATE mnemon.jobs SET lease_until = now() WHERE status = 'PROCESSING'"
TEXT = "# Minutes\n\nThe board decided to open an office in Lyon."


@pytest.fixture(scope="module")
async def mnemon(open_folder: Path) -> AsyncIterator[Mnemon]:
    async with open_mnemon(
        Settings(home=new_folder(open_folder, "ingest-crashes"), embedder="none", database_linger_seconds=0)
    ) as opened:
        yield opened


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(INGEST, "backoff", Backoff(0, 0))


@pytest.fixture
async def tenant(mnemon: Mnemon) -> UUID:
    return await make_tenant(mnemon.database)


async def taken_in(mnemon: Mnemon, tenant: UUID, text: str = TEXT) -> Outcome:
    incoming = mnemon.files.receive(tenant, "minutes.md")
    incoming.write(text.encode())
    return await accept(mnemon.log, mnemon.files, tenant, SYSTEM, incoming.complete())


async def kill_worker_at(mnemon: Mnemon, moment: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, ingest_worker.__file__, str(mnemon.settings.home), moment, str(LEASE),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == -signal.SIGKILL
    finally:
        if process.returncode is None:
            # It would take the job of the next test.
            process.kill()
            await process.wait()
    async with mnemon.database.owner() as owner:
        await owner.execute(THE_DEAD_HOLD_NOTHING)


async def ended(mnemon: Mnemon, tenant: UUID, run_id: UUID | None) -> dict[str, Any]:
    """The run, once it has ended."""
    async with asyncio.timeout(PATIENCE):
        while True:
            (run,) = await rows(mnemon, tenant, "SELECT * FROM mnemon.ingestion_runs WHERE run_id = %s", run_id)
            if run["status"] in ("succeeded", "failed"):
                return run
            await asyncio.sleep(0.05)


async def check_one_of_everything(mnemon: Mnemon, tenant: UUID, doc_id: UUID) -> None:
    (version,) = await rows(mnemon, tenant, "SELECT * FROM mnemon.document_revisions")
    assert version["is_active"] and version["version_number"] == 1
    chunks = await rows(mnemon, tenant, "SELECT ordinal, doc_version_id FROM mnemon.chunks ORDER BY ordinal")
    assert [one["ordinal"] for one in chunks] == list(range(version["chunk_count"]))
    assert len(await rows(mnemon, tenant, "SELECT 1 FROM mnemon.revision_texts")) == 1
    assert [blob.read_text() for blob in files_below(mnemon.files.blobs / str(tenant))] == [TEXT]
    await sweep_uploads(mnemon.database, mnemon.files, Ages(orphan_hours=24, failed_hours=24))
    assert files_below(mnemon.files.uploads / str(tenant)) == []


@pytest.mark.slow
@pytest.mark.parametrize("moment", sorted(ingest_worker.MOMENTS))
async def test_a_worker_killed_at_any_moment_leaves_a_run_that_ends(mnemon: Mnemon, tenant: UUID, moment: str) -> None:
    outcome = await taken_in(mnemon, tenant)
    await kill_worker_at(mnemon, moment)
    async with running(Worker(mnemon.database, KINDS, lease=LEASE, poll=0.2, context=mnemon)):
        run = await ended(mnemon, tenant, outcome.run_id)
    assert run["status"] == "succeeded", run["error"]
    assert run["attempts"] == (1 if moment == "committed" else 2)
    await check_one_of_everything(mnemon, tenant, outcome.doc_id)
    page = await mnemon.log.read_page(tenant, Stream.of_entity("document", str(outcome.doc_id)))
    assert [event.type for event in page.events] == ["document.accepted", "document.ingested"]


async def test_the_same_bytes_twice_at_once_with_a_crash_between_are_one_of_everything(
    mnemon: Mnemon, tenant: UUID
) -> None:
    first, second = await asyncio.gather(taken_in(mnemon, tenant), taken_in(mnemon, tenant))
    assert first.doc_id == second.doc_id and first.run_id != second.run_id
    await kill_worker_at(mnemon, "chunks_stored")
    async with running(Worker(mnemon.database, KINDS, lease=LEASE, poll=0.2, context=mnemon)):
        for outcome in (first, second):
            assert (await ended(mnemon, tenant, outcome.run_id))["status"] == "succeeded"
    await check_one_of_everything(mnemon, tenant, first.doc_id)


@pytest.mark.slow
async def test_a_file_that_kills_every_worker_is_given_up_with_the_reason(mnemon: Mnemon, tenant: UUID) -> None:
    outcome = await taken_in(mnemon, tenant)
    for _ in range(3):
        await kill_worker_at(mnemon, "embedding")
    async with running(Worker(mnemon.database, KINDS, lease=LEASE, poll=0.2, context=mnemon)):
        run = await ended(mnemon, tenant, outcome.run_id)
        assert (run["status"], run["attempts"], run["error_code"]) == ("failed", 3, "MAX_ATTEMPTS_EXCEEDED")
        assert "WORKER_LOST" in run["error"]
        # Later files proceed.
        other = await taken_in(mnemon, tenant, "Another file.")
        assert (await ended(mnemon, tenant, other.run_id))["status"] == "succeeded"
