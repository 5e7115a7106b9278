"""Which revision is served: an administrator takes a document out of service, or puts a revision back into it."""

from uuid import UUID

from mnemon.documents import events as happened
from mnemon.documents.errors import DocumentPurged, NothingActive
from mnemon.documents.ingest.chunk_store import activate_chunks
from mnemon.documents.intake.locks import lock_document
from mnemon.documents.library import Document, DocumentRevision, document_by_id, revision_of
from mnemon.log.append.transaction import retry_on_conflict
from mnemon.log.events import Actor
from mnemon.log.store import EventLog


async def deactivate(events: EventLog, tenant: UUID, actor: Actor, doc_id: UUID) -> Document:
    """No revision of the document is served any more. Nothing is deleted, and old answers still open their source."""

    async def attempt() -> Document:
        async with events.transaction(tenant) as transaction:
            tx = transaction.connection
            await lock_document(tx, doc_id)
            served = _checked(await document_by_id(tx, doc_id))
            if not served.is_active or served.doc_version_id is None:
                raise NothingActive(f"No revision of document {doc_id} is active.", doc_id=str(doc_id))
            await activate_chunks(tx, served.doc_version_id, False)
            revision = str(served.doc_version_id)
            await transaction.append([happened.about(happened.DEACTIVATED, doc_id, actor, doc_version_id=revision)])
            return await document_by_id(tx, doc_id)

    return await retry_on_conflict(attempt)


async def reactivate(
    events: EventLog, tenant: UUID, actor: Actor, doc_id: UUID, named: UUID | int | None = None
) -> Document:
    """Serve a revision again, the last one unless told, in the place of any other."""

    async def attempt() -> Document:
        async with events.transaction(tenant) as transaction:
            tx = transaction.connection
            await lock_document(tx, doc_id)
            served = _checked(await document_by_id(tx, doc_id))
            wanted = await revision_of(tx, doc_id, named)
            _refuse_active(wanted)
            before = served.doc_version_id if served.is_active else None
            if before is not None:
                await activate_chunks(tx, before, False)
            await activate_chunks(tx, wanted.doc_version_id, True)
            event = happened.about(
                happened.REACTIVATED, doc_id, actor,
                doc_version_id=str(wanted.doc_version_id), deactivated_version_id=str(before) if before else None,
            )  # fmt: skip
            await transaction.append([event])
            return await document_by_id(tx, doc_id)

    return await retry_on_conflict(attempt)


def _checked(document: Document) -> Document:
    if document.purged_at is not None:
        raise DocumentPurged(f"Document {document.doc_id} was purged.", doc_id=str(document.doc_id))
    return document


def _refuse_active(revision: DocumentRevision) -> None:
    if revision.is_active:
        raise NothingActive(
            f"Revision {revision.version_number} of document {revision.doc_id} is active already.",
            doc_version_id=str(revision.doc_version_id),
        )
