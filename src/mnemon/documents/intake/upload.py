"""What a user may do with a file: hand it over, with what they say of it."""

from typing import Protocol
from uuid import UUID

from pydantic import Field

from mnemon.documents.errors import BadUpload, EmptyFile, NoFile, UnfitField, UploadNotStored, UploadTooLarge
from mnemon.documents.intake.arrival import Outcome
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.origin_fields import UploadFields
from mnemon.documents.intake.receive import accept
from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.log.store import EventLog
from mnemon.operations import Caller, Output, operation

SKIPPED = "already ingested, no changes"
RESTORED = "an earlier version, which is served again"
NOT_THEIRS = "its title was given by its owner, who alone changes it"


class Parts(Protocol):
    """What this operation needs of Mnemon."""

    @property
    def log(self) -> EventLog: ...

    @property
    def files(self) -> Files: ...


class FileTaken(Output):
    """What came of one file."""

    run_id: UUID | None = Field(None, description="The run to follow; absent where nothing had to be done.")
    doc_id: UUID | None = None
    status: str = Field(description="queued, skipped, or with several files refused")
    reason: str | None = None
    filename: str
    title: str | None = Field(None, description="What it is called here.")
    content_hash: str | None = None
    dedup_result: str | None = Field(None, description="new, new_version, reprocess or skipped")
    error_code: str | None = None


@operation(
    "documents.upload", Action.UPLOAD_DOCUMENTS,
    errors=(NoFile, BadUpload, EmptyFile, UnfitField, UploadTooLarge, UploadNotStored, NotFound),
    example={"title": "Travel policy", "tags": ["travel"], "document_type": "doc"},
    absent={"mcp": "Agents hand over texts, with artifact_ingest."},
)  # fmt: skip
async def upload(mnemon: Parts, caller: Caller, asked: UploadFields) -> FileTaken:
    """Take in a file; it becomes a run, or is known already."""
    if asked.file is None:
        raise NoFile("There is no file: send it in the field `file`.")
    taken = await accept(mnemon.log, mnemon.files, caller.tenant_id, caller.actor, asked.file, asked.origin())
    known = {"run_id": taken.run_id} if taken.run_id else {"reason": _why_skipped(taken, asked.title)}
    return FileTaken(
        **known, doc_id=taken.doc_id, status=taken.status, filename=taken.filename, title=taken.title,
        content_hash=taken.content_hash, dedup_result=taken.dedup,
    )  # fmt: skip


def _why_skipped(taken: Outcome, title: str | None) -> str:
    """A title that was not taken over is not passed over in silence."""
    why = RESTORED if taken.dedup == "restored" else SKIPPED
    return f"{why}; {NOT_THEIRS}" if title and title != taken.title else why
