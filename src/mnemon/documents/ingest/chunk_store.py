"""Chunks in the database: stored with their words and vectors, counted, switched on and off, removed."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.documents.ingest.content import Chunk
from mnemon.documents.ingest.embedded_text import text_to_embed
from mnemon.documents.intake.locks import lock_documents
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Vectors
from mnemon.models.vector_tables import VectorTable, register_vector_table
from mnemon.search.kinds import (
    ASKS,
    COVERED,
    COVERED_NEARBY,
    DAY,
    HEADINGS,
    LENGTH,
    MEANING,
    MEANING_AFTER,
    MEANING_BEFORE,
    MEANING_NEARBY,
    REPLIES,
    REPLY_WORDS,
    SPEAKER,
    WORDS,
    WORDS_AFTER,
    WORDS_BEFORE,
    WORDS_NEARBY,
    Kind,
)

VECTORS = "mnemon.chunk_vectors"
# Fitted by `training/fit_ranking.py` on questions of our own: docs/decisions/0048 has the measurements.
PASSAGE = Kind(
    "passage", "passage", VECTORS,
    MappingProxyType({
        WORDS: 0.09, WORDS_NEARBY: 0.599, MEANING: 0.677, MEANING_NEARBY: -0.053, HEADINGS: -0.002, COVERED: 0.164,
        COVERED_NEARBY: 0.315, WORDS_BEFORE: 0.047, WORDS_AFTER: -0.085, MEANING_BEFORE: 0.332, MEANING_AFTER: 0.055,
        ASKS: -0.288, REPLIES: 0.043, REPLY_WORDS: 0.116, SPEAKER: 0.421, DAY: 0.835, LENGTH: 0.745,
    }),
    hidden_terms="mnemon.hidden_terms",
)  # fmt: skip
SHARES = 16

INSERT_CHUNKS = """
INSERT INTO mnemon.chunks (
    tenant_id, chunk_id, doc_version_id, doc_id, ordinal, start_offset, end_offset,
    heading_path, first_page, last_page, speaker, said_on, tokens, text, active)
SELECT mnemon.current_tenant(), chunk_id, %(revision)s, %(document)s, ordinal, start_offset, end_offset,
    heading_path, first_page, last_page, speaker, said_on, tokens, text, %(active)s
FROM jsonb_to_recordset(%(chunks)s) AS given (
    chunk_id uuid, ordinal integer, start_offset integer, end_offset integer,
    heading_path text[], first_page integer, last_page integer, speaker text, said_on date, tokens integer,
    text text)
"""
# What a speaker says is found by the speaker's name too, also where the name does not stand in the text itself. Its
# marks tell how much of it asks.
INSERT_TERMS = """
INSERT INTO mnemon.chunk_terms (
    tenant_id, doc_version_id, ordinal, chunk_id, start_offset, end_offset, speaker, said_on, active,
    length, asks, terms, heading_terms)
SELECT tenant_id, doc_version_id, ordinal, chunk_id, start_offset, end_offset, speaker, said_on, active,
    (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(terms)),
    least(1.0, (length(text) - length(replace(text, '?', '')))
        / greatest(length(regexp_replace(text, '[^.!?]+', '', 'g')), 1)::real),
    terms, heading_terms
FROM mnemon.chunks,
    to_tsvector('english', text) AS terms,
    to_tsvector('english', concat_ws(' ', array_to_string(heading_path, ' '), speaker)) AS heading_terms
WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %(revision)s
"""
INSERT_SPEAKERS = """
INSERT INTO mnemon.revision_speakers (tenant_id, name_key, doc_version_id)
SELECT DISTINCT mnemon.current_tenant(), name_key, %(revision)s::uuid
FROM unnest(%(speakers)s::text[]) AS speaker, unnest(mnemon.name_keys(mnemon.current_tenant(), speaker)) AS name_key
"""
COUNT = "SELECT mnemon.count_chunk_terms(%s, %s::smallint, %s)"
STATE = """
SELECT doc_id, active FROM mnemon.chunks
WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s LIMIT 1
"""
SWITCH_CHUNKS = """
UPDATE mnemon.chunks SET active = %s WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s
"""
SWITCH_TERMS = """
UPDATE mnemon.chunk_terms SET active = %s WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s
"""
DELETE_VECTORS = """
DELETE FROM mnemon.chunk_vectors AS gone USING mnemon.chunks AS chunk
WHERE gone.tenant_id = mnemon.current_tenant() AND chunk.tenant_id = gone.tenant_id
  AND chunk.doc_version_id = %s AND gone.chunk_id = chunk.chunk_id
"""
DELETE_TERMS = "DELETE FROM mnemon.chunk_terms WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s"
DELETE_SPEAKERS = (
    "DELETE FROM mnemon.revision_speakers WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s"
)
DELETE_CHUNKS = "DELETE FROM mnemon.chunks WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s"
TEXTS = """
SELECT chunk_id, heading_path, text, speaker FROM mnemon.chunks
WHERE tenant_id = mnemon.current_tenant() AND chunk_id = ANY(%s)
"""
ALL_KEYS = "SELECT chunk_id AS key FROM mnemon.chunks WHERE tenant_id = mnemon.current_tenant()"
DOCUMENTS_OF = """
SELECT DISTINCT doc_id FROM mnemon.chunks WHERE tenant_id = mnemon.current_tenant() AND chunk_id = ANY(%s)
"""


def share_of(doc_id: UUID) -> int:
    """The part of the tenant's counts that a document is counted in, and that is locked meanwhile: whoever stores
    several documents in one transaction goes by this order, so that no two wait for each other."""
    return doc_id.int % SHARES


def chunk_id_of(revision: UUID, ordinal: int) -> UUID:
    """The same chunk of the same revision has the same id, whoever makes it and however often."""
    return uuid5(revision, str(ordinal))


async def store_chunks(
    tx: Connection, *, tenant: UUID, doc_id: UUID, revision_id: UUID, chunks: Sequence[Chunk],
    vectors: Vectors | None, model: ModelInUse | None, active: bool = True,
) -> None:  # fmt: skip
    """Put a revision's chunks in place of those it had. Row `n` of the vectors is chunk `n`'s, made by `model`.

    The revision that this one replaces is switched off first: its document's share of the counts is then locked once.
    """
    await remove_chunks(tx, revision_id)
    ids = [chunk_id_of(revision_id, chunk.ordinal) for chunk in chunks]
    rows = [_row(chunk_id, chunk) for chunk_id, chunk in zip(ids, chunks, strict=True)]
    given = {"revision": revision_id, "document": doc_id, "active": active, "chunks": Jsonb(rows)}
    await tx.execute(INSERT_CHUNKS, given)
    await tx.execute(INSERT_TERMS, given)
    if speakers := {chunk.speaker for chunk in chunks if chunk.speaker}:
        await tx.execute(INSERT_SPEAKERS, {"revision": revision_id, "speakers": list(speakers)})
    if vectors is not None and model is not None and chunks:
        await VECTOR_TABLE.store(tx, ids, vectors, model.model_id)
    if active:
        await _count(tx, doc_id, revision_id, 1)


async def activate_chunks(tx: Connection, revision_id: UUID, active: bool) -> None:
    """Let searches find this revision, or no longer. Switching to the state it has already changes nothing."""
    state = await (await tx.execute(STATE, (revision_id,))).fetchone()
    if state is None or state["active"] == active:
        return
    await _count(tx, state["doc_id"], revision_id, 1 if active else -1)
    await tx.execute(SWITCH_CHUNKS, (active, revision_id))
    await tx.execute(SWITCH_TERMS, (active, revision_id))


async def remove_chunks(tx: Connection, revision_id: UUID) -> None:
    """Nothing of the revision is left: no words, no vectors of any model, no counts."""
    state = await (await tx.execute(STATE, (revision_id,))).fetchone()
    if state is None:
        return
    if state["active"]:
        await _count(tx, state["doc_id"], revision_id, -1)
    for statement in (DELETE_VECTORS, DELETE_TERMS, DELETE_SPEAKERS, DELETE_CHUNKS):
        await tx.execute(statement, (revision_id,))


async def _texts(tx: Connection, keys: Sequence[Any]) -> Mapping[Any, str]:
    rows = await (await tx.execute(TEXTS, (list(keys),))).fetchall()
    return {row["chunk_id"]: text_to_embed(row["heading_path"], row["text"], row["speaker"]) for row in rows}


async def _hold_documents(tx: Connection, keys: Sequence[Any]) -> None:
    """Nobody purges them, or reads them anew, before the vectors are stored."""
    rows = await (await tx.execute(DOCUMENTS_OF, (list(keys),))).fetchall()
    await lock_documents(tx, [row["doc_id"] for row in rows])


# When the model changes, or vectors are missing, the jobs of the models find the table here.
VECTOR_TABLE = register_vector_table(
    VectorTable(VECTORS, "chunk_id", _texts, wanted=ALL_KEYS, before_store=_hold_documents)
)


async def _count(tx: Connection, doc_id: UUID, revision_id: UUID, direction: int) -> None:
    await tx.execute(COUNT, (revision_id, share_of(doc_id), direction))


def _row(chunk_id: UUID, chunk: Chunk) -> dict[str, Any]:
    return {
        "chunk_id": str(chunk_id),
        "ordinal": chunk.ordinal,
        "start_offset": chunk.start,
        "end_offset": chunk.end,
        "heading_path": list(chunk.headings),
        "first_page": chunk.first_page,
        "last_page": chunk.last_page,
        "speaker": chunk.speaker,
        "said_on": chunk.said_on.isoformat() if chunk.said_on else None,
        "tokens": chunk.tokens,
        "text": chunk.text,
    }
