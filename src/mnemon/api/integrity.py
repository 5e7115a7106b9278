"""Integrity over REST: verify, checkpoints, receipts, exports."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.event_models import answer
from mnemon.errors import NotFound
from mnemon.identity.roles import Action, Principal
from mnemon.log.append.incoming import LegalEntity
from mnemon.log.events import MAIN
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.work.enqueue import enqueue
from mnemon.work.jobs import JobDetail, JobStatus, job_by_id
from mnemon.work.log_jobs import VERIFY, Verification

router = APIRouter(tags=["integrity"])
Reader = Annotated[Principal, allow(Action.READ_LOG)]
Keeper = Annotated[Principal, allow(Action.MANAGE_LOG)]
OfLegalEntity = Annotated[str, Query(max_length=100)]


class NewVerification(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"legal_entity": "main", "since_checkpoint": True}]}
    )
    legal_entity: LegalEntity = MAIN
    since_checkpoint: bool = Field(False, description="Trust what the last checkpoint attests; check the rest.")


class FaultOut(BaseModel):
    sequence: str
    kind: str
    message: str


class ReportOut(BaseModel):
    legal_entity: str
    intact: bool
    checked: str
    total: str
    position: dict[str, str] = Field(description="Sequence and hash of the last event that was checked.")
    faults: list[FaultOut] = Field(description="What is not as it was recorded, in order.")


class ProgressOut(BaseModel):
    checked: str
    sequence: str = Field(description="The last event that was checked.")
    total: str = Field(description="The last event of the partition when the verification began.")
    faults: str = Field(description="How many were found so far.")


class VerificationOut(BaseModel):
    job_id: UUID
    status: JobStatus
    created_at: datetime
    finished_at: datetime | None
    error: str | None = Field(description="Why the verification itself did not come to an end.")
    progress: ProgressOut | None = Field(description="How far it is; none before the first events are checked.")
    report: ReportOut | None


class NewCheckpoint(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"legal_entity": "main"}]})
    legal_entity: LegalEntity = MAIN


class HandoverOut(BaseModel):
    statement: str = Field(description="The signed text: the next key, time.")
    public_key: str
    signature: str


class CheckpointOut(BaseModel):
    statement: str = Field(
        description="The signed text: partition, sequence, count, head, Merkle root, previous, time."
    )
    public_key: str
    signature: str
    frontier: list[str]
    keys: list[HandoverOut] = Field(
        default_factory=list, description="What each earlier key signed to announce the next one."
    )


class Checkpoints(BaseModel):
    checkpoints: list[CheckpointOut]
    total: int


class ProvenOut(BaseModel):
    event: dict[str, Any] = Field(description="Envelope and payload as they were hashed; personal fields encrypted.")
    path: list[str] = Field(description="Hashes from the event to the checkpoint's root.")


class ReceiptOut(ProvenOut):
    format: str
    checkpoint: CheckpointOut
    redactions: list[ProvenOut] = Field(
        default_factory=list, description="The events that attest what was taken out of the payload, if anything was."
    )


@router.post("/integrity/verifications", summary="Start to verify a partition", status_code=202)
async def post_verification(new: NewVerification, mnemon: MnemonPart, principal: Keeper) -> VerificationOut:
    wanted = Verification(legal_entity=new.legal_entity, since_checkpoint=new.since_checkpoint)
    # Two people who ask at the same time are told of the same run.
    twin = f"{new.legal_entity}\n{new.since_checkpoint}"
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        job = await enqueue(tx, VERIFY, wanted, dedupe_key=twin)
        return _described(await job_by_id(tx, job.job_id))


@router.get("/integrity/verifications/{job_id}", summary="How a verification stands, and what it found")
async def get_verification(job_id: UUID, mnemon: MnemonPart, principal: Reader) -> VerificationOut:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        job = await job_by_id(tx, job_id)
    if job.kind != VERIFY.name:
        raise NotFound(f"Job {job_id} is not a verification.", job_id=str(job_id))
    return _described(job)


@router.post(
    "/integrity/checkpoints",
    summary="Sign how far a partition has come",
    status_code=201,
    response_model_exclude_defaults=True,
)
async def post_checkpoint(new: NewCheckpoint, mnemon: MnemonPart, principal: Keeper) -> CheckpointOut:
    return _shown(await mnemon.integrity.checkpoint(principal.tenant_id, new.legal_entity))


@router.get(
    "/integrity/checkpoints",
    summary="The signed checkpoints of a partition, oldest first",
    response_model_exclude_defaults=True,
)
async def get_checkpoints(mnemon: MnemonPart, principal: Reader, legal_entity: OfLegalEntity = MAIN) -> Checkpoints:
    found = mnemon.integrity.checkpoints.list(principal.tenant_id, legal_entity)
    return Checkpoints(checkpoints=[_shown(one) for one in found], total=len(found))


@router.get("/integrity/export", summary="A partition as lines of JSON that can be checked without Mnemon")
async def get_export(mnemon: MnemonPart, principal: Reader, legal_entity: OfLegalEntity = MAIN) -> StreamingResponse:
    lines = mnemon.integrity.export(principal.tenant_id, legal_entity)
    return StreamingResponse(lines, media_type="application/x-ndjson")


@router.get("/events/{event_id}/receipt", summary="Proof that an event is in the log", response_model=ReceiptOut)
async def get_receipt(
    event_id: Annotated[str, Path(max_length=100)], mnemon: MnemonPart, principal: Reader
) -> Response:
    receipt = await mnemon.integrity.receipt(principal.tenant_id, event_id)
    return answer(receipt.as_json())


def _described(job: JobDetail) -> VerificationOut:
    return VerificationOut(
        job_id=job.job_id,
        status=job.status,
        created_at=job.created_at,
        finished_at=job.finished_at,
        error=job.last_error_message if job.status == "FAILED" else None,
        progress=ProgressOut.model_validate(job.progress) if job.progress else None,
        report=ReportOut.model_validate(job.result) if job.result else None,
    )


def _shown(one: Checkpoint) -> CheckpointOut:
    return CheckpointOut.model_validate(one.as_json())
