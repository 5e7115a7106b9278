"""Documents in the words of the tools, on their way in and out: an artifact is taken in, or destroyed."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import Field

from mnemon.documents.artifact_names import artifact_name, chunk_name, job_name, revision_name, uid_of
from mnemon.documents.intake.arrival import DedupResult
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.origin import Origin
from mnemon.documents.intake.origin_fields import Line, OriginFields, Retention, Scope, Sensitivity, TextType
from mnemon.documents.intake.text import LONGEST_TEXT, accept_text
from mnemon.inputs import FirstMoment, Maybe
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.settings import Settings

STATUSES: dict[DedupResult, str] = {
    "new": "new", "new_version": "new_revision", "reprocess": "new_revision", "skipped": "unchanged",
    "restored": "restored",
}  # fmt: skip


class NewArtifact(OriginFields):
    """A text with its origin. Who may read it is decided when it is read."""

    artifact_type: TextType = Field(description="What kind of text it is.")
    source_system: Line = Field(description="Where it comes from, as gmail or slack.")
    content: str = Field(max_length=LONGEST_TEXT, description="The text as it is.")
    source_id: Line | None = Field(
        None,
        description="Its id there. The same id with another text is a new revision; without an id each call makes a "
        "new artifact.",
    )
    ts: Maybe[FirstMoment] = Field(None, description="When it was written or said, a day or a moment.")
    sensitivity: Sensitivity = Field("normal", description="How careful one has to be with it.")
    visibility_scope: Scope = Field(
        "me",
        description="me: you alone; custom: you and the readers; team: the same, without readers everyone here; org: "
        "everyone here.",
    )
    retention_policy: Retention = Field("forever", description="How long it is kept.")

    def origin(self) -> Origin:
        same = {name: getattr(self, name) for name in OriginFields.model_fields}
        return Origin(document_type=self.artifact_type, written_at=self.ts, **same)


@dataclass(frozen=True)
class Ingested:
    """What came of an artifact. Without a job where its content is known already."""

    doc_id: UUID
    doc_version_id: UUID
    artifact_uid: str
    revision_id: str
    # new, new_revision, unchanged; or restored, where an earlier content is the latest again
    status: str
    # None for a long text until its chunks are made: more than one, that is certain.
    chunk_count: int | None
    job_id: UUID | None = None

    @property
    def is_chunked(self) -> bool:
        return self.chunk_count is None or self.chunk_count > 1

    def as_json(self) -> dict[str, Any]:
        """As the tools answer."""
        artifact_id = artifact_name(self.doc_id)
        chunks = range(self.chunk_count or 0) if self.is_chunked else ()
        return {
            "artifact_id": artifact_id,
            "artifact_uid": self.artifact_uid,
            "revision_id": self.revision_id,
            "is_chunked": self.is_chunked,
            "num_chunks": self.chunk_count if self.is_chunked else 0,
            "stored_ids": [artifact_id, *(chunk_name(self.doc_id, self.doc_version_id, one) for one in chunks)],
            "status": self.status,
            "job_id": job_name(self.job_id) if self.job_id else None,
            "job_status": "PENDING" if self.job_id else "N/A",
        }


async def ingest_artifact(
    events: EventLog, files: Files, settings: Settings, tenant: UUID, actor: Actor, new: NewArtifact
) -> Ingested:
    """The text is there at once; chunks, vectors and events follow by jobs."""
    taken = await accept_text(events, files, settings, tenant, actor, new.content, new.origin())
    assert taken.revision_id is not None
    return Ingested(
        taken.doc_id, taken.revision_id, uid_of(taken.doc_id, taken.source_uri), revision_name(taken.content_hash),
        STATUSES[taken.dedup], taken.chunk_count, taken.extraction_job,
    )  # fmt: skip
