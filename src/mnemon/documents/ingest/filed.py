"""Chunks and vectors of texts that were filed, some at a time, from what the database holds of them.

What a text quotes from others is no passage of its own, nor is what stands around it (`header`): it is found where it
was first said.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents import events as happened
from mnemon.documents.ingest.chunk_store import share_of, store_chunks
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.content import Chunk, Details, Extraction
from mnemon.documents.ingest.embedded_text import text_to_embed
from mnemon.documents.ingest.extract_job import EXTRACT, RevisionToExtract
from mnemon.documents.ingest.pieces import CountTokens
from mnemon.documents.ingest.revision_texts import RevisionText, read_text
from mnemon.documents.intake.locks import lock_documents
from mnemon.documents.structure.structure import Block
from mnemon.errors import MnemonError, NotFound
from mnemon.log.events import SYSTEM, NewEvent
from mnemon.models.active import ModelInUse
from mnemon.models.bulk_line import in_turn
from mnemon.models.embedder import Embedder, Vectors
from mnemon.work.enqueue import enqueue_many
from mnemon.work.model_jobs import enqueue_missing_vectors

REVISIONS = """
SELECT r.doc_version_id, r.doc_id, r.extractor, d.title FROM mnemon.document_revisions r
  JOIN mnemon.documents d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_version_id = ANY(%s) AND r.purged_at IS NULL
"""
STILL_THERE = """
SELECT doc_version_id, is_active FROM mnemon.document_revisions
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = ANY(%s) AND purged_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class FiledPassages:
    """The chunks of one text, and where among all vectors of its batch theirs begin."""

    revision_id: UUID
    doc_id: UUID
    extractor: str
    chunks: Sequence[Chunk]
    first: int

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.chunks)


@dataclass(frozen=True, slots=True)
class PassageBatch:
    """The chunks of several texts with their vectors, if there is a model; `failure` says why there are none."""

    texts: Sequence[FiledPassages]
    vectors: Vectors | None
    model: ModelInUse | None
    failure: str | None = None

    @property
    def count(self) -> int:
        return sum(len(one.chunks) for one in self.texts)


async def read_passages(tx: Connection, revisions: Sequence[UUID], count: CountTokens) -> list[FiledPassages]:
    rows = await (await tx.execute(REVISIONS, (list(revisions),))).fetchall()
    made: list[FiledPassages] = []
    first = 0
    for row in sorted(rows, key=lambda one: str(one["doc_version_id"])):
        try:
            text = await read_text(tx, row["doc_version_id"])
        except NotFound:
            continue
        chunks = await asyncio.to_thread(own_chunks, text, row["title"], count)
        made.append(FiledPassages(row["doc_version_id"], row["doc_id"], row["extractor"], chunks, first))
        first += len(chunks)
    return made


def own_chunks(text: RevisionText, title: str, count: CountTokens) -> list[Chunk]:
    """Passages of what the text says itself, below its title."""
    chunks: list[Chunk] = []
    for start, end, speaker in _own_ranges(text.blocks):
        part = Extraction(text.text[start:end], [Block("paragraph", 0, end - start, 0, speaker)], Details(), "")
        for one in chunk(part, count):
            moved = replace(one, ordinal=len(chunks), start=one.start + start, end=one.end + start, headings=(title,))
            chunks.append(moved)
    return chunks


def _own_ranges(blocks: Sequence[Block]) -> list[tuple[int, int, str | None]]:
    """Neighbours are one range. A quotation without a level is a text that was forwarded: nobody else may have it."""
    ranges: list[tuple[int, int, str | None]] = []
    for block in blocks:
        if block.kind == "header" or (block.kind == "quote" and block.level > 0):
            continue
        if ranges and ranges[-1][1] == block.start and ranges[-1][2] == block.speaker:
            ranges[-1] = ranges[-1][0], block.end, block.speaker
        else:
            ranges.append((block.start, block.end, block.speaker))
    return ranges


async def embed_passages(tenant: UUID, embedder: Embedder, texts: Sequence[FiledPassages]) -> PassageBatch:
    """With vectors, or with the reason why they come later."""
    if embedder.source == "none" or not any(one.chunks for one in texts):
        return PassageBatch(texts, None, None)
    wanted = [text_to_embed(one.headings, one.text, one.speaker) for text in texts for one in text.chunks]
    try:
        with in_turn(tenant):
            vectors = await embedder.embed(wanted)
    except MnemonError as failure:
        return PassageBatch(texts, None, None, failure.message)
    return PassageBatch(texts, vectors, ModelInUse(embedder.model_id, vectors.shape[1]))


async def store_passages(tx: Connection, tenant: UUID, batch: PassageBatch, run_id: UUID) -> list[NewEvent]:
    """Put them in their place; the events that say so, to be appended in the same transaction."""
    await lock_documents(tx, [one.doc_id for one in batch.texts])
    rows = await (await tx.execute(STILL_THERE, ([one.revision_id for one in batch.texts],))).fetchall()
    active: dict[Any, bool] = {row["doc_version_id"]: row["is_active"] for row in rows}
    events: list[NewEvent] = []
    for text in sorted(batch.texts, key=lambda one: share_of(one.doc_id)):
        if text.revision_id not in active:
            continue
        part = batch.vectors[text.first : text.first + len(text.chunks)] if batch.vectors is not None else None
        await store_chunks(
            tx, tenant=tenant, doc_id=text.doc_id, revision_id=text.revision_id, chunks=text.chunks, vectors=part,
            model=batch.model, active=active[text.revision_id],
        )  # fmt: skip
        told = {"extractor": text.extractor, "chunk_count": len(text.chunks), "token_count": text.tokens}
        revision = str(text.revision_id)
        events.append(happened.about(happened.REBUILT, text.doc_id, SYSTEM, run_id, doc_version_id=revision, **told))
    if batch.failure is not None:
        await enqueue_missing_vectors(tx)
    await _enqueue_extractions(tx, [one.revision_id for one in batch.texts if one.chunks and one.revision_id in active])
    return events


async def _enqueue_extractions(tx: Connection, revisions: Sequence[UUID]) -> None:
    """What was decided, promised and done is read from each of them."""
    if revisions:
        payloads = [RevisionToExtract(doc_version_id=one) for one in revisions]
        await enqueue_many(tx, EXTRACT, payloads, dedupe_keys=[str(one) for one in revisions], priority=-1)
