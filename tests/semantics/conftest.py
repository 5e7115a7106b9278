"""A running Mnemon whose workers ingest and extract, for the suites that need a database."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.documents.intake.origin import Origin
from mnemon.documents.intake.receive import accept
from mnemon.documents.jobs import KINDS as DOCUMENT_KINDS
from mnemon.log.events import Actor
from mnemon.semantics.jobs import KINDS
from mnemon.settings import Settings
from mnemon.work.kinds import Backoff
from mnemon.work.model_jobs import EMBED_MISSING, EMBED_PART
from mnemon.work.worker import Worker
from tests.api.conftest import admin, caller_address, client, mnemon, user
from tests.work.conftest import Eventually, eventually, running

__all__ = ["admin", "caller_address", "client", "eventually", "mnemon", "user"]

ADA = Actor("human", "user:ada")
BEN = Actor("human", "user:ben")
Work = Callable[..., Awaitable[Worker]]
Added = Callable[..., Awaitable[UUID]]

UNFINISHED = """
SELECT count(*) AS n FROM mnemon.jobs
 WHERE tenant_id = mnemon.current_tenant() AND status IN ('PENDING', 'PROCESSING') AND kind <> 'documents.purge_files'
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, embedder="none")


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (*KINDS, *DOCUMENT_KINDS):
        monkeypatch.setattr(kind, "backoff", Backoff(0, 0))


@pytest.fixture
def reader() -> Reader:
    return Reader.of(ADA)


@pytest.fixture
async def work(mnemon: Mnemon) -> AsyncIterator[Work]:
    """Start a worker of this Mnemon that stops when the test ends."""
    async with AsyncExitStack() as stack:

        async def start(**options: Any) -> Worker:
            options.setdefault("poll", 0.2)
            kinds = (*DOCUMENT_KINDS, *KINDS, EMBED_MISSING, EMBED_PART)
            return await stack.enter_async_context(running(Worker(mnemon.database, kinds, context=mnemon, **options)))

        yield start


@pytest.fixture
def all_done(mnemon: Mnemon, tenant: UUID, work: Work, eventually: Eventually) -> Callable[[], Awaitable[None]]:
    """Have a worker do everything that the tenant's jobs ask for."""
    started: list[Worker] = []

    async def nothing_left() -> bool:
        async with mnemon.database.transaction(tenant) as tx:
            row = await (await tx.execute(UNFINISHED)).fetchone()
        return row is not None and row["n"] == 0

    async def done() -> None:
        if not started:
            started.append(await work())
        await eventually(nothing_left)

    return done


@pytest.fixture
def added(mnemon: Mnemon, tenant: UUID, tmp_path: Path) -> Added:
    """Upload a text as a file; its document."""

    async def add(text: str, name: str = "minutes.txt", source_uri: str | None = None) -> UUID:
        path = tmp_path / name
        path.write_text(text)
        received = mnemon.files.take_copy(tenant, path)
        outcome = await accept(mnemon.log, mnemon.files, tenant, ADA, received, Origin(source_uri=source_uri))
        return outcome.doc_id

    return add
