"""Finds artifacts and revisions by the names that people and tools use, for the transaction's reader."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from mnemon.db.database import Connection
from mnemon.errors import NotFound
from mnemon.semantics.names import artifact_name
from mnemon.semantics.shapes import moment

ARTIFACT = """
SELECT doc_id, artifact_uid, artifact_type, source_system, source_id, source_url, title, sensitivity, visibility_scope,
       owner, readers, retention_policy, retain_until, created_at
  FROM mnemon.artifacts
 WHERE tenant_id = mnemon.current_tenant() AND artifact_uid = %s AND mnemon.may_read(readers)
"""
UID = """
SELECT artifact_uid FROM mnemon.artifacts
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND mnemon.may_read(readers)
"""
REVISIONS = """
SELECT doc_version_id, revision_id, version_number, source_ts, token_count, chunk_count, is_latest, ingested_at,
       extracted_at
  FROM mnemon.artifact_revisions
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND (%s::text IS NULL OR revision_id = %s)
 ORDER BY is_latest DESC, version_number DESC
"""


class NoSuchArtifact(NotFound):
    """There is no artifact of this name, or it is not for this reader: both look the same."""

    code = "ARTIFACT_NOT_FOUND"


@dataclass(frozen=True)
class Artifact:
    """A document, as the tools know it."""

    doc_id: UUID
    artifact_uid: str
    artifact_type: str
    source_system: str
    source_id: str | None
    source_url: str | None
    title: str
    sensitivity: str
    visibility_scope: str
    owner: str
    readers: list[str] | None
    retention_policy: str
    retain_until: datetime | None
    created_at: datetime

    def as_json(self) -> dict[str, Any]:
        shown = {name: value for name, value in vars(self).items() if name not in ("doc_id", "readers")}
        return {
            "artifact_id": artifact_name(self.doc_id),
            "doc_id": str(self.doc_id),
            **shown,
            "retain_until": moment(self.retain_until),
            "created_at": moment(self.created_at),
        }


@dataclass(frozen=True)
class ArtifactRevision:
    """One content of an artifact."""

    doc_version_id: UUID
    revision_id: str
    version_number: int
    source_ts: datetime | None
    # None while the run that makes the chunks of a long text has not counted them.
    token_count: int | None
    chunk_count: int | None
    is_latest: bool
    ingested_at: datetime
    extracted_at: datetime | None

    @property
    def is_chunked(self) -> bool:
        return self.chunk_count is None or self.chunk_count > 1

    def as_json(self) -> dict[str, Any]:
        return vars(self) | {
            "doc_version_id": str(self.doc_version_id),
            "is_chunked": self.is_chunked,
            # As the ingestion counted them: a text that is one chunk is not cut.
            "chunk_count": self.chunk_count if self.is_chunked else 0,
            "source_ts": moment(self.source_ts),
            "ingested_at": moment(self.ingested_at),
            "extracted_at": moment(self.extracted_at),
        }


async def find_artifact(tx: Connection, artifact_uid: str) -> Artifact:
    found = await (await tx.cursor(row_factory=class_row(Artifact)).execute(ARTIFACT, (artifact_uid,))).fetchone()
    if found is None:
        raise NoSuchArtifact(f"Artifact {artifact_uid} not found", artifact_uid=artifact_uid)
    return found


async def uid_of_document(tx: Connection, doc_id: UUID) -> str | None:
    """The artifact that the document is; none once it was purged."""
    row = await (await tx.execute(UID, (doc_id,))).fetchone()
    return None if row is None else str(row["artifact_uid"])


async def revisions_of(tx: Connection, artifact: Artifact, revision_id: str | None = None) -> list[ArtifactRevision]:
    """The latest first, then by age."""
    cursor = tx.cursor(row_factory=class_row(ArtifactRevision))
    return await (await cursor.execute(REVISIONS, (artifact.doc_id, revision_id, revision_id))).fetchall()


async def find_revision(tx: Connection, artifact: Artifact, revision_id: str | None = None) -> ArtifactRevision:
    """The one of this name; without a name the latest, or the last that was."""
    found = await revisions_of(tx, artifact, revision_id)
    if not found:
        which = f"has no revision {revision_id}" if revision_id else "was not read yet"
        raise NoSuchArtifact(f"Artifact {artifact.artifact_uid} {which}", artifact_uid=artifact.artifact_uid)
    return found[0]
