"""Ingestion runs of the caller's tenant: follow them, and retry what failed."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.paging import Numbered, PageNumber, PageSize
from mnemon.documents import runs
from mnemon.documents.access import Reader, read_as
from mnemon.documents.runs import Run, RunStatus
from mnemon.identity.roles import Action, Principal

router = APIRouter(tags=["documents"])
Viewer = Annotated[Principal, allow(Action.VIEW_RUNS)]


class RunOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    run_id: UUID
    tenant_id: UUID
    doc_id: UUID
    doc_version_id: UUID | None = Field(description="What the run made, once it has succeeded.")
    job_id: UUID | None
    status: RunStatus
    run_type: str
    source_id: UUID | None
    initiated_by: str
    stage: str | None = Field(description="While it runs: extract, embed or store.")
    attempts: int
    created_at: datetime
    started_at: datetime | None
    updated_at: datetime
    finished_at: datetime | None
    wait_ms: int | None
    processing_ms: int | None
    config: dict[str, Any]
    stats: dict[str, Any] | None
    error_code: str | None
    error: str | None


@router.get("/ingestion-runs", summary="List ingestion runs, newest first")
async def list_runs(
    mnemon: MnemonPart,
    principal: Viewer,
    page: PageNumber = 1,
    limit: PageSize = 20,
    status: RunStatus | None = None,
    doc_id: UUID | None = None,
    run_type: Annotated[str | None, Query(max_length=50)] = None,
) -> Numbered[RunOut]:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await read_as(tx, Reader.of(principal.actor))
        listed = await runs.list_runs(tx, page=page, limit=limit, status=status, doc_id=doc_id, run_type=run_type)
    items = [RunOut.model_validate(one) for one in listed.runs]
    return Numbered[RunOut](items=items, total=listed.total, page=page, limit=limit)


@router.get("/ingestion-runs/{run_id}", summary="One ingestion run, with its timings", response_model=RunOut)
async def get_run(run_id: UUID, mnemon: MnemonPart, principal: Viewer) -> Run:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await read_as(tx, Reader.of(principal.actor))
        return await runs.run_by_id(tx, run_id)


@router.post("/ingestion-runs/{run_id}/retry", summary="Start a failed run over", response_model=RunOut)
async def retry_run(
    run_id: UUID, mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.UPLOAD_DOCUMENTS)]
) -> Run:
    return await runs.retry_run(mnemon.database, mnemon.files, principal.tenant_id, run_id)
