"""A worker may be killed at any moment of an import: the next one goes on, and all ends as if nothing had happened."""

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
from mnemon.mail.consensus.job import READ_CONSENSUS
from mnemon.mail.jobs import KINDS
from mnemon.mail.storing import batch, importing
from mnemon.mail.storing.importing import IMPORT_JOB
from mnemon.mail.storing.passages import PASSAGES
from mnemon.settings import Settings
from mnemon.work.kinds import Backoff
from mnemon.work.worker import Worker
from tests.conftest import make_tenant
from tests.mail.conftest import mail_state, message, write_mbox
from tests.patience import PATIENCE
from tests.work.conftest import running

sys.path.insert(0, str(Path(__file__).parent))

import mail_worker

pytestmark = pytest.mark.slow
# So long that a busy machine costs nobody a lease; those of the dead are ended by hand.
LEASE = 600.0
THE_DEAD_HOLD_NOTHING = "UPDATE mnemon.jobs SET lease_until = now() WHERE status = 'PROCESSING'"
UNDONE = "SELECT kind, status FROM mnemon.jobs WHERE kind LIKE 'mail.%' AND status <> 'DONE'"
# What follows the messages: their passages, and what their threads came to.
MORE = {
    "chunks": "SELECT ordinal, start_offset, end_offset, tokens FROM mnemon.chunks ORDER BY 4, 3, 2, 1",
    "consensus": "SELECT thread_key, consensus_type, confidence, unresolved, read_by, found FROM mnemon.mail_consensus "
    "ORDER BY thread_key",
}


@pytest.fixture(scope="module")
async def mnemon(open_folder: Path) -> AsyncIterator[Mnemon]:
    home = open_folder / "mail-crashes"
    async with open_mnemon(Settings(home=home, embedder="none", database_linger_seconds=0)) as opened:
        yield opened


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "MOST_MESSAGES", 5)
    for kind in (IMPORT_JOB, PASSAGES, READ_CONSENSUS):
        monkeypatch.setattr(kind, "backoff", Backoff(0, 0))


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Nineteen messages in three threads, one of them a vote."""
    mails = [message(1, "Shall we ship?\n")] + [message(n, f"> Shall\n\nAnswer {n}.\n", to=1) for n in range(2, 12)]
    mails += [message(20, "Please vote.\n", subject="[VOTE] Ship")]
    mails += [message(n, "+1 (binding)\n", subject="[VOTE] Ship", to=20) for n in range(21, 25)]
    mails += [message(n, "Late.\n", subject="Gone", to=77) for n in range(30, 33)]
    return write_mbox(tmp_path / "list.mbox", mails)


async def begin(mnemon: Mnemon, tenant: UUID, archive: Path) -> None:
    received = mnemon.files.take_copy(tenant, archive)
    async with mnemon.database.transaction(tenant) as tx:
        await importing.add_import(tx, received.run_id, "list", "file", "x", importing.SYSTEM)


async def ended(mnemon: Mnemon, tenant: UUID) -> dict[str, Any]:
    """All that there is once every job is done, less what is called otherwise in each tenant."""
    async with asyncio.timeout(PATIENCE):
        while True:
            async with mnemon.database.transaction(tenant) as tx:
                left = await (await tx.execute(UNDONE)).fetchall()
                more = {name: await (await tx.execute(rows)).fetchall() for name, rows in MORE.items()}
            assert not any(row["status"] == "FAILED" for row in left), left
            if not left and more["consensus"]:
                break
            await asyncio.sleep(0.05)
    gone = {"doc_id", "doc_version_id"}
    state = await mail_state(mnemon, tenant)
    kept = {name: [{key: row[key] for key in row if key not in gone} for row in rows] for name, rows in state.items()}
    kept["texts"].sort(key=str)
    return kept | more


@pytest.mark.parametrize("moment", list(mail_worker.MOMENTS))
async def test_a_killed_worker_leaves_no_trace(moment: str, mnemon: Mnemon, archive: Path) -> None:
    tenant, undisturbed = await make_tenant(mnemon.database), await make_tenant(mnemon.database)
    await begin(mnemon, undisturbed, archive)
    async with running(Worker(mnemon.database, KINDS, context=mnemon, poll=0.1)):
        expected = await ended(mnemon, undisturbed)
    await begin(mnemon, tenant, archive)
    process = await asyncio.create_subprocess_exec(
        sys.executable, mail_worker.__file__, str(mnemon.settings.home), moment, str(LEASE),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE):
        assert await process.wait() == -signal.SIGKILL
    async with mnemon.database.owner() as owner:
        await owner.execute(THE_DEAD_HOLD_NOTHING)
    async with running(Worker(mnemon.database, KINDS, context=mnemon, poll=0.1, lease=LEASE)):
        assert await ended(mnemon, tenant) == expected
