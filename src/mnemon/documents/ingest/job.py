"""The ingest job: reads a run's file in a subprocess, embeds it, and has all that came of it recorded."""

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Protocol, Self, cast
from uuid import UUID

import psycopg
from pydantic import BaseModel

from mnemon.documents.errors import DocumentPurged, FileGone
from mnemon.documents.ingest.reader import read_isolated
from mnemon.documents.ingest.recording import Made, RunToDo, record
from mnemon.documents.ingest.slices import NotEmbedded, embed_chunks, is_long, keep_reading, kept_reading
from mnemon.documents.intake.files import Files
from mnemon.errors import MnemonError
from mnemon.log.store import EventLog
from mnemon.models.embedder import Embedder
from mnemon.settings import Settings
from mnemon.telemetry import counter, logger
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind

RUN = """
SELECT r.run_id, r.doc_id, r.run_type, r.config,
       EXISTS (SELECT FROM mnemon.run_readings k
                WHERE k.tenant_id = r.tenant_id AND k.run_id = r.run_id) AS was_begun
  FROM mnemon.ingestion_runs r WHERE r.tenant_id = mnemon.current_tenant() AND r.run_id = %s
"""
# A stage is told once it has lasted so long: small files are through all of them by then.
LASTING_SECONDS = 0.3
# Nobody is told that this was kept: it need not wait for the disk.
NOTE_STAGE = """
UPDATE mnemon.ingestion_runs SET stage = %s, updated_at = clock_timestamp()
  FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unhurried
 WHERE tenant_id = mnemon.current_tenant() AND run_id = %s AND status = 'running' AND attempts = %s
"""

RUNS = counter("mnemon_ingestion_runs", "Runs whose end this process recorded, by status.", ["status"])
CHUNKS = counter("mnemon_ingested_chunks", "Chunks that this process made.")

log = logger(__name__)


class IngestContext(Protocol):
    """What the worker hands to the handlers: the running Mnemon, as far as they need it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def files(self) -> Files: ...
    @property
    def embedder(self) -> Embedder: ...


class RunToRead(BaseModel):
    """The payload names the run; what may have to be forgotten stands there."""

    run_id: UUID


INGEST = JobKind("documents.ingest", RunToRead, attempts=3, time_limit=3600, backoff=Backoff(10, 120))


@INGEST.handler
async def ingest(job: Job[RunToRead]) -> None:
    """Everything slow happens outside a transaction. A crash anywhere leaves the file to the next attempt."""
    started = time.perf_counter()
    context = cast(IngestContext, job.context)
    run = await _run(job)
    async with RunStages(job, run) as stages:
        path = await asyncio.to_thread(_file_of, context.files, job.tenant_id, run)
        read = await kept_reading(job, run.run_id) if run.was_begun else None
        if read is None:
            stages.now = "extract"
            read = await read_isolated(path, run.config["kind"], context.settings)
            if is_long(read.chunks):
                await keep_reading(job, run.run_id, read)
        job.stages |= {"extract": read.extract_seconds, "chunk": read.chunk_seconds}
        stages.now = "embed"
        vectors, model, without_vectors = None, None, None
        try:
            vectors, model = await embed_chunks(job, context.embedder, run.doc_id, run.run_id, read.chunks)
        except NotEmbedded as missing:
            if _is_worth_waiting(job, run, missing.failure):
                raise missing.failure from None
            without_vectors = missing.failure.message
            log.warning("stored_without_vectors", run_id=run.run_id, error_code=missing.failure.code)
        stages.now = "store"
        made = Made(run, read, vectors, model, without_vectors)
        await record(job, context.log, context.files, made, path)
    await asyncio.to_thread(context.files.discard_upload, job.tenant_id, run.run_id)
    _report(job, made, time.perf_counter() - started)


def _is_worth_waiting(job: Job[RunToRead], run: RunToDo, failure: MnemonError) -> bool:
    """Whether a model that failed is tried again before the document is stored without vectors, which it gets later. A
    document that is read anew keeps those that it has."""
    return run.run_type == "rebuild" or (failure.retry and job.attempt < job.max_attempts)


async def _run(job: Job[RunToRead]) -> RunToDo:
    async with job.transaction() as tx:
        row = await (await tx.execute(RUN, (job.payload.run_id,))).fetchone()
    if row is None:
        raise FileGone(f"There is no run {job.payload.run_id}.", run_id=str(job.payload.run_id))
    if "content_hash" not in row["config"]:
        raise DocumentPurged("The document was purged.", doc_id=str(row["doc_id"]))
    return RunToDo(**row)


def _file_of(files: Files, tenant: UUID, run: RunToDo) -> Path:
    """The upload, or the blob that an earlier attempt, or an earlier run, made of the same bytes."""
    upload = files.upload(tenant, run.run_id)
    if upload is not None:
        return upload
    missing = f"The file of run {run.run_id} is gone: upload it again."
    return files.intact_blob(tenant, run.content_hash, missing, run_id=str(run.run_id))


class RunStages:
    """Says how far the run is, where a stage takes long. That it lives at all is said by the lease's heartbeat."""

    def __init__(self, job: Job[RunToRead], run: RunToDo) -> None:
        self.now = self._told = ""
        self._job, self._run = job, run

    async def __aenter__(self) -> Self:
        self._telling = asyncio.create_task(self._tell())
        return self

    async def __aexit__(self, *failure: object) -> None:
        self._telling.cancel()
        await asyncio.gather(self._telling, return_exceptions=True)

    async def _tell(self) -> None:
        while True:
            await asyncio.sleep(LASTING_SECONDS)
            if (stage := self.now) != self._told:
                # Whatever is in the way of this is in the way of the run too, which finds out by itself.
                with contextlib.suppress(MnemonError, psycopg.Error):
                    async with self._job.transaction() as tx:
                        await tx.execute(NOTE_STAGE, (stage, self._run.run_id, self._job.attempt))
                    self._told = stage


def _report(job: Job[RunToRead], made: Made, seconds: float) -> None:
    RUNS.labels("succeeded").inc()
    CHUNKS.inc(len(made.read.chunks))
    log.info(
        "ingest_job_complete",
        run_id=made.run.run_id,
        tenant_id=job.tenant_id,
        doc_id=made.run.doc_id,
        status="succeeded",
        chunks_created=len(made.read.chunks),
        tokens_total=made.tokens,
        duration_ms=round(seconds * 1000),
        queue_wait_ms=round(job.waited_seconds * 1000),
        stages=job.stage_milliseconds(),
    )
