"""Rebuilding: text, chunks and vectors of an active revision are made again from its stored file, by a run."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

from mnemon.db.database import Database
from mnemon.documents.access import readers_of_document
from mnemon.documents.errors import DocumentPurged, NothingActive
from mnemon.documents.extraction.kinds import MEDIA_TYPES
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.new_run import add_run, run_config
from mnemon.documents.library import document_by_id, revision_of
from mnemon.ids import new_uuid
from mnemon.log.events import Actor

ACTIVE = """
SELECT doc_id FROM mnemon.document_revisions
 WHERE tenant_id = mnemon.current_tenant() AND is_active AND doc_id > %s ORDER BY doc_id LIMIT 500
"""
FIRST = UUID(int=0)


async def rebuild(database: Database, files: Files, tenant: UUID, actor: Actor, doc_id: UUID) -> UUID:
    """Queue it; the run. A newer extractor gives a new revision, the same one leaves it as it is."""
    async with database.transaction(tenant) as tx:
        document = await document_by_id(tx, doc_id)
        if document.purged_at is not None:
            raise DocumentPurged(f"Document {doc_id} was purged.", doc_id=str(doc_id))
        if not document.is_active:
            raise NothingActive(f"No revision of document {doc_id} is active.", doc_id=str(doc_id))
        revision = await revision_of(tx, doc_id)
        missing = f"The file of document {doc_id} is missing: upload it again."
        blob = await asyncio.to_thread(files.intact_blob, tenant, revision.content_hash, missing, doc_id=str(doc_id))
        run_id = new_uuid()
        kind = next(kind for kind, media_type in MEDIA_TYPES.items() if media_type == revision.media_type)
        config = run_config(
            document.source_type, document.source_uri, blob.as_uri(), document.title, document.tags,
            revision.original_filename, kind, revision.size_bytes, revision.content_hash, actor,
        )  # fmt: skip
        await add_run(tx, run_id, doc_id, "rebuild", actor, config, await readers_of_document(tx, doc_id), priority=-1)
    return run_id


async def active_documents(database: Database, tenant: UUID) -> AsyncIterator[UUID]:
    """Every document with an active revision, in the order of their ids."""
    last = FIRST
    while True:
        async with database.transaction(tenant) as tx:
            found = await (await tx.execute(ACTIVE, (last,))).fetchall()
        for row in found:
            yield row["doc_id"]
        if not found:
            return
        last = found[-1]["doc_id"]
