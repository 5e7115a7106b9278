"""What a user may do with jobs: see those of the tenant, count, retry and cancel them. The operator sees all."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol
from uuid import UUID

from pydantic import Field

from mnemon.db.database import Connection, Database
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import Action, user_actor_id
from mnemon.inputs import Cursor, Maybe, from_cursor, page_of
from mnemon.operations import EVERY_TENANT, Caller, Door, Input, Output, operation
from mnemon.work import jobs
from mnemon.work.errors import JobNotCancellable, JobNotRetriable
from mnemon.work.jobs import JobDetail, JobStatus, JobSummary, KindCounts, WorkerState

NO_TOOLS: dict[Door, str] = {
    "mcp": "Agents are told how their own work fares by the tools that begin it.",
}
ONE = {"job_id": "018f4d1e-0000-7000-8000-000000000001"}


class Parts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> Database: ...


class JobsAsked(Input):
    """Which jobs."""

    status: Maybe[JobStatus] = Field(None, description="Only jobs in this state.")
    kind: Maybe[str] = Field(None, max_length=100, description="Only jobs of this kind.")
    limit: int = Field(100, ge=1, le=1000, description="Most jobs on this page.")
    cursor: Cursor = None


class JobAsked(Input):
    """One job."""

    job_id: UUID = Field(description="The job, as the list of jobs names it.")


class NoChoice(Input):
    """All of them."""


class JobPage(Output):
    """A page of jobs; the last one has no cursor."""

    items: list[JobSummary]
    next_cursor: str | None


class JobStats(Output):
    """How much there is to do, and who does it."""

    kinds: list[KindCounts]
    workers_alive: int
    workers: list[WorkerState] = Field(default_factory=list, description="For the operator: they serve all tenants.")


@operation("jobs.list", Action.VIEW_JOBS, read_only=True, example={"status": "FAILED"}, absent=NO_TOOLS)
async def list_jobs(mnemon: Parts, caller: Caller, asked: JobsAsked) -> JobPage:
    """List jobs, newest first."""
    before = _position(asked.cursor)
    async with _seen_by(caller, mnemon.database) as tx:
        found = await jobs.page_of_jobs(
            tx, asked.limit + 1, before, status=asked.status, kind=asked.kind, reader=_reader(caller)
        )
    return JobPage(**page_of(found, asked.limit, lambda one: one.job_id))


@operation("jobs.stats", Action.VIEW_JOBS, read_only=True, example={}, absent=NO_TOOLS)
async def stats(mnemon: Parts, caller: Caller, asked: NoChoice) -> JobStats:
    """Count unfinished and failed jobs by kind."""
    async with _seen_by(caller, mnemon.database) as tx:
        counts, workers = await jobs.count_jobs(tx, reader=_reader(caller)), await jobs.list_workers(tx)
    told = JobStats(kinds=counts, workers_alive=sum(worker.alive for worker in workers))
    if caller.principal is None:
        told.workers = workers
    return told


@operation("jobs.get", Action.VIEW_JOBS, read_only=True, errors=(NotFound,), example=ONE, absent=NO_TOOLS)
async def get(mnemon: Parts, caller: Caller, asked: JobAsked) -> JobDetail:
    """One job, with its payload, its result, and the error of each attempt."""
    async with _seen_by(caller, mnemon.database) as tx:
        return await jobs.job_by_id(tx, asked.job_id, reader=_reader(caller))


@operation("jobs.retry", Action.MANAGE_JOBS, errors=(NotFound, JobNotRetriable), example=ONE, absent=NO_TOOLS)
async def retry(mnemon: Parts, caller: Caller, asked: JobAsked) -> JobDetail:
    """Start a failed job over with all its attempts, or a waiting one now."""
    return await _changed(mnemon, caller, asked.job_id, jobs.retry_job)


@operation("jobs.cancel", Action.MANAGE_JOBS, errors=(NotFound, JobNotCancellable), example=ONE, absent=NO_TOOLS)
async def cancel(mnemon: Parts, caller: Caller, asked: JobAsked) -> JobDetail:
    """End a job that waits or runs."""
    return await _changed(mnemon, caller, asked.job_id, jobs.cancel_job)


def _reader(caller: Caller) -> str | None:
    """A role adds nothing: an administrator hears of no private file either. The operator sees all."""
    return user_actor_id(caller.principal.user_id) if caller.principal is not None else None


@asynccontextmanager
async def _seen_by(caller: Caller, database: Database) -> AsyncIterator[Connection]:
    """A credential reaches the jobs of its tenant; an operator who names no tenant, those of all."""
    if caller.principal is None and caller.tenant_id == EVERY_TENANT:
        async with database.owner() as owner:
            yield owner
    else:
        async with database.transaction(caller.tenant_id) as tx:
            yield tx


async def _changed(
    mnemon: Parts, caller: Caller, job_id: UUID, change: Callable[..., Awaitable[JobDetail]]
) -> JobDetail:
    """Inside the job's own tenant, whichever that is."""
    async with _seen_by(caller, mnemon.database) as tx:
        found = await jobs.job_by_id(tx, job_id, reader=_reader(caller))
    async with mnemon.database.transaction(found.tenant_id) as tx:
        return await change(tx, job_id, reader=_reader(caller))


def _position(cursor: str | None) -> UUID | None:
    position = from_cursor(cursor)
    try:
        return UUID(position) if position is not None else None
    except ValueError:
        raise InvalidRequest("This cursor is not one that a page of jobs gave: leave it out to start over.") from None
