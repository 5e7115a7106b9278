"""Jobs of the caller's tenant: see them, and as an administrator retry and cancel them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel

from mnemon.api.access import MnemonPart, allow
from mnemon.api.paging import Cursor, Limit, Page, from_cursor, to_cursor
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action, Principal
from mnemon.work import jobs
from mnemon.work.jobs import JobDetail, JobStatus, JobSummary, KindCounts

router = APIRouter(tags=["jobs"])
Viewer = Annotated[Principal, allow(Action.VIEW_JOBS)]
Admin = Annotated[Principal, allow(Action.MANAGE_JOBS)]


class JobStats(BaseModel):
    kinds: list[KindCounts]
    workers_alive: int


@router.get("/jobs", summary="List jobs, newest first")
async def list_jobs(
    mnemon: MnemonPart,
    principal: Viewer,
    status: JobStatus | None = None,
    kind: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[JobSummary]:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        page = await jobs.page_of_jobs(tx, limit + 1, _position(cursor), status=status, kind=kind)
    following = to_cursor(str(page[limit - 1].job_id)) if len(page) > limit else None
    return Page[JobSummary](items=page[:limit], next_cursor=following)


@router.get("/jobs/stats", summary="Count unfinished and failed jobs by kind")
async def job_stats(mnemon: MnemonPart, principal: Viewer) -> JobStats:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        counts = await jobs.count_jobs(tx)
        workers = await jobs.list_workers(tx)
    return JobStats(kinds=counts, workers_alive=sum(worker.alive for worker in workers))


@router.get("/jobs/{job_id}", summary="One job, with its payload, result and errors")
async def get_job(job_id: UUID, mnemon: MnemonPart, principal: Viewer) -> JobDetail:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        return await jobs.job_by_id(tx, job_id)


@router.post("/jobs/{job_id}/retry", summary="Start a failed job over, or a waiting one now")
async def retry_job(job_id: UUID, mnemon: MnemonPart, principal: Admin) -> JobDetail:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        return await jobs.retry_job(tx, job_id)


@router.post("/jobs/{job_id}/cancel", summary="End a job that waits or runs")
async def cancel_job(job_id: UUID, mnemon: MnemonPart, principal: Admin) -> JobDetail:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        return await jobs.cancel_job(tx, job_id)


def _position(cursor: str | None) -> UUID | None:
    position = from_cursor(cursor)
    try:
        return UUID(position) if position is not None else None
    except (ValueError, TypeError, AttributeError):
        raise InvalidRequest("This cursor is not one that a page of jobs gave: leave it out to start over.") from None
