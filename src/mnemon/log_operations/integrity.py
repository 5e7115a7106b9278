"""What a user may do to prove the log: verify, sign checkpoints, take receipts, export."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.log.append.incoming import LegalEntity
from mnemon.log.errors import CheckpointRefused, EventNotFound, NothingToAttest
from mnemon.log.events import MAIN
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.checkpoint_store import CheckpointStore
from mnemon.log.read.streams import Stream
from mnemon.log_operations.fields import (
    BY_PROGRAMS,
    EVENT_ID,
    NO_TOOLS,
    EventId,
    Parts,
    SequenceNumber,
    Where,
)
from mnemon.log_operations.shown import shown_lines, withhold_payloads
from mnemon.operations import Caller, Door, Input, Output, operation
from mnemon.work.enqueue import enqueue
from mnemon.work.jobs import JobDetail, JobStatus, job_by_id
from mnemon.work.log_jobs import VERIFY, Verification

AT_ONCE: Mapping[Door, str] = {**NO_TOOLS, "command": "`mnemon log verify` checks at once and shows how far it is."}
# The entity of the event that tells of an answer, as `ask/query_log.py` declares it.
QUESTION = "question"
MAIN_LOG = {"legal_entity": "main"}


class VerificationWanted(Input):
    """What to verify."""

    legal_entity: LegalEntity = Field(MAIN, description="Whose log.")
    since_checkpoint: bool = Field(False, description="Trust what the last checkpoint attests; check the rest.")


class VerificationAsked(Input):
    """One verification."""

    job_id: UUID = Field(description="As the request for it was answered.")


class CheckpointWanted(Input):
    """What to sign."""

    legal_entity: LegalEntity = Field(MAIN, description="Whose log.")


class PartitionAsked(Input):
    """One partition."""

    legal_entity: Where = MAIN


class CheckpointsAsked(PartitionAsked):
    """What was signed of one partition."""

    limit: int | None = Field(None, ge=1, le=100_000, description="Only the newest so many. Default: all.")


class ReceiptAsked(Input):
    """One event."""

    event_id: EventId


class AnswerAsked(Input):
    """One answer."""

    query_id: UUID = Field(description="As the answer tells it.")


class ConsistencyAsked(Input):
    """What the asker has seen before."""

    legal_entity: Where = MAIN
    count: SequenceNumber = Field(description="How many events the root that you kept was over.")


class FaultOut(BaseModel):
    """Something that is not as it was recorded."""

    sequence: str
    kind: str
    message: str


class ReportOut(BaseModel):
    """What a verification found."""

    legal_entity: str
    intact: bool
    checked: str
    total: str
    unsealed: str = Field("0", description="How many of the last events no checkpoint or seal covers yet.")
    position: dict[str, str] = Field(description="Sequence and hash of the last event that was checked.")
    faults: list[FaultOut] = Field(description="What is not as it was recorded, in order.")


class ProgressOut(BaseModel):
    """How far a verification is."""

    checked: str
    sequence: str = Field(description="The last event that was checked.")
    total: str = Field(description="The last event of the partition when the verification began.")
    faults: str = Field(description="How many were found so far.")


class VerificationOut(Output):
    """How a verification stands."""

    job_id: UUID
    status: JobStatus
    created_at: datetime
    finished_at: datetime | None
    error: str | None = Field(description="Why the verification itself did not come to an end.")
    progress: ProgressOut | None = Field(description="How far it is; none before the first events are checked.")
    report: ReportOut | None


class HandoverOut(Output):
    """What a key signed to announce the next one."""

    statement: str = Field(description="The signed text: the next key, time.")
    public_key: str
    signature: str


class CheckpointOut(Output):
    """How far a partition had come, signed."""

    statement: str = Field(
        description="The signed text: partition, sequence, count, head, Merkle root, previous, time."
    )
    public_key: str
    signature: str
    frontier: list[str]
    keys: list[HandoverOut] = Field(
        default_factory=list, description="What each earlier key signed to announce the next one."
    )


class CheckpointList(Output):
    checkpoints: list[CheckpointOut]
    total: int


class ProvenOut(Output):
    """An event, and the path from it to a root."""

    event: dict[str, Any] = Field(description="Envelope and payload as they were hashed; personal fields encrypted.")
    path: list[str] = Field(description="Hashes from the event to the checkpoint's root.")


class ReceiptOut(ProvenOut):
    """Proof that an event is in the log."""

    format: str
    checkpoint: CheckpointOut
    redactions: list[ProvenOut] = Field(
        default_factory=list, description="The events that attest what was taken out of the payload, if anything was."
    )


class ConsistencyOut(Output):
    """Proof that a log grew and lost nothing: `mnemon_verify.py consistency` checks it against the root you kept."""

    format: str
    count: str
    path: list[str] = Field(description="Hashes that lead from the root over `count` events to the checkpoint's.")
    checkpoint: CheckpointOut


class PartitionExport(Output):
    """A partition, line by line as it is read; doors pass it on."""

    lines: Any = Field(exclude=True)


@operation(
    "integrity.verify", Action.MANAGE_LOG, idempotent=True, absent=NO_TOOLS,
    example={"legal_entity": "main", "since_checkpoint": True},
)  # fmt: skip
async def verify(mnemon: Parts, caller: Caller, asked: VerificationWanted) -> VerificationOut:
    """Start to verify a partition."""
    wanted = Verification(legal_entity=asked.legal_entity, since_checkpoint=asked.since_checkpoint)
    # Two people who ask at the same time are told of the same run.
    twin = f"{asked.legal_entity}\n{asked.since_checkpoint}"
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        job = await enqueue(tx, VERIFY, wanted, dedupe_key=twin)
        return _described(await job_by_id(tx, job.job_id, reader=None))


@operation(
    "integrity.verification", Action.READ_LOG, read_only=True, errors=(NotFound,), absent=AT_ONCE,
    example={"job_id": "018f4d1e-0000-7000-8000-000000000001"},
)  # fmt: skip
async def verification(mnemon: Parts, caller: Caller, asked: VerificationAsked) -> VerificationOut:
    """How a verification stands, and what it found."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        job = await job_by_id(tx, asked.job_id, reader=None)
    if job.kind != VERIFY.name:
        raise NotFound(f"Job {asked.job_id} is not a verification.", job_id=str(asked.job_id))
    return _described(job)


@operation("integrity.checkpoint", Action.MANAGE_LOG, errors=(CheckpointRefused,), example=MAIN_LOG, absent=NO_TOOLS)
async def checkpoint(mnemon: Parts, caller: Caller, asked: CheckpointWanted) -> CheckpointOut:
    """Sign how far a partition has come, in a file outside the database."""
    return _signed(await mnemon.integrity.checkpoint(caller.tenant_id, asked.legal_entity))


def _kept(
    store: CheckpointStore, tenant: UUID, legal_entity: str, limit: int | None
) -> tuple[Sequence[Checkpoint], int]:
    """In a bucket each is a request: who wants the last does not wait for all."""
    if limit is None:
        found = store.list(tenant, legal_entity)
        return found, len(found)
    total, _ = store.since(tenant, legal_entity, sys.maxsize)
    return store.since(tenant, legal_entity, max(total - limit, 0))[1], total


@operation("integrity.checkpoints", Action.READ_LOG, read_only=True, example=MAIN_LOG, absent=NO_TOOLS)
async def checkpoints(mnemon: Parts, caller: Caller, asked: CheckpointsAsked) -> CheckpointList:
    """The signed checkpoints of a partition, oldest first."""
    place = mnemon.integrity.checkpoints, caller.tenant_id, asked.legal_entity
    found, total = await asyncio.to_thread(_kept, *place, asked.limit)
    return CheckpointList(checkpoints=[_signed(one) for one in found], total=total)


@operation(
    "integrity.receipt", Action.READ_LOG, read_only=True, errors=(EventNotFound, NothingToAttest), absent=NO_TOOLS,
    example={"event_id": EVENT_ID},
)  # fmt: skip
async def receipt(mnemon: Parts, caller: Caller, asked: ReceiptAsked) -> ReceiptOut:
    """Proof that an event is in the log, for `verify/mnemon_verify.py` or anyone's own check."""
    made = (await mnemon.integrity.receipt(caller.tenant_id, asked.event_id)).as_json()
    await withhold_payloads(mnemon, caller, [made["event"]])
    return ReceiptOut(**made)


@operation(
    "integrity.answer_receipt", Action.READ_LOG, read_only=True, errors=(NotFound, NothingToAttest),
    example={"query_id": "018f4d1e-0000-7000-8000-000000000001"}, absent=BY_PROGRAMS,
)  # fmt: skip
async def answer_receipt(mnemon: Parts, caller: Caller, asked: AnswerAsked) -> ReceiptOut:
    """Proof that an answer was given with these citations: `mnemon_verify.py answer` holds the answer against it."""
    page = await mnemon.log.read_page(caller.tenant_id, Stream.of_entity(QUESTION, str(asked.query_id)), limit=1)
    if not page.events:
        raise NotFound(f"There is no answer {asked.query_id}.", query_id=str(asked.query_id))
    return ReceiptOut(**(await mnemon.integrity.receipt(caller.tenant_id, page.events[0].id)).as_json())


@operation(
    "integrity.consistency", Action.READ_LOG, read_only=True, errors=(NothingToAttest, CheckpointRefused),
    example={"legal_entity": "main", "count": "6"}, absent=BY_PROGRAMS,
)  # fmt: skip
async def consistency(mnemon: Parts, caller: Caller, asked: ConsistencyAsked) -> ConsistencyOut:
    """Proof that the log grew out of the one whose root you kept, and that nothing of it was lost or changed."""
    proof = await mnemon.integrity.consistency(caller.tenant_id, int(asked.count), asked.legal_entity)
    return ConsistencyOut(**proof.as_json())


@operation(
    "integrity.export", Action.READ_LOG, read_only=True, example=MAIN_LOG,
    absent={**NO_TOOLS, "web": "The page of integrity links to the file over REST."},
)  # fmt: skip
async def export(mnemon: Parts, caller: Caller, asked: PartitionAsked) -> PartitionExport:
    """A partition as lines of JSON that can be checked without Mnemon; personal fields stay encrypted."""
    lines = mnemon.integrity.export(caller.tenant_id, asked.legal_entity)
    return PartitionExport(lines=shown_lines(mnemon, caller, lines))


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


def _signed(one: Checkpoint) -> CheckpointOut:
    return CheckpointOut(**one.as_json())
