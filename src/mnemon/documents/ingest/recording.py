"""Recording what a run made of its file: text, chunks, vectors, event and the job's end, in one transaction."""

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from mnemon.documents import events as happened
from mnemon.documents.errors import DocumentPurged, NothingActive, TextDiffers
from mnemon.documents.ingest.chunk_store import activate_chunks, store_chunks
from mnemon.documents.ingest.extract_job import enqueue_extraction
from mnemon.documents.ingest.reading import ReadFile
from mnemon.documents.ingest.revision_texts import store_text
from mnemon.documents.intake.described import described
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.locks import lock_blob, lock_document
from mnemon.log.events import SYSTEM, NewEvent
from mnemon.log.store import EventLog
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Vectors
from mnemon.work.job import Job

# Locked against other runs and a purge by the advisory lock that comes before.
DOCUMENT = """
SELECT d.purged_at, v.doc_version_id AS active_version_id,
       (SELECT coalesce(max(version_number), 0) FROM mnemon.document_versions o
         WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id) AS last_number,
       k.version_number AS known_number, k.text_hash AS known_text_hash, k.is_active AS known_active
  FROM mnemon.documents d
  LEFT JOIN mnemon.document_versions v ON v.tenant_id = d.tenant_id AND v.doc_id = d.doc_id AND v.is_active
  LEFT JOIN mnemon.document_versions k ON k.tenant_id = d.tenant_id AND k.doc_version_id = %(revision)s
 WHERE d.tenant_id = mnemon.current_tenant() AND d.doc_id = %(doc)s
"""


@dataclass(frozen=True, slots=True)
class RunToDo:
    """What a job has to do, as its run says."""

    run_id: UUID
    doc_id: UUID
    run_type: str
    config: dict[str, Any]

    @property
    def content_hash(self) -> str:
        return str(self.config["content_hash"])


@dataclass(frozen=True, slots=True)
class Made:
    """What came of the file, with its vectors where there is a model."""

    run: RunToDo
    read: ReadFile
    vectors: Vectors | None
    model: ModelInUse | None

    @property
    def revision_id(self) -> UUID:
        return revision_of(self.run.doc_id, self.run.content_hash, self.read.extraction.extractor)

    @property
    def text_hash(self) -> str:
        return "sha256:" + hashlib.sha256(self.read.extraction.text.encode()).hexdigest()

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.read.chunks)


def revision_of(doc_id: UUID, content_hash: str, extractor: str) -> UUID:
    """The same bytes, read by the same extractor for the same document, are always the same revision."""
    return uuid5(doc_id, f"{content_hash} {extractor}")


async def record(job: Job[Any], events: EventLog, files: Files, made: Made, path: Path) -> None:
    """All of it is there, once, or nothing. The append comes last but for the job's own end."""
    run = made.run
    async with events.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        with job.stage("db_write"):
            await lock_document(tx, run.doc_id)
            await lock_blob(tx, run.content_hash)
            document = await (await tx.execute(DOCUMENT, {"doc": run.doc_id, "revision": made.revision_id})).fetchone()
            served = _serves(made, document)
            assert document is not None
            await asyncio.to_thread(files.keep, job.tenant_id, path, run.content_hash)
            if served and document["active_version_id"] not in (None, made.revision_id):
                await activate_chunks(tx, document["active_version_id"], False)
            await store_text(tx, made.revision_id, made.read.extraction)
        with job.stage("fts"):
            await store_chunks(
                tx, tenant=job.tenant_id, doc_id=run.doc_id, revision_id=made.revision_id, chunks=made.read.chunks,
                vectors=made.vectors, model=made.model, active=served,
            )  # fmt: skip
        with job.stage("db_write"):
            again = run.run_type == "rebuild" and document["known_number"] is not None
            if document["known_number"] is None:
                await enqueue_extraction(tx, made.revision_id)
            await transaction.append([_rebuilt(made) if again else _ingested(made, document)])
        stats = {"docs_processed": 1, "chunks_created": len(made.read.chunks), "tokens_total": made.tokens}
        stats |= job.stage_milliseconds()
        await job.finish(tx, {"doc_version_id": str(made.revision_id), "stats": stats})


def _serves(made: Made, document: dict[str, Any] | None) -> bool:
    """Whether the version is the active one from now on, or the reason why nothing may be written at all."""
    doc_id = made.run.doc_id
    if document is None or document["purged_at"] is not None:
        raise DocumentPurged("The document was purged while its file was read.", doc_id=str(doc_id))
    if document["known_text_hash"] not in (None, made.text_hash):
        raise TextDiffers(
            f"{made.read.extraction.extractor} read another text from the same bytes than it did before: "
            "the text that answers were quoted from stays.",
            doc_version_id=str(made.revision_id),
        )
    if made.run.run_type != "rebuild":
        return True
    if document["known_number"] is None and document["active_version_id"] is None:
        raise NothingActive(f"Document {doc_id} was taken out of service meanwhile.", doc_id=str(doc_id))
    return bool(document["known_number"] is None or document["known_active"])


def _ingested(made: Made, document: dict[str, Any]) -> NewEvent:
    run, extraction = made.run, made.read.extraction
    number = document["known_number"] or document["last_number"] + 1
    before = document["active_version_id"]
    return happened.about(
        happened.INGESTED, run.doc_id, SYSTEM, run.run_id,
        doc_version_id=str(made.revision_id),
        version_number=number,
        version_label=str(number),
        deactivated_version_id=str(before) if before not in (None, made.revision_id) else None,
        content_hash=run.content_hash,
        text_hash=made.text_hash,
        extractor=extraction.extractor,
        media_type=run.config["content_type"],
        original_filename=run.config["original_filename"],
        size_bytes=run.config["file_size_bytes"],
        char_count=len(extraction.text),
        page_count=len(extraction.pages) or None,
        chunk_count=len(made.read.chunks),
        token_count=made.tokens,
        **described(extraction, run.config["original_filename"]),
    )  # fmt: skip


def _rebuilt(made: Made) -> NewEvent:
    return happened.about(
        happened.REBUILT, made.run.doc_id, SYSTEM, made.run.run_id,
        doc_version_id=str(made.revision_id), extractor=made.read.extraction.extractor,
        chunk_count=len(made.read.chunks), token_count=made.tokens,
    )  # fmt: skip
