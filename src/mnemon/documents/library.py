"""The library: documents and their revisions as people leaf through them."""

from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from psycopg.rows import class_row
from pydantic import Field

from mnemon.db.database import Connection
from mnemon.documents.filed_rows import NO_FILE
from mnemon.documents.states import DocumentStatus
from mnemon.errors import InvalidRequest, NotFound
from mnemon.operations import Output

STATUS = """CASE WHEN d.purged_at IS NOT NULL THEN 'purged' WHEN v.doc_version_id IS NULL THEN 'unread'
            WHEN v.is_active THEN 'active' ELSE 'inactive' END"""
# The active revision, or the last one where none is.
WITH_REVISION = """
  LEFT JOIN LATERAL (
       SELECT * FROM mnemon.document_revisions o WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id
        ORDER BY o.is_active DESC, o.version_number DESC LIMIT 1) AS v ON true
 WHERE d.tenant_id = mnemon.current_tenant()
"""
DOCUMENTS = f" FROM mnemon.documents d {WITH_REVISION}"
COLUMNS = f"""d.doc_id, d.source_type, split_part(d.source_uri, '#of=', 1) AS source_uri, d.title, d.tags,
       d.document_type, d.source_system, d.source_id, d.source_url, d.sensitivity, d.visibility_scope, d.owner,
       d.retention_policy, d.retain_until, d.created_by,
       d.created_at, d.updated_at, d.purged_at, {STATUS} AS status, v.doc_version_id, v.version_number,
       v.version_label, v.is_active, v.media_type,
       v.original_filename, v.size_bytes, v.char_count, v.page_count, v.chunk_count, v.written_at, v.authors"""
ONE = f"SELECT {COLUMNS} {DOCUMENTS} AND d.doc_id = %s"
REVISION_COLUMNS = """doc_version_id, doc_id, version_number, version_label, content_hash, text_hash, extractor,
       media_type, original_filename, size_bytes, char_count, page_count, chunk_count, token_count, is_active,
       written_at, authors, participants, details, created_at, activated_at, deactivated_at, purged_at"""
REVISIONS = f"""
SELECT {REVISION_COLUMNS} FROM mnemon.document_revisions
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s ORDER BY version_number DESC
"""
CHUNKS = """
SELECT chunk_id, ordinal, start_offset, end_offset, heading_path, first_page, last_page, speaker, said_on,
       tokens, text
  FROM mnemon.chunks WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s
 ORDER BY ordinal LIMIT %s OFFSET %s
"""


class Document(Output):
    """A document with the revision that is served, or the last one that was."""

    doc_id: UUID
    title: str
    tags: list[str]
    source_type: str
    source_uri: str
    document_type: Annotated[str, Field(description="email, doc, chat, transcript or note.")]
    source_system: str
    source_id: str | None
    source_url: str | None
    sensitivity: str
    visibility_scope: Annotated[str, Field(description="Who may read it: me, team, org or custom.")]
    owner: Annotated[str, Field(description="Who says who may read it and how long it is kept.")]
    retention_policy: str
    retain_until: datetime | None
    status: DocumentStatus
    created_by: Annotated[str, Field(description="Who sent the first file, as the log names them.")]
    created_at: datetime
    updated_at: datetime
    purged_at: datetime | None
    doc_version_id: Annotated[UUID | None, Field(description="The active revision, or the last one where none is.")]
    version_number: int | None
    version_label: str | None
    is_active: bool | None
    media_type: str | None
    original_filename: str | None
    size_bytes: int | None
    char_count: int | None
    page_count: int | None
    chunk_count: int | None
    written_at: Annotated[datetime | None, Field(description="When the document says that it was written.")]
    authors: list[str] | None


class DocumentRevision(Output):
    """One immutable content of a document."""

    doc_version_id: UUID
    doc_id: UUID
    version_number: int
    version_label: str
    content_hash: str
    text_hash: str
    extractor: str
    media_type: str
    original_filename: str
    size_bytes: int
    char_count: int
    page_count: int | None
    chunk_count: int | None
    token_count: int | None
    is_active: bool
    written_at: datetime | None
    authors: list[str]
    participants: list[str]
    details: dict[str, Any]
    created_at: datetime
    activated_at: datetime
    deactivated_at: datetime | None
    purged_at: datetime | None

    @property
    def has_file(self) -> bool:
        """A message or a text that was filed by itself has none to download."""
        return not self.content_hash.startswith(NO_FILE)


class StoredChunk(Output):
    """A chunk as it is stored."""

    chunk_id: UUID
    ordinal: int
    start_offset: int
    end_offset: int
    heading_path: list[str]
    first_page: int | None
    last_page: int | None
    speaker: str | None
    said_on: date | None
    tokens: int
    text: str


async def document_by_id(tx: Connection, doc_id: UUID) -> Document:
    found = await (await tx.cursor(row_factory=class_row(Document)).execute(ONE, (doc_id,))).fetchone()
    if found is None:
        raise NotFound(f"There is no document {doc_id}.", doc_id=str(doc_id))
    return found


async def revisions_of(tx: Connection, doc_id: UUID) -> list[DocumentRevision]:
    """Newest first; empty while no run has succeeded."""
    await document_by_id(tx, doc_id)
    return await (await tx.cursor(row_factory=class_row(DocumentRevision)).execute(REVISIONS, (doc_id,))).fetchall()


async def revision_of(tx: Connection, doc_id: UUID, named: UUID | int | None = None) -> DocumentRevision:
    """By its id or its number; without either the active one, or the last where none is."""
    found = await revisions_of(tx, doc_id)
    if named is None:
        chosen = next((one for one in found if one.is_active), found[0] if found else None)
    else:
        chosen = next((one for one in found if named in (one.doc_version_id, one.version_number)), None)
    if chosen is None:
        which = "revision yet" if named is None else f"revision {named}"
        raise NotFound(f"Document {doc_id} has no {which}.", doc_id=str(doc_id))
    return chosen


async def chunks_of(
    tx: Connection, revision: DocumentRevision, *, page: int = 1, limit: int = 100
) -> list[StoredChunk]:
    """In the order of the text."""
    values = (revision.doc_version_id, limit, (page - 1) * limit)
    return await (await tx.cursor(row_factory=class_row(StoredChunk)).execute(CHUNKS, values)).fetchall()


def which_revision(named: str | None) -> UUID | int | None:
    """A revision as people name it: by its number, or by its id."""
    if named is None:
        return None
    try:
        return int(named) if named.isascii() and named.isdecimal() else UUID(named)
    except ValueError:
        raise InvalidRequest(f"{named!r} is neither the number nor the id of a revision.") from None
