"""Vectors of semantic events: stored beside the events, found again by their words when the model changes."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.models.embedder import Vectors
from mnemon.models.vector_tables import VectorTable, register_vector_table
from mnemon.search.kinds import MEANING, WORDS, Kind
from mnemon.semantics.semantic_event import SemanticEvent

VECTORS = "mnemon.semantic_event_vectors"
# Their words are weighed as among the passages that they were read from.
SEMANTIC_EVENT = Kind("semantic event", "passage", VECTORS, MappingProxyType({WORDS: 1.0, MEANING: 0.6}))

TEXTS = """
SELECT event_id, narrative, subject_ref FROM mnemon.semantic_events
 WHERE tenant_id = mnemon.current_tenant() AND event_id = ANY(%s)
"""
DROP = """
DELETE FROM mnemon.semantic_event_vectors v USING mnemon.semantic_events e
 WHERE v.tenant_id = mnemon.current_tenant() AND e.tenant_id = v.tenant_id AND e.event_id = v.event_id
   AND e.doc_version_id = ANY(%s)
"""
# Those of one revision. A vector of any model will do: a change of model brings it along.
WITHOUT = """
SELECT e.event_id, e.doc_id, e.narrative, e.subject_ref FROM mnemon.semantic_events e
 WHERE e.tenant_id = mnemon.current_tenant()
   AND e.doc_version_id = (SELECT m.doc_version_id FROM mnemon.semantic_events m
                            WHERE m.tenant_id = mnemon.current_tenant() AND NOT EXISTS (
                                  SELECT FROM mnemon.semantic_event_vectors v
                                   WHERE v.tenant_id = m.tenant_id AND v.event_id = m.event_id) LIMIT 1)
   AND NOT EXISTS (SELECT FROM mnemon.semantic_event_vectors v
                    WHERE v.tenant_id = e.tenant_id AND v.event_id = e.event_id)
 ORDER BY e.position
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


async def events_without_vectors(tx: Connection) -> list[dict[str, Any]]:
    """Of one revision; none if every event has a vector."""
    return await (await tx.execute(WITHOUT)).fetchall()


async def add_vectors(tx: Connection, event_ids: Sequence[str], vectors: Vectors, model_id: str) -> int:
    """For those of the events that are still there; how many were stored."""
    there = await _texts(tx, event_ids)
    kept = [number for number, event_id in enumerate(event_ids) if event_id in there]
    return await VECTOR_TABLE.store(tx, [event_ids[number] for number in kept], vectors[kept], model_id)


async def drop_vectors(tx: Connection, revisions: Sequence[UUID]) -> None:
    await tx.execute(DROP, (list(revisions),))


async def on_purge(tx: Connection, doc_id: UUID, revisions: Sequence[UUID]) -> None:
    """A purge takes the vectors along while the events still say which they are."""
    await drop_vectors(tx, revisions)


async def _texts(tx: Connection, keys: Sequence[Any]) -> Mapping[Any, str]:
    rows = await (await tx.execute(TEXTS, (list(keys),))).fetchall()
    return {row["event_id"]: text_to_embed(row["narrative"], row["subject_ref"]) for row in rows}


VECTOR_TABLE = register_vector_table(VectorTable(VECTORS, "event_id", _texts, "text"))
