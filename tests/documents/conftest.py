"""A running Mnemon with people in it, files of its own, and workers that end with their test."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.jobs import KINDS
from mnemon.settings import Settings
from mnemon.work.kinds import Backoff
from mnemon.work.worker import Worker
from tests.api.conftest import Person, admin, caller_address, client, mnemon, user
from tests.work.conftest import Eventually, eventually, running

__all__ = ["admin", "caller_address", "client", "eventually", "mnemon", "user"]

Upload = Callable[..., Awaitable[httpx.Response]]
Work = Callable[..., Awaitable[Worker]]
RunReaches = Callable[..., Awaitable[dict[str, Any]]]
Ingested = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Without a model: what is made of a file here does not depend on vectors."""
    return Settings(home=tmp_path, embedder="none", upload_max_size_mb=1)


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(INGEST, "backoff", Backoff(0, 0))


@pytest.fixture
def upload(client: httpx.AsyncClient, user: Person) -> Upload:
    """Send one file, as a browser would."""

    async def send(content: bytes | str, filename: str = "notes.txt", **fields: str) -> httpx.Response:
        data = content.encode() if isinstance(content, str) else content
        return await client.post("/v1/ingest", files={"file": (filename, data)}, data=fields, headers=user.headers)

    return send


@pytest.fixture
async def work(mnemon: Mnemon) -> AsyncIterator[Work]:
    """Start a worker of this Mnemon that stops when the test ends."""
    async with AsyncExitStack() as stack:

        async def start(**options: Any) -> Worker:
            options.setdefault("poll", 0.2)
            return await stack.enter_async_context(running(Worker(mnemon.database, KINDS, context=mnemon, **options)))

        yield start


@pytest.fixture
def run_reaches(client: httpx.AsyncClient, user: Person, eventually: Eventually) -> RunReaches:
    """Wait until a run has one of these statuses; the run as the API shows it."""

    async def reaches(run_id: str, *statuses: str) -> dict[str, Any]:
        async def reached() -> dict[str, Any] | None:
            run: dict[str, Any] = (await client.get(f"/v1/ingestion-runs/{run_id}", headers=user.headers)).json()
            return run if run["status"] in statuses else None

        found: dict[str, Any] = await eventually(reached)
        return found

    return reaches


@pytest.fixture
def ingested(upload: Upload, work: Work, run_reaches: RunReaches) -> Ingested:
    """Upload a file and see its run through; the run."""
    started: list[Worker] = []

    async def through(content: bytes | str, filename: str = "notes.txt", **fields: str) -> dict[str, Any]:
        answer = await upload(content, filename, **fields)
        assert answer.status_code == 202, answer.text
        if not started:
            started.append(await work())
        return await run_reaches(answer.json()["run_id"], "succeeded", "failed")

    return through


async def rows(mnemon: Mnemon, tenant: UUID, statement: str, *values: Any) -> list[dict[str, Any]]:
    async with mnemon.database.transaction(tenant) as tx:
        return await (await tx.execute(statement, values)).fetchall()


async def counts(mnemon: Mnemon, tenant: UUID) -> dict[str, int]:
    """How many rows the tenant has."""
    tables = ("documents", "document_revisions", "ingestion_runs")
    count = "SELECT count(*) AS n FROM mnemon."
    return {table: (await rows(mnemon, tenant, count + table))[0]["n"] for table in tables}


def files_below(folder: Path) -> list[Path]:
    return sorted(one for one in folder.rglob("*") if one.is_file())
