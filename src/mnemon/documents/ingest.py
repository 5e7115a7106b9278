"""The ingest job: reads a run's file outside any transaction, then writes all that came of it in one."""

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid5

from pydantic import BaseModel

from mnemon.documents import events as happened
from mnemon.documents.chunk_store import activate_chunks, store_chunks, text_to_embed
from mnemon.documents.content import Chunk
from mnemon.documents.described import described
from mnemon.documents.errors import DocumentPurged, FileGone
from mnemon.documents.files import Files
from mnemon.documents.locks import lock_blob, lock_document
from mnemon.documents.reading import FileToRead, ReadFile, read_file
from mnemon.documents.revision_texts import store_text
from mnemon.log.events import SYSTEM
from mnemon.log.store import EventLog
from mnemon.log.transaction import LogTransaction
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Embedder, Vectors
from mnemon.settings import Settings
from mnemon.telemetry import counter, logger
from mnemon.work.isolate import run_isolated
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, Kind

if TYPE_CHECKING:
    from typing import Protocol

    class Context(Protocol):
        """What the worker hands to the handler: the running Mnemon."""

        settings: Settings
        log: EventLog
        files: Files
        embedder: Embedder


RUN = """
SELECT run_id, doc_id, run_type, config, created_at FROM mnemon.ingestion_runs
 WHERE tenant_id = mnemon.current_tenant() AND run_id = %s
"""
NOTE_STAGE = """
UPDATE mnemon.ingestion_runs SET stage = %s, updated_at = clock_timestamp()
 WHERE tenant_id = mnemon.current_tenant() AND run_id = %s AND status = 'running' AND attempts = %s
"""
# Locked against a purge by the advisory lock that comes before.
DOCUMENT = """
SELECT d.purged_at, v.doc_version_id AS active_version_id,
       (SELECT coalesce(max(version_number), 0) FROM mnemon.document_versions o
         WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id) AS last_number,
       (SELECT version_number FROM mnemon.document_versions k
         WHERE k.tenant_id = d.tenant_id AND k.doc_version_id = %(revision)s) AS known_number
  FROM mnemon.documents d
  LEFT JOIN mnemon.document_versions v ON v.tenant_id = d.tenant_id AND v.doc_id = d.doc_id AND v.is_active
 WHERE d.tenant_id = mnemon.current_tenant() AND d.doc_id = %(doc)s
"""

RUNS = counter("mnemon_ingestion_runs", "Runs that this process brought to an end, by status.", ["status"])
CHUNKS = counter("mnemon_ingested_chunks", "Chunks that this process made.")

log = logger(__name__)


class Reading(BaseModel):
    """The payload names the run; what may have to be forgotten stands there."""

    run_id: UUID


INGEST = Kind("documents.ingest", Reading, attempts=3, time_limit=3600, backoff=Backoff(10, 120))


@dataclass(frozen=True, slots=True)
class Run:
    """What the job has to do."""

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

    read: ReadFile
    vectors: Vectors | None
    model: ModelInUse | None
    revision_id: UUID

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.read.chunks)


@INGEST.handler
async def ingest(job: Job[Reading]) -> None:
    """Extract and chunk in a subprocess, embed, then write text, chunks, vectors, event and outcome together."""
    context = cast("Context", job.context)
    run = await _run(job)
    path = await asyncio.to_thread(_file_of, context.files, job.tenant_id, run)
    await _note(job, run, "extract")
    read = await run_isolated(
        read_file,
        FileToRead(path=path, kind=run.config["kind"], embedder_folder=context.settings.embedder_folder),
        memory_mb=context.settings.extract_memory_mb,
        seconds=context.settings.extract_seconds,
    )
    job.stages |= {"extract": read.extract_seconds, "chunk": read.chunk_seconds}
    await _note(job, run, "embed")
    with job.stage("embed"):
        vectors, model = await _embed(context.embedder, read.chunks)
    revision_id = revision_of(run.doc_id, run.content_hash, read.extraction.extractor)
    made = Made(read, vectors, model, revision_id)
    await _note(job, run, "store")
    with job.stage("db_write"):
        await _write(job, context, run, made, path)
    await asyncio.to_thread(context.files.discard_upload, job.tenant_id, run.run_id)
    _report(job, run, made)


def revision_of(doc_id: UUID, content_hash: str, extractor: str) -> UUID:
    """The same bytes, read by the same extractor for the same document, are always the same revision."""
    return uuid5(doc_id, f"{content_hash} {extractor}")


async def _run(job: Job[Reading]) -> Run:
    async with job.transaction() as tx:
        row = await (await tx.execute(RUN, (job.payload.run_id,))).fetchone()
    if row is None:
        raise FileGone(f"There is no run {job.payload.run_id}.", run_id=str(job.payload.run_id))
    if "content_hash" not in row["config"]:
        raise DocumentPurged("The document was purged.", doc_id=str(row["doc_id"]))
    return Run(row["run_id"], row["doc_id"], row["run_type"], row["config"])


def _file_of(files: Files, tenant: UUID, run: Run) -> Path:
    """The upload, or the blob that an earlier attempt, or an earlier run, made of the same bytes."""
    upload = files.upload(tenant, run.run_id)
    if upload is not None:
        return upload
    blob = files.blob(tenant, run.content_hash)
    if not blob.exists():
        raise FileGone(f"The file of run {run.run_id} is gone: upload it again.", run_id=str(run.run_id))
    return blob


async def _note(job: Job[Reading], run: Run, stage: str) -> None:
    """Say how far the run is. That it lives at all is said by the lease's heartbeat."""
    async with job.transaction() as tx:
        await tx.execute(NOTE_STAGE, (stage, run.run_id, job.attempt))


async def _embed(embedder: Embedder, chunks: list[Chunk]) -> tuple[Vectors | None, ModelInUse | None]:
    """Without a model the document is searched by its words."""
    if embedder.source == "none":
        return None, None
    vectors = await embedder.embed([text_to_embed(one.headings, one.text) for one in chunks])
    return vectors, ModelInUse(embedder.model_id, vectors.shape[1])


async def _write(job: Job[Reading], context: "Context", run: Run, made: Made, path: Path) -> None:
    """One transaction: all of it is there, once, or nothing. The append comes last but for the job's own end."""
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        await lock_document(tx, run.doc_id)
        await lock_blob(tx, run.content_hash)
        document = await (await tx.execute(DOCUMENT, {"doc": run.doc_id, "revision": made.revision_id})).fetchone()
        if document is None or document["purged_at"] is not None:
            raise DocumentPurged("The document was purged while its file was read.", doc_id=str(run.doc_id))
        await asyncio.to_thread(context.files.keep, job.tenant_id, path, run.content_hash)
        before = document["active_version_id"]
        if before not in (None, made.revision_id):
            await activate_chunks(tx, before, False)
        await store_text(tx, made.revision_id, made.read.extraction)
        await store_chunks(
            tx, tenant=job.tenant_id, doc_id=run.doc_id, revision_id=made.revision_id, chunks=made.read.chunks,
            vectors=made.vectors, model=made.model,
        )  # fmt: skip
        await _record(transaction, run, made, document)
        stats = {"docs_processed": 1, "chunks_created": len(made.read.chunks), "tokens_total": made.tokens}
        stats |= job.stage_milliseconds()
        await job.finish(tx, {"doc_version_id": str(made.revision_id), "stats": stats})


async def _record(transaction: LogTransaction, run: Run, made: Made, document: dict[str, Any]) -> None:
    extraction = made.read.extraction
    number = document["known_number"] or document["last_number"] + 1
    before = document["active_version_id"]
    event = happened.about(
        happened.INGESTED, run.doc_id, SYSTEM, run.run_id,
        doc_version_id=str(made.revision_id),
        version_number=number,
        version_label=str(number),
        deactivated_version_id=str(before) if before not in (None, made.revision_id) else None,
        content_hash=run.content_hash,
        text_hash="sha256:" + hashlib.sha256(extraction.text.encode()).hexdigest(),
        extractor=extraction.extractor,
        media_type=run.config["content_type"],
        original_filename=run.config["original_filename"],
        size_bytes=run.config["file_size_bytes"],
        char_count=len(extraction.text),
        page_count=len(extraction.pages) or None,
        chunk_count=len(made.read.chunks),
        token_count=made.tokens,
        **described(extraction.details),
    )  # fmt: skip
    await transaction.append([event])


def _report(job: Job[Reading], run: Run, made: Made) -> None:
    RUNS.labels("succeeded").inc()
    CHUNKS.inc(len(made.read.chunks))
    log.info(
        "ingest_job_complete",
        run_id=run.run_id,
        tenant_id=job.tenant_id,
        doc_id=run.doc_id,
        status="succeeded",
        chunks_created=len(made.read.chunks),
        tokens_total=made.tokens,
        duration_ms=sum(job.stage_milliseconds().values()),
        queue_wait_ms=round(job.waited_seconds * 1000),
        stages=job.stage_milliseconds(),
    )
