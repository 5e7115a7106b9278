"""Recording what a run made of its file: text, chunks, vectors, event and the job's end, in one transaction."""

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from mnemon.documents import events as happened
from mnemon.documents.access import readers_of_document
from mnemon.documents.errors import DocumentPurged, NothingActive, TextDiffers
from mnemon.documents.ingest.chunk_store import activate_chunks, store_chunks
from mnemon.documents.ingest.content import Extraction
from mnemon.documents.ingest.described import as_told, described
from mnemon.documents.ingest.extract_job import enqueue_extraction
from mnemon.documents.ingest.reading import ReadFile
from mnemon.documents.ingest.revision_texts import store_text
from mnemon.documents.ingest.slices import forget_slices, is_long
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.locks import lock_document_and_blob
from mnemon.log.events import SYSTEM, Actor, NewEvent
from mnemon.log.store import EventLog
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Vectors
from mnemon.work.job import Job
from mnemon.work.model_jobs import enqueue_missing_vectors

# Locked against other runs and a purge by the advisory lock that comes before.
DOCUMENT = """
SELECT d.purged_at, v.doc_version_id AS active_id,
       (SELECT coalesce(max(version_number), 0) FROM mnemon.document_revisions o
         WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id) AS last_number,
       k.version_number AS known_number, k.text_hash AS known_text_hash, k.is_active AS known_active
  FROM mnemon.documents d
  LEFT JOIN mnemon.document_revisions v ON v.tenant_id = d.tenant_id AND v.doc_id = d.doc_id AND v.is_active
  LEFT JOIN mnemon.document_revisions k ON k.tenant_id = d.tenant_id AND k.doc_version_id = %(revision)s
 WHERE d.tenant_id = mnemon.current_tenant() AND d.doc_id = %(doc)s
"""


@dataclass(frozen=True, slots=True)
class RunToDo:
    """What a job has to do, as its run says."""

    run_id: UUID
    doc_id: UUID
    run_type: str
    config: dict[str, Any]
    # Whether an earlier turn has read the file already.
    was_begun: bool = False

    @property
    def content_hash(self) -> str:
        return str(self.config["content_hash"])


@dataclass(frozen=True, slots=True)
class Made:
    """What came of the file, with its vectors where there is a model; where that failed, `without_vectors` says why."""

    run: RunToDo
    read: ReadFile
    vectors: Vectors | None
    model: ModelInUse | None
    without_vectors: str | None = None

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.read.chunks)

    def revision(self) -> "RevisionMade":
        run, extraction = self.run, as_told(self.read.extraction, self.run.config.get("told", {}))
        revision_id = revision_id_of(run.doc_id, run.content_hash, extraction.extractor)
        return RevisionMade(run.doc_id, run.run_id, revision_id, extraction, len(self.read.chunks), self.tokens)


@dataclass(frozen=True, slots=True)
class RevisionMade:
    """A revision that was read, by a run or while its sender waits; of a long text nobody has counted the chunks."""

    doc_id: UUID
    run_id: UUID
    revision_id: UUID
    extraction: Extraction
    chunk_count: int | None
    token_count: int | None

    @property
    def text_hash(self) -> str:
        return "sha256:" + hashlib.sha256(self.extraction.text.encode()).hexdigest()


def revision_id_of(doc_id: UUID, content_hash: str, extractor: str) -> UUID:
    """The same bytes, read by the same extractor for the same document, are always the same revision."""
    return uuid5(doc_id, f"{content_hash} {extractor}")


async def record(job: Job[Any], events: EventLog, files: Files, made: Made, path: Path) -> None:
    """All of it is there, once, or nothing. The append comes last but for the job's own end."""
    run, revision = made.run, made.revision()
    async with events.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        with job.stage("db_write"):
            await lock_document_and_blob(tx, run.doc_id, run.content_hash)
            values = {"doc": run.doc_id, "revision": revision.revision_id}
            document = await (await tx.execute(DOCUMENT, values)).fetchone()
            served = _serves(run, revision, document)
            assert document is not None
            await asyncio.to_thread(files.keep, job.tenant_id, path, run.content_hash)
            if served and document["active_id"] not in (None, revision.revision_id):
                await activate_chunks(tx, document["active_id"], False)
            await store_text(tx, revision.revision_id, revision.extraction)
        with job.stage("fts"):
            await store_chunks(
                tx, tenant=job.tenant_id, doc_id=run.doc_id, revision_id=revision.revision_id, chunks=made.read.chunks,
                vectors=made.vectors, model=made.model, active=served,
            )  # fmt: skip
        with job.stage("db_write"):
            if made.without_vectors:
                await enqueue_missing_vectors(tx)
            if document["known_number"] is None:
                readers = await readers_of_document(tx, run.doc_id)
                await enqueue_extraction(tx, revision.revision_id, readers=readers)
            await transaction.append([_event(run, revision, document)])
        stats: dict[str, Any] = {
            "docs_processed": 1,
            "chunks_created": len(made.read.chunks),
            "tokens_total": made.tokens,
        }
        stats |= job.stage_milliseconds()
        if made.without_vectors:
            stats["without_vectors"] = made.without_vectors
        if is_long(made.read.chunks):
            await forget_slices(tx, run.run_id)
        await job.finish(tx, {"doc_version_id": str(revision.revision_id), "stats": stats})


def _serves(run: RunToDo, revision: RevisionMade, document: dict[str, Any] | None) -> bool:
    """Whether the revision is the active one from now on, or the reason why nothing may be written at all."""
    if document is None or document["purged_at"] is not None:
        raise DocumentPurged("The document was purged while its file was read.", doc_id=str(run.doc_id))
    if document["known_text_hash"] not in (None, revision.text_hash):
        raise TextDiffers(
            f"{revision.extraction.extractor} read another text from the same bytes than it did before: "
            "the text that answers were quoted from stays.",
            doc_version_id=str(revision.revision_id),
        )
    if run.run_type != "rebuild":
        return True
    if document["known_number"] is None and document["active_id"] is None:
        raise NothingActive(f"Document {run.doc_id} was taken out of service meanwhile.", doc_id=str(run.doc_id))
    return bool(document["known_number"] is None or document["known_active"])


def _event(run: RunToDo, revision: RevisionMade, document: dict[str, Any]) -> NewEvent:
    if run.run_type == "rebuild" and document["known_number"] is not None:
        return happened.about(
            happened.REBUILT, run.doc_id, SYSTEM, run.run_id,
            doc_version_id=str(revision.revision_id), extractor=revision.extraction.extractor,
            chunk_count=revision.chunk_count, token_count=revision.token_count,
        )  # fmt: skip
    return ingested_event(
        revision, SYSTEM, document["known_number"] or document["last_number"] + 1, document["active_id"],
        content_hash=run.content_hash, filename=run.config["original_filename"],
        size=run.config["file_size_bytes"], media_type=run.config["content_type"],
    )  # fmt: skip


def ingested_event(
    made: RevisionMade, actor: Actor, number: int, before: UUID | None, *,
    content_hash: str, filename: str, size: int, media_type: str,
) -> NewEvent:  # fmt: skip
    """The revision is the active one from now on, in the place of the one before."""
    extraction = made.extraction
    return happened.about(
        happened.INGESTED, made.doc_id, actor, made.run_id,
        doc_version_id=str(made.revision_id),
        version_number=number,
        version_label=str(number),
        deactivated_version_id=str(before) if before not in (None, made.revision_id) else None,
        content_hash=content_hash,
        text_hash=made.text_hash,
        extractor=extraction.extractor,
        media_type=media_type,
        original_filename=filename,
        size_bytes=size,
        char_count=len(extraction.text),
        page_count=len(extraction.pages) or None,
        chunk_count=made.chunk_count,
        token_count=made.token_count,
        **described(extraction, filename),
    )  # fmt: skip
