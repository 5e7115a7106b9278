"""Documents in the words of the tools, as readers open them: what is known, the text of a revision, the history."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as
from mnemon.documents.artifact_names import artifact_name, document_of_uid, revision_name, uid_of
from mnemon.documents.errors import ArtifactNotFound
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.documents.library import Document, document_by_id
from mnemon.errors import InvalidRequest
from mnemon.semantics.shapes import moment

# The latest first, then by age.
REVISIONS = """
SELECT r.doc_version_id, r.content_hash, r.version_number, r.written_at AS source_ts, r.token_count, r.chunk_count,
       r.is_active AS is_latest, r.created_at AS ingested_at,
       (SELECT min(x.extracted_at) FROM mnemon.extractions x
         WHERE x.tenant_id = r.tenant_id AND x.doc_version_id = r.doc_version_id) AS extracted_at
  FROM mnemon.document_revisions r
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_id = %s
 ORDER BY r.is_active DESC, r.version_number DESC
"""


@dataclass(frozen=True)
class Artifact:
    """A document, as the tools know it."""

    document: Document

    @property
    def doc_id(self) -> UUID:
        return self.document.doc_id

    @property
    def artifact_uid(self) -> str:
        return uid_of(self.document.doc_id, self.document.source_uri)

    def as_json(self) -> dict[str, Any]:
        document = self.document
        same = ("source_system", "source_id", "source_url", "title", "sensitivity", "visibility_scope", "owner")
        return {
            "artifact_id": artifact_name(document.doc_id),
            "doc_id": str(document.doc_id),
            "artifact_uid": self.artifact_uid,
            "artifact_type": document.document_type,
            **{name: getattr(document, name) for name in same},
            "retention_policy": document.retention_policy,
            "retain_until": moment(document.retain_until),
            "created_at": moment(document.created_at),
        }


@dataclass(frozen=True)
class ArtifactRevision:
    """A revision, as the tools know it; `extracted_at` is when its events were first read."""

    doc_version_id: UUID
    content_hash: str
    version_number: int
    source_ts: datetime | None
    # None while the run that makes the chunks of a long text has not counted them.
    token_count: int | None
    chunk_count: int | None
    is_latest: bool
    ingested_at: datetime
    extracted_at: datetime | None

    @property
    def revision_id(self) -> str:
        return revision_name(self.content_hash)

    @property
    def is_chunked(self) -> bool:
        return self.chunk_count is None or self.chunk_count > 1

    def as_json(self) -> dict[str, Any]:
        return {
            "doc_version_id": str(self.doc_version_id),
            "revision_id": self.revision_id,
            "version_number": self.version_number,
            "source_ts": moment(self.source_ts),
            "token_count": self.token_count,
            "is_chunked": self.is_chunked,
            # As the ingestion counted them: a text that is one chunk is not cut.
            "chunk_count": self.chunk_count if self.is_chunked else 0,
            "is_latest": self.is_latest,
            "ingested_at": moment(self.ingested_at),
            "extracted_at": moment(self.extracted_at),
        }


async def find_artifact(tx: Connection, artifact_uid: str) -> Artifact:
    """For the transaction's reader."""
    return Artifact(await document_by_id(tx, await document_of_uid(tx, artifact_uid)))


async def revisions_of(tx: Connection, artifact: Artifact) -> list[ArtifactRevision]:
    """The latest first, then by age."""
    cursor = tx.cursor(row_factory=class_row(ArtifactRevision))
    return await (await cursor.execute(REVISIONS, (artifact.doc_id,))).fetchall()


async def find_revision(tx: Connection, artifact: Artifact, revision_id: str | None = None) -> ArtifactRevision:
    """The one of this name, or of this id of its own; without a name the latest, or the last that was."""
    for one in await revisions_of(tx, artifact):
        if revision_id in (None, one.revision_id, str(one.doc_version_id)):
            return one
    which = f"has no revision {revision_id}" if revision_id else "was not read yet"
    raise ArtifactNotFound(f"Artifact {artifact.artifact_uid} {which}", artifact_uid=artifact.artifact_uid)


async def artifact_get(
    database: Database, tenant: UUID, reader: Reader, artifact_uid: str, revision_id: str | None = None, *,
    include_text: bool = False, start: int = 0, end: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The artifact with one revision, the latest unless told; with `text[start:end]` of it if wanted."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        artifact = await find_artifact(tx, artifact_uid)
        revision = await find_revision(tx, artifact, revision_id)
        shape = artifact.as_json() | revision.as_json()
        if include_text:
            text = (await read_text(tx, revision.doc_version_id)).text
            last = len(text) if end is None else min(end, len(text))
            if not 0 <= start <= last <= len(text):
                raise InvalidRequest(f"{start}-{last} is no span of this text of {len(text)} characters.")
            shape |= {"text": text[start:last], "start_char": start, "end_char": last, "char_count": len(text)}
    return shape


async def artifact_revisions(database: Database, tenant: UUID, reader: Reader, artifact_uid: str) -> dict[str, Any]:
    """The history of an artifact, the latest first."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        revisions = await revisions_of(tx, await find_artifact(tx, artifact_uid))
    return {"artifact_uid": artifact_uid, "revisions": [one.as_json() for one in revisions], "total": len(revisions)}
