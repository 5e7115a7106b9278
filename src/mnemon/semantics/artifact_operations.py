"""What a user may do with documents in the words of the tools: artifacts taken in, opened, destroyed."""

from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from pydantic import Field

from mnemon.db.database import Connection
from mnemon.documents import operations as documents
from mnemon.documents.access import Reader, read_as
from mnemon.documents.errors import ArtifactNotFound
from mnemon.documents.inputs import ArtifactUid
from mnemon.documents.intake.text import LONGEST_TEXT
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.identity.roles import Action
from mnemon.operations import Caller, Input, Output, operation
from mnemon.semantics import artifact_reading
from mnemon.semantics.artifact_reading import Artifact, find_artifact
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.inputs import RevisionAsked
from mnemon.settings import Settings

UID = "uid_0123456789abcdef"
ITS_PAGE = "The page of the document shows it."


class ArtifactAsked(RevisionAsked):
    """One revision of an artifact, with its text if wanted."""

    include_text: bool = Field(False, description="The text too.")
    start_char: int = Field(0, ge=0, le=LONGEST_TEXT, description="The text from here on.")
    max_chars: int | None = Field(None, ge=1, le=LONGEST_TEXT, description="Most characters of it; unset: all.")


class ArtifactToAdd(NewArtifact):
    """A text to take in, and how long to wait for its events."""

    wait_seconds: int = Field(
        0, ge=0, le=100, description="How long to wait until its events are read; 0: do not wait."
    )


class ArtifactNamed(Input):
    """One artifact."""

    artifact_uid: ArtifactUid = Field(description="The artifact, uid_….")


class ArtifactTaken(Output):
    """What came of an artifact. `unchanged` means that its text was known already, so that nothing is to be done."""

    artifact_id: str
    artifact_uid: str
    revision_id: str
    is_chunked: bool
    num_chunks: int | None = Field(description="Null for a long text: its chunks are counted when they are made.")
    stored_ids: list[str]
    status: Literal["new", "new_revision", "unchanged", "restored"]
    job_id: str | None
    job_status: str


class RevisionShown(Output):
    """One content of an artifact."""

    doc_version_id: UUID
    revision_id: str
    version_number: int
    source_ts: datetime | None
    token_count: int | None
    is_chunked: bool
    chunk_count: int | None
    is_latest: bool
    ingested_at: datetime
    extracted_at: datetime | None = Field(description="When its events were first read.")


class ArtifactShown(RevisionShown):
    """An artifact with one revision of it, and the text of that where it was asked for."""

    artifact_id: str
    doc_id: UUID
    artifact_uid: str
    artifact_type: str
    source_system: str
    source_id: str | None
    source_url: str | None
    title: str
    sensitivity: str
    visibility_scope: str
    owner: str | None
    retention_policy: str
    retain_until: datetime | None
    created_at: datetime
    text: str = ""
    start_char: int = 0
    end_char: int = 0
    char_count: int = Field(0, description="Of the whole text, in code points.")


class ArtifactHistory(Output):
    """The revisions of an artifact, the latest first."""

    artifact_uid: str
    revisions: list[RevisionShown]
    total: int


class ArtifactDeleted(Output):
    """An artifact that was destroyed for good."""

    artifact_uid: str
    deleted: bool
    revisions: int


class Parts(documents.Parts, Protocol):
    """What these operations need of Mnemon."""

    @property
    def settings(self) -> Settings: ...


@operation(
    "artifacts.add", Action.UPLOAD_DOCUMENTS, errors=(InvalidRequest,),
    example={"artifact_type": "note", "source_system": "notes", "content": "We decided to use Postgres."},
    absent={"web": "People upload files there."},
)  # fmt: skip
async def add(mnemon: Parts, caller: Caller, asked: ArtifactToAdd) -> ArtifactTaken:
    """Take in a document, mail, chat or note as text.

    Its text is there at once; search and events follow within moments.
    """
    return ArtifactTaken.model_validate((await take_in(mnemon, caller, asked)).as_json())


async def take_in(mnemon: Parts, caller: Caller, new: NewArtifact) -> Ingested:
    """For doors that follow the reading too."""
    return await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, caller.tenant_id, caller.actor, new)


@operation(
    "artifacts.get", Action.VIEW_DOCUMENTS, read_only=True, errors=(ArtifactNotFound,),
    example={"artifact_uid": UID, "include_text": True}, absent={"web": ITS_PAGE},
)  # fmt: skip
async def get(mnemon: Parts, caller: Caller, asked: ArtifactAsked) -> ArtifactShown:
    """What is known of an artifact, with the text of a revision if wanted."""
    end = None if asked.max_chars is None else asked.start_char + asked.max_chars
    found = await artifact_reading.artifact_get(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked.artifact_uid, asked.revision_id,
        include_text=asked.include_text, start=asked.start_char, end=end,
    )  # fmt: skip
    return ArtifactShown.model_validate(found)


@operation(
    "artifacts.revisions", Action.VIEW_DOCUMENTS, read_only=True, errors=(ArtifactNotFound,),
    example={"artifact_uid": UID}, absent={"web": ITS_PAGE, "mcp": "artifact_get tells the revisions too."},
)  # fmt: skip
async def history(mnemon: Parts, caller: Caller, asked: ArtifactNamed) -> ArtifactHistory:
    """The revisions of an artifact, the latest first."""
    found = await artifact_reading.artifact_revisions(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked.artifact_uid
    )
    return ArtifactHistory.model_validate(found)


@operation(
    "artifacts.delete", Action.UPLOAD_DOCUMENTS, destructive=True, errors=(ArtifactNotFound, NotAllowed),
    example={"artifact_uid": UID}, absent={"web": "An administrator purges the document on its page."},
)  # fmt: skip
async def delete(mnemon: Parts, caller: Caller, asked: ArtifactNamed) -> ArtifactDeleted:
    """Destroy an artifact for good, with its revisions, vectors and events. For its owner or an administrator."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        artifact = await deletable(tx, caller, asked.artifact_uid)
    purged = await mnemon.purge_document(caller.tenant_id, caller.actor, artifact.doc_id)
    return ArtifactDeleted(artifact_uid=asked.artifact_uid, deleted=True, revisions=purged.versions)


async def deletable(tx: Connection, caller: Caller, artifact_uid: str) -> Artifact:
    """The artifact, if this caller may destroy it."""
    reader = Reader.of(caller.actor)
    await read_as(tx, reader)
    artifact = await find_artifact(tx, artifact_uid)
    if not reader.is_among([artifact.document.owner]):
        if caller.principal is None:
            raise NotAllowed("Only the owner of an artifact deletes it; `mnemon documents purge` destroys a document.")
        caller.authorise(Action.MANAGE_PRIVACY)
    return artifact
