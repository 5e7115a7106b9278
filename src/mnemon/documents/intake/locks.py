"""Who may change a document: one transaction at a time. A source is locked before the document that it leads to."""

from collections.abc import Iterable
from uuid import UUID

from mnemon.db.database import Connection

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s || ' of ' || mnemon.current_tenant(), 0))"
# Each is waited for before the next is asked for.
LOCK_IN_TURN = """
SELECT pg_advisory_xact_lock(hashtextextended(name || ' of ' || mnemon.current_tenant(), 0))
  FROM unnest(%s::text[]) AS name
"""


async def lock_source(tx: Connection, source_uri: str) -> None:
    """Until the transaction ends, nobody else finds out whether this source is known."""
    await tx.execute(LOCK, (f"source {source_uri}",))


async def lock_document(tx: Connection, doc_id: UUID) -> None:
    """Until the transaction ends, nobody else changes which revision of this document is served, or purges it."""
    await tx.execute(LOCK, (f"document {doc_id}",))


async def lock_documents(tx: Connection, doc_ids: Iterable[UUID]) -> None:
    """In one order, so that two who lock several do not wait for each other."""
    await tx.execute(LOCK_IN_TURN, ([f"document {doc_id}" for doc_id in sorted(set(doc_ids))],))


async def lock_blob(tx: Connection, content_hash: str) -> None:
    """Until the transaction ends, nobody else decides whether the file of this content is kept."""
    await tx.execute(LOCK, (f"blob {content_hash}",))


async def lock_linking(tx: Connection) -> None:
    """Until the transaction ends, nobody else ties events of the tenant: of two at once, one sees the other's."""
    await tx.execute(LOCK, ("links",))


async def lock_document_and_blob(tx: Connection, doc_id: UUID, content_hash: str) -> None:
    await tx.execute(LOCK_IN_TURN, ([f"document {doc_id}", f"blob {content_hash}"],))


async def lock_document_and_linking(tx: Connection, doc_id: UUID) -> None:
    await tx.execute(LOCK_IN_TURN, ([f"document {doc_id}", "links"],))
