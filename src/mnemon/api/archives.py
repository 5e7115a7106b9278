"""The archive over REST: move old payloads out of the database and back, as jobs, and see what is there."""

from datetime import UTC, date, datetime, time
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.errors import NotFound
from mnemon.identity.roles import Action, Principal
from mnemon.log.append.incoming import LegalEntity
from mnemon.log.events import MAIN
from mnemon.log.privacy.archive import Archived
from mnemon.work.enqueue import enqueue
from mnemon.work.jobs import JobDetail, JobStatus, job_by_id
from mnemon.work.log_jobs import ARCHIVE, RESTORE, Archiving, Restoring

router = APIRouter(tags=["archive"])
Keeper = Annotated[Principal, allow(Action.MANAGE_LOG)]
Sequence = Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]


class NewArchiving(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"legal_entity": "main", "before": "2025-01-01"}]}
    )
    legal_entity: LegalEntity = MAIN
    before: date = Field(description="Payloads recorded before this day (UTC) move.")


class NewRestoring(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"legal_entity": "main", "first_sequence": "1", "last_sequence": "5000"}]},
    )
    legal_entity: LegalEntity = MAIN
    first_sequence: Sequence = "1"
    last_sequence: Sequence | None = Field(None, description="All from the first on, unless given.")


class MoveResult(BaseModel):
    legal_entity: str
    payloads: int
    objects: list[str] = Field(description="The archive's objects that they went to or came from.")


class MoveOut(BaseModel):
    job_id: UUID
    status: JobStatus
    created_at: datetime
    finished_at: datetime | None
    error_code: str | None
    error: str | None = Field(description="Why nothing, or not all, was moved.")
    result: MoveResult | None


class ArchivedOut(BaseModel):
    first_sequence: str
    last_sequence: str
    object_key: str
    object_digest: str
    object_bytes: int
    payload_bytes: int
    archived_at: datetime


@router.get("/archives", summary="Payloads that are in the archive store")
async def list_archives(
    mnemon: MnemonPart, principal: Keeper, legal_entity: Annotated[str, Query(max_length=100)] = MAIN
) -> list[ArchivedOut]:
    return [_archived(one) for one in await mnemon.privacy.archive.objects(principal.tenant_id, legal_entity)]


@router.post("/archives", summary="Start to move old payloads to the archive", status_code=202)
async def post_archiving(new: NewArchiving, mnemon: MnemonPart, principal: Keeper) -> MoveOut:
    before = datetime.combine(new.before, time(), UTC)
    wanted = Archiving(legal_entity=new.legal_entity, before=before, actor=principal.actor)
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        job = await enqueue(tx, ARCHIVE, wanted, dedupe_key=f"{new.legal_entity}\n{new.before}")
        return _described(await job_by_id(tx, job.job_id))


@router.post("/archives/restorations", summary="Start to move archived payloads back", status_code=202)
async def post_restoring(new: NewRestoring, mnemon: MnemonPart, principal: Keeper) -> MoveOut:
    last = int(new.last_sequence) if new.last_sequence else None
    wanted = Restoring(legal_entity=new.legal_entity, first=int(new.first_sequence), last=last, actor=principal.actor)
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        job = await enqueue(tx, RESTORE, wanted, dedupe_key=f"{new.legal_entity}\n{wanted.first}\n{last}")
        return _described(await job_by_id(tx, job.job_id))


@router.get("/archives/jobs/{job_id}", summary="How an archiving or a restoration stands")
async def get_move(job_id: UUID, mnemon: MnemonPart, principal: Keeper) -> MoveOut:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        job = await job_by_id(tx, job_id)
    if job.kind not in (ARCHIVE.name, RESTORE.name):
        raise NotFound(f"Job {job_id} neither archives nor restores.", job_id=str(job_id))
    return _described(job)


def _described(job: JobDetail) -> MoveOut:
    failed = job.status == "FAILED"
    return MoveOut(
        job_id=job.job_id,
        status=job.status,
        created_at=job.created_at,
        finished_at=job.finished_at,
        error_code=job.last_error_code if failed else None,
        error=job.last_error_message if failed else None,
        result=MoveResult.model_validate(job.result) if job.result else None,
    )


def _archived(one: Archived) -> ArchivedOut:
    return ArchivedOut(
        first_sequence=str(one.first_sequence),
        last_sequence=str(one.last_sequence),
        object_key=one.object_key,
        object_digest=one.object_digest.hex(),
        object_bytes=one.object_bytes,
        payload_bytes=one.payload_bytes,
        archived_at=one.changed_at,
    )
