"""A running Mnemon with mail, as the tests of mail have it, and a worker that sends what is published."""

from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.mail.jobs import KINDS
from mnemon.reports.delivery.delivering import DELIVER
from mnemon.reports.delivery.following import RecipientFollower
from mnemon.reports.failures import RECORD_STAGE_FAILURE
from mnemon.reports.jobs import SUMMARIZE
from mnemon.work.kinds import Backoff
from mnemon.work.worker import Worker
from tests.mail.conftest import (
    admin,
    caller_address,
    client,
    eventually,
    imported,
    mail_worker,
    mnemon,
    quick_retries,
    settings,
    user,
)  # fmt: skip
from tests.work.conftest import Eventually, running

SENDING = (*KINDS, SUMMARIZE, DELIVER, RECORD_STAGE_FAILURE)
Settle = Callable[[], Any]

__all__ = [
    "admin", "caller_address", "client", "eventually", "imported", "mail_worker", "mnemon", "quick_retries",
    "settings", "user",
]  # fmt: skip


@pytest.fixture
async def worker(mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worker]:
    monkeypatch.setattr(DELIVER, "backoff", Backoff(0, 0))
    async with running(Worker(mnemon.database, SENDING, context=mnemon, poll=0.1)) as one:
        yield one


@pytest.fixture
def settled(mnemon: Mnemon, tenant: UUID, eventually: Eventually) -> Settle:
    """Waits until the worker is idle, with nothing in the log of which somebody is to be told."""
    follower = RecipientFollower(mnemon.log)

    async def at_rest() -> bool:
        async with mnemon.database.transaction(tenant) as tx:
            statement = "SELECT FROM mnemon.jobs WHERE kind = ANY(%s) AND status IN ('PENDING', 'PROCESSING')"
            names = [kind.name for kind in SENDING]
            return await (await tx.execute(statement, (names,))).fetchone() is None

    async def idle() -> bool:
        if not await at_rest():
            return False
        await follower.catch_up()
        return await at_rest()

    async def wait() -> None:
        await eventually(idle)

    return wait


def use(mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch, **changed: Any) -> None:
    monkeypatch.setattr(mnemon, "settings", mnemon.settings.model_copy(update=changed))
