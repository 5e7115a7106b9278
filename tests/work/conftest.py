"""Fixtures of the work suites: kinds of a test's own, and workers that end with their test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from mnemon.db.database import Database
from mnemon.ids import new_uuid
from mnemon.work.kinds import Backoff, JobKind
from mnemon.work.worker import Worker
from tests.leftovers import drop_leftovers
from tests.patience import PATIENCE


class Note(BaseModel):
    """The payload of most tests."""

    text: str = ""


MakeKind = Callable[..., JobKind[Note]]
RunWorker = Callable[..., Awaitable[Worker]]
Eventually = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
ReadJob = Callable[[UUID], Awaitable[dict[str, Any]]]


@pytest.fixture
def note() -> type[Note]:
    return Note


@pytest.fixture
def make_kind() -> MakeKind:
    """A kind that no other test's worker serves, with fast retries."""

    def make(**options: Any) -> JobKind[Note]:
        options.setdefault("backoff", Backoff(0, 0))
        return JobKind(f"test.{new_uuid().hex}", Note, **options)

    return make


@asynccontextmanager
async def running(worker: Worker) -> AsyncIterator[Worker]:
    await drop_leftovers(worker._database)
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await asyncio.wait_for(task, PATIENCE)


@pytest.fixture
async def run_worker(database: Database) -> AsyncIterator[RunWorker]:
    """Start a worker that stops when the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*kinds: JobKind[Any], **options: Any) -> Worker:
            options.setdefault("poll", 0.2)
            return await stack.enter_async_context(running(Worker(database, kinds, **options)))

        yield start


@pytest.fixture
def read_job(database: Database, tenant: UUID) -> ReadJob:
    async def read(job_id: UUID) -> dict[str, Any]:
        async with database.transaction(tenant) as tx:
            row = await (await tx.execute("SELECT * FROM mnemon.jobs WHERE job_id = %s", (job_id,))).fetchone()
        assert row is not None
        return row

    return read


@pytest.fixture
def eventually() -> Eventually:
    """Ask until the answer is true, within a bound; returns that answer."""

    async def ask(question: Callable[[], Awaitable[Any]]) -> Any:
        async with asyncio.timeout(PATIENCE):
            while not (answer := await question()):  # noqa: ASYNC110  the database has no event to wait for
                await asyncio.sleep(0.02)
            return answer

    return ask


@pytest.fixture
def job_reaches(read_job: ReadJob, eventually: Eventually) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Wait until a job has one of the given statuses."""

    async def reaches(job_id: UUID, *statuses: str) -> dict[str, Any]:
        async def reached() -> dict[str, Any] | None:
            row = await read_job(job_id)
            return row if row["status"] in statuses else None

        row: dict[str, Any] = await eventually(reached)
        return row

    return reaches
