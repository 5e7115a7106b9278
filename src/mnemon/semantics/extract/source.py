"""Where extraction reads from: a stored revision, with its chunks and what is known of its people and its date."""

import asyncio
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents.errors import ArtifactNotFound
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.content import Details, Extraction
from mnemon.documents.ingest.described import WRITTEN_ON
from mnemon.documents.ingest.revision_texts import RevisionText, read_text
from mnemon.documents.ingest.sizes import READING_SIZES, ChunkSizes
from mnemon.documents.ingest.structured import text_kind
from mnemon.documents.structure.structure import Hints
from mnemon.models.tokens import count_tokens, find_tokenizer
from mnemon.semantics.extract.revision import Revision, RevisionChunk, SourceType
from mnemon.settings import Settings

# The lens row is locked by nobody: whoever writes takes the document's lock and looks again.
KNOWN = """
SELECT r.doc_id, r.created_at AS ingested_at, r.readers, d.document_type, d.source_id, d.title, r.written_at,
       r.authors, r.participants, r.details
  FROM mnemon.document_revisions r
  JOIN mnemon.documents d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_version_id = %s AND r.purged_at IS NULL
"""
CHUNKS = """
SELECT start_offset FROM mnemon.chunks
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s ORDER BY ordinal
"""


@dataclass(frozen=True)
class SourceRevision:
    """A revision to read, and what its events are filed under."""

    doc_id: UUID
    doc_version_id: UUID
    revision: Revision
    # What is read at a time: more than a passage, so that a statement is read with what stands around it.
    chunks: tuple[RevisionChunk, ...]
    # Where each passage begins.
    passages: tuple[int, ...]
    # When it was said, where an event tells no time of its own.
    said_at: datetime
    ingested_at: datetime
    readers: list[str] | None

    def passage_at(self, start: int) -> int | None:
        """The number of the passage that holds this character; none where the text is a single one."""
        return max(bisect_right(self.passages, start) - 1, 0) if len(self.passages) > 1 else None


async def read_source(database: Database, tenant: UUID, revision_id: UUID, settings: Settings) -> SourceRevision:
    """All of it, outside of any longer transaction. Purged meanwhile: an error that is not retried."""
    async with database.transaction(tenant) as tx:
        known = await (await tx.execute(KNOWN, (revision_id,))).fetchone()
        if known is None:
            raise ArtifactNotFound(f"Revision {revision_id} is gone: its document was purged.")
        text = await read_text(tx, revision_id)
        stored = await _stored_chunks(tx, revision_id)
    read, passages = await asyncio.to_thread(_chunks_of, text, settings, stored)
    chunks = tuple(
        RevisionChunk(start, end, str(ordinal) if len(read) > 1 else None) for ordinal, (start, end) in enumerate(read)
    )
    return SourceRevision(
        known["doc_id"], revision_id, await asyncio.to_thread(_revision, revision_id, text, known), chunks, passages,
        known["written_at"] or known["ingested_at"], known["ingested_at"], known["readers"],
    )  # fmt: skip


async def _stored_chunks(tx: Connection, revision_id: UUID) -> tuple[int, ...]:
    return tuple(row["start_offset"] for row in await (await tx.execute(CHUNKS, (revision_id,))).fetchall())


def _chunks_of(
    text: RevisionText, settings: Settings, stored: tuple[int, ...]
) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
    """What is read at a time, and where passages begin: as they are stored, or as the run that stores them, which has
    not come that far, will cut them."""
    tokenizer = find_tokenizer(settings.embedder_folder)
    extraction = Extraction(text.text, text.blocks, Details(), "", text.pages)

    def count(words: str) -> int:
        return count_tokens(tokenizer, words)

    read = [(one.start, one.end) for one in chunk(extraction, count, READING_SIZES)]
    passages = stored or tuple(one.start for one in chunk(extraction, count, ChunkSizes.of(settings)))
    return read, passages


def _revision(revision_id: UUID, text: RevisionText, known: dict[str, Any]) -> Revision:
    hints = Hints(_type_of(text, known), tuple(known["participants"]))
    return Revision(
        str(revision_id),
        text.text,
        hints.kind,
        known["written_at"],
        title=known["details"].get("title") or known["title"],
        sender=known["authors"][0] if len(known["authors"]) == 1 else None,
        participants=hints.people,
        written_on=_day(known["details"].get(WRITTEN_ON)),
        structure=text.structure(hints),
    )


def _day(words: str | None) -> date | None:
    """What a file says of itself may have the same name."""
    try:
        return date.fromisoformat(words) if words else None
    except ValueError:
        return None


def _type_of(text: RevisionText, known: dict[str, Any]) -> SourceType:
    """What the sender said; for a file, what its lines look like."""
    told: SourceType = known["document_type"]
    return text_kind(text.blocks, None) if told == "doc" and known["source_id"] is None else told
