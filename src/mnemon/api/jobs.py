"""Jobs of the caller's tenant: see them, and as an administrator retry and cancel them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.paging import Cursor, Limit, Page, from_cursor, to_cursor
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action, Principal
from mnemon.work import jobs
from mnemon.work.jobs import JobStatus

router = APIRouter(tags=["jobs"])
Viewer = Annotated[Principal, allow(Action.VIEW_JOBS)]
Admin = Annotated[Principal, allow(Action.MANAGE_JOBS)]


class JobOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    job_id: UUID
    kind: str
    status: JobStatus
    priority: int
    attempts: int
    max_attempts: int
    next_run_at: datetime | None
    locked_by: str | None
    locked_at: datetime | None
    last_error_code: str | None
    last_error_message: str | None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None


class JobDetailOut(JobOut):
    payload: dict[str, Any]
    dedupe_key: str | None
    lease_until: datetime | None = Field(description="When another worker may take the job, unless heartbeats go on.")
    errors: list[dict[str, Any]] = Field(description="One entry for each attempt that failed, the last twenty.")
    result: dict[str, Any] | None


class KindCountsOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    kind: str
    waiting: int
    delayed: int
    running: int
    dead: int
    oldest_waiting_seconds: float


class JobStats(BaseModel):
    kinds: list[KindCountsOut]
    workers_alive: int


@router.get("/jobs", summary="List jobs, newest first")
async def list_jobs(
    mnemon: MnemonPart,
    principal: Viewer,
    status: JobStatus | None = None,
    kind: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[JobOut]:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        page = await jobs.page_of_jobs(tx, limit + 1, _position(cursor), status=status, kind=kind)
    following = to_cursor(str(page[limit - 1].job_id)) if len(page) > limit else None
    return Page[JobOut](items=[JobOut.model_validate(job) for job in page[:limit]], next_cursor=following)


@router.get("/jobs/stats", summary="Count unfinished and failed jobs by kind")
async def job_stats(mnemon: MnemonPart, principal: Viewer) -> JobStats:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        counts = await jobs.count_jobs(tx)
        workers = await jobs.list_workers(tx)
    kinds = [KindCountsOut.model_validate(one) for one in counts]
    return JobStats(kinds=kinds, workers_alive=sum(worker.alive for worker in workers))


@router.get("/jobs/{job_id}", summary="One job, with its payload, result and errors", response_model=JobDetailOut)
async def get_job(job_id: UUID, mnemon: MnemonPart, principal: Viewer) -> jobs.JobDetail:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        return await jobs.job_by_id(tx, job_id)


@router.post(
    "/jobs/{job_id}/retry", summary="Start a failed job over, or a waiting one now", response_model=JobDetailOut
)
async def retry_job(job_id: UUID, mnemon: MnemonPart, principal: Admin) -> jobs.JobDetail:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        return await jobs.retry_job(tx, job_id)


@router.post("/jobs/{job_id}/cancel", summary="End a job that waits or runs", response_model=JobDetailOut)
async def cancel_job(job_id: UUID, mnemon: MnemonPart, principal: Admin) -> jobs.JobDetail:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        return await jobs.cancel_job(tx, job_id)


def _position(cursor: str | None) -> UUID | None:
    position = from_cursor(cursor)
    try:
        return UUID(position) if position is not None else None
    except (ValueError, TypeError, AttributeError):
        raise InvalidRequest("This cursor is not one that a page of jobs gave: leave it out to start over.") from None
