"""Vectors of semantic events: stored beside the events, found again by their words when the model changes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.intake.locks import lock_documents
from mnemon.models.embedder import Vectors
from mnemon.models.vector_tables import VectorTable, register_vector_table
from mnemon.semantics.semantic_event import SemanticEvent

VECTORS = "mnemon.semantic_event_vectors"

# As it was read: what a person says of it has no vector that would outlive them.
TEXTS = """
SELECT event_id, narrative, coalesce(as_read ->> 'subject_ref', subject_ref) AS subject_ref
  FROM mnemon.semantic_events
 WHERE tenant_id = mnemon.current_tenant() AND event_id = ANY(%s)
"""
DROP = """
DELETE FROM mnemon.semantic_event_vectors v USING mnemon.semantic_events e
 WHERE v.tenant_id = mnemon.current_tenant() AND e.tenant_id = v.tenant_id AND e.event_id = v.event_id
   AND e.doc_version_id = ANY(%s)
"""
DROP_STRAYS = """
DELETE FROM mnemon.semantic_event_vectors v
 WHERE v.tenant_id = mnemon.current_tenant() AND NOT EXISTS (
       SELECT FROM mnemon.semantic_events e WHERE e.tenant_id = v.tenant_id AND e.event_id = v.event_id)
"""
ALL_KEYS = "SELECT event_id AS key FROM mnemon.semantic_events WHERE tenant_id = mnemon.current_tenant()"
DOCUMENTS_OF = """
SELECT DISTINCT doc_id FROM mnemon.semantic_events WHERE tenant_id = mnemon.current_tenant() AND event_id = ANY(%s)
"""


def text_to_embed(narrative: str, subject: str) -> str:
    return narrative if subject.casefold() in narrative.casefold() else f"{subject}: {narrative}"


async def replace_vectors(
    tx: Connection, revision: UUID, events: Sequence[SemanticEvent], vectors: Vectors | None, model_id: str
) -> None:
    """In the place of the revision's earlier ones, before the events change: after that nothing leads to those."""
    await drop_vectors(tx, [revision])
    if vectors is not None:
        await VECTOR_TABLE.store(tx, [event.event_id for event in events], vectors, model_id)


async def drop_vectors(tx: Connection, revisions: Sequence[UUID]) -> None:
    await tx.execute(DROP, (list(revisions),))


async def on_purge(tx: Connection, doc_id: UUID, revisions: Sequence[UUID]) -> None:
    """A purge takes the vectors along while the events still say which they are."""
    await drop_vectors(tx, revisions)


async def drop_strays(tx: Connection) -> None:
    """Those of events that are gone, as when whoever vouched for them was erased: nothing else leads to them."""
    await tx.execute(DROP_STRAYS)


async def _texts(tx: Connection, keys: Sequence[Any]) -> Mapping[Any, str]:
    rows = await (await tx.execute(TEXTS, (list(keys),))).fetchall()
    return {row["event_id"]: text_to_embed(row["narrative"], row["subject_ref"]) for row in rows}


async def _hold_documents(tx: Connection, keys: Sequence[Any]) -> None:
    """Nobody purges them, or reads them anew, before the vectors are stored."""
    rows = await (await tx.execute(DOCUMENTS_OF, (list(keys),))).fetchall()
    await lock_documents(tx, [row["doc_id"] for row in rows])


VECTOR_TABLE = register_vector_table(
    VectorTable(VECTORS, "event_id", _texts, "text", wanted=ALL_KEYS, before_store=_hold_documents)
)
