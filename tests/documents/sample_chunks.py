"""Documents made of plain passages, stored as the worker stores them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from mnemon.db.database import Connection, Database
from mnemon.documents.ingest.chunk_store import activate_chunks, store_chunks
from mnemon.documents.ingest.content import Chunk
from mnemon.ids import new_uuid
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Vectors

MODEL = ModelInUse("test-model", 8)

INSERT_DOCUMENT = """
INSERT INTO mnemon.documents (tenant_id, doc_id, source_type, source_uri, title, tags)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
INSERT_REVISION = """
INSERT INTO mnemon.document_revisions (
    tenant_id, doc_version_id, doc_id, version_number, content_hash, text_hash, extractor, media_type,
    size_bytes, char_count, is_active, written_at, participants, activated_at, served)
VALUES (mnemon.current_tenant(), %(revision)s, %(document)s, %(number)s, %(hash)s, %(hash)s, 'text/1', 'text/plain',
    1, 1, true, %(written_at)s, %(people)s, now(), tstzmultirange(tstzrange(now(), NULL)))
"""
INSERT_TEXT = (
    "INSERT INTO mnemon.revision_texts (tenant_id, doc_version_id, text) VALUES (mnemon.current_tenant(), %s, %s)"
)
DEACTIVATE = """
UPDATE mnemon.document_revisions
SET is_active = false, deactivated_at = now(), served = served * tstzmultirange(tstzrange(NULL, now()))
WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND is_active RETURNING doc_version_id
"""
REVISIONS = (
    "SELECT count(*) AS known FROM mnemon.document_revisions WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s"
)


def chunks_of(passages: Sequence[str], headings: Sequence[str] = (), speaker: str | None = None) -> list[Chunk]:
    """The passages stand one after the other in their text, a blank line between."""
    chunks, at = [], 0
    for ordinal, text in enumerate(passages):
        chunks.append(Chunk(ordinal, at, at + len(text), text, headings, len(text.split()), speaker=speaker))
        at += len(text) + 2
    return chunks


def toward(direction: int, dimension: int = 8) -> np.ndarray:
    """The unit vector along one axis."""
    return np.eye(dimension, dtype=np.float32)[direction]


async def put_document(
    tx: Connection, tenant: UUID, passages: Sequence[str], vectors: Vectors | None = None, *,
    doc_id: UUID | None = None, title: str = "Minutes", tags: Sequence[str] = (), source: str = "upload",
    written_at: datetime | None = None, people: Sequence[str] = (), headings: Sequence[str] = (),
    speaker: str | None = None, model: ModelInUse = MODEL,
) -> tuple[UUID, UUID]:  # fmt: skip
    """A document, or its next revision, with these passages. Returns the ids of the document and the revision."""
    doc_id, revision = doc_id or new_uuid(), new_uuid()
    await tx.execute(INSERT_DOCUMENT, (doc_id, source, f"{source}://{doc_id}", title, list(tags)))
    for row in await (await tx.execute(DEACTIVATE, (doc_id,))).fetchall():
        await activate_chunks(tx, row["doc_version_id"], False)
    known = await (await tx.execute(REVISIONS, (doc_id,))).fetchone()
    assert known is not None
    await tx.execute(
        INSERT_REVISION,
        {
            "revision": revision, "document": doc_id, "number": known["known"] + 1, "hash": f"sha256:{revision.hex}",
            "written_at": written_at or datetime(2026, 3, 1, tzinfo=UTC), "people": list(people),
        },
    )  # fmt: skip
    await tx.execute(INSERT_TEXT, (revision, "\n\n".join(passages)))
    await store_chunks(
        tx, tenant=tenant, doc_id=doc_id, revision_id=revision, chunks=chunks_of(passages, headings, speaker),
        vectors=vectors, model=model if vectors is not None else None,
    )  # fmt: skip
    return doc_id, revision


async def put(
    database: Database, tenant: UUID, passages: Sequence[str], *more: Vectors, **options: object
) -> tuple[UUID, UUID]:
    async with database.transaction(tenant) as tx:
        return await put_document(tx, tenant, passages, *more, **options)  # type: ignore[arg-type]
