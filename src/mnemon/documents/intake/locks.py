"""Who may change a document: one transaction at a time. A source is locked before the document that it leads to."""

from collections.abc import Iterable
from uuid import UUID

from mnemon.db.database import Connection

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s || ' of ' || mnemon.current_tenant(), 0))"


async def lock_source(tx: Connection, source_uri: str) -> None:
    """Until the transaction ends, nobody else finds out whether this source is known."""
    await tx.execute(LOCK, (f"source {source_uri}",))


async def lock_document(tx: Connection, doc_id: UUID) -> None:
    """Until the transaction ends, nobody else changes which revision of this document is served, or purges it."""
    await tx.execute(LOCK, (f"document {doc_id}",))


async def lock_documents(tx: Connection, doc_ids: Iterable[UUID]) -> None:
    """In one order, so that two who lock several do not wait for each other."""
    for doc_id in sorted(set(doc_ids)):
        await lock_document(tx, doc_id)


async def lock_blob(tx: Connection, content_hash: str) -> None:
    """Until the transaction ends, nobody else decides whether the file of this content is kept."""
    await tx.execute(LOCK, (f"blob {content_hash}",))


async def lock_linking(tx: Connection) -> None:
    """Until the transaction ends, nobody else ties events of the tenant: of two at once, one sees the other's."""
    await tx.execute(LOCK, ("links",))
