"""What a user may do with the archive: move old payloads out of the database and back, and see what is there."""

from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field, RootModel

from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.inputs import Day
from mnemon.log.append.incoming import LegalEntity
from mnemon.log.events import MAIN
from mnemon.log.privacy.archive import Archived
from mnemon.log_operations.fields import NO_TOOLS, Parts, SequenceNumber
from mnemon.operations import Caller, Door, Input, Output, operation
from mnemon.work.enqueue import enqueue
from mnemon.work.jobs import JobDetail, JobStatus, job_by_id
from mnemon.work.kinds import JobKind
from mnemon.work.log_jobs import ARCHIVE, RESTORE, Archiving, Restoring

AT_ONCE: Mapping[Door, str] = {**NO_TOOLS, "command": "`mnemon log archive` and `restore` move payloads themselves."}


class ArchiveAsked(Input):
    """Whose archive."""

    legal_entity: Annotated[str | None, Field(max_length=100, description="Of this one alone. Default: all.")] = None


class ArchivingWanted(Input):
    """Which payloads move out."""

    legal_entity: LegalEntity = Field(MAIN, description="Whose payloads.")
    before: Day = Field(description="Payloads recorded before this day (UTC) move.")

    @property
    def moment(self) -> datetime:
        return datetime.combine(self.before, time(), UTC)


class RestoringWanted(Input):
    """Which payloads move back: whole objects, which leave the archive."""

    legal_entity: LegalEntity = Field(MAIN, description="Whose payloads.")
    first_sequence: SequenceNumber = Field("1", description="The first that is wanted.")
    last_sequence: SequenceNumber | None = Field(None, description="All from the first on, unless given.")

    @property
    def first(self) -> int:
        return int(self.first_sequence)

    @property
    def last(self) -> int | None:
        return int(self.last_sequence) if self.last_sequence else None


class MoveAsked(Input):
    """One archiving or restoration."""

    job_id: UUID = Field(description="As the request for it was answered.")


class MoveResult(BaseModel):
    """What was moved."""

    legal_entity: str
    payloads: int
    objects: list[str] = Field(description="The archive's objects that they went to or came from.")


class MoveOut(Output):
    """How a move stands."""

    job_id: UUID
    status: JobStatus
    created_at: datetime
    finished_at: datetime | None
    error_code: str | None
    error: str | None = Field(description="Why nothing, or not all, was moved.")
    result: MoveResult | None


class ArchivedOut(Output):
    """One object of the archive."""

    legal_entity: str
    first_sequence: str
    last_sequence: str
    object_key: str
    object_digest: str
    object_bytes: int
    payload_bytes: int
    archived_at: datetime


class ArchiveList(RootModel[list[ArchivedOut]]):
    """All that is in the archive."""


@operation("archives.list", Action.MANAGE_LOG, read_only=True, example={"legal_entity": "main"}, absent=NO_TOOLS)
async def listed(mnemon: Parts, caller: Caller, asked: ArchiveAsked) -> ArchiveList:
    """Payloads that are in the archive store."""
    if asked.legal_entity is not None:
        names = [asked.legal_entity]
    else:
        names = [one.legal_entity for one in await mnemon.log.list_partitions(caller.tenant_id)]
    archive = mnemon.privacy.archive
    return ArchiveList([archived(one, name) for name in names for one in await archive.objects(caller.tenant_id, name)])


@operation(
    "archives.archive", Action.MANAGE_LOG, idempotent=True, absent=NO_TOOLS,
    example={"legal_entity": "main", "before": "2025-01-01"},
)  # fmt: skip
async def archive(mnemon: Parts, caller: Caller, asked: ArchivingWanted) -> MoveOut:
    """Start to move old payloads to the archive; envelopes stay, and reading goes on as before."""
    wanted = Archiving(legal_entity=asked.legal_entity, before=asked.moment, actor=caller.actor)
    return await _begun(mnemon, caller, ARCHIVE, wanted, f"{asked.legal_entity}\n{asked.before}")


@operation(
    "archives.restore", Action.MANAGE_LOG, idempotent=True, absent=NO_TOOLS,
    example={"legal_entity": "main", "first_sequence": "1", "last_sequence": "5000"},
)  # fmt: skip
async def restore(mnemon: Parts, caller: Caller, asked: RestoringWanted) -> MoveOut:
    """Start to move archived payloads back."""
    wanted = Restoring(legal_entity=asked.legal_entity, first=asked.first, last=asked.last, actor=caller.actor)
    return await _begun(mnemon, caller, RESTORE, wanted, f"{asked.legal_entity}\n{asked.first}\n{asked.last}")


@operation(
    "archives.job", Action.MANAGE_LOG, read_only=True, errors=(NotFound,), absent=AT_ONCE,
    example={"job_id": "018f4d1e-0000-7000-8000-000000000001"},
)  # fmt: skip
async def job(mnemon: Parts, caller: Caller, asked: MoveAsked) -> MoveOut:
    """How an archiving or a restoration stands."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        found = await job_by_id(tx, asked.job_id, reader=None)
    if found.kind not in (ARCHIVE.name, RESTORE.name):
        raise NotFound(f"Job {asked.job_id} neither archives nor restores.", job_id=str(asked.job_id))
    return _described(found)


async def _begun(
    mnemon: Parts, caller: Caller, kind: JobKind[Any], wanted: Archiving | Restoring, dedupe_key: str
) -> MoveOut:
    """Two people who ask at the same time are told of the same job."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        begun = await enqueue(tx, kind, wanted, dedupe_key=dedupe_key)
        return _described(await job_by_id(tx, begun.job_id, reader=None))


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


def archived(one: Archived, legal_entity: str) -> ArchivedOut:
    return ArchivedOut(
        legal_entity=legal_entity,
        first_sequence=str(one.first_sequence),
        last_sequence=str(one.last_sequence),
        object_key=one.object_key,
        object_digest=one.object_digest.hex(),
        object_bytes=one.object_bytes,
        payload_bytes=one.payload_bytes,
        archived_at=one.changed_at,
    )
