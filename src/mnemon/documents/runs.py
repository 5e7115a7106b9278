"""Runs as people follow them: list, look, retry. What moves them is their job."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from pydantic import Field, computed_field

from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as, readers_of_document
from mnemon.documents.errors import DocumentPurged, FileGone, RunNotRetriable
from mnemon.documents.ingest.job import INGEST, RunToRead
from mnemon.documents.intake.files import Files
from mnemon.documents.states import RunStatus
from mnemon.errors import NotFound
from mnemon.operations import Output
from mnemon.work.enqueue import enqueue

# What belongs to a document that is not for the reader is not there: neither its id nor that something was read.
# OFFSET 0 keeps the planner from reading all documents once for the few runs of a page.
VISIBLE = """(%(everyones)s OR NOT EXISTS (
       SELECT FROM mnemon.documents d WHERE d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
          AND d.readers IS NOT NULL AND NOT mnemon.may_read(d.readers) OFFSET 0))"""
# The operator sees every run; what a private file is called is not theirs to read either.
CONFIG_SHOWN = f"""CASE WHEN {VISIBLE.replace("%(everyones)s", "false")} THEN config ELSE config - '{{source_uri,\
upload_uri,title,tags,original_filename,told,content_hash,file_size_bytes}}'::text[] END AS config"""
COLUMNS = f"""tenant_id, run_id, doc_id, doc_version_id, job_id, status, run_type, source_id, initiated_by,
       {CONFIG_SHOWN}, stats, stage, attempts, error_code, error, created_at, started_at, updated_at, finished_at"""
WANTED = f"""
 WHERE tenant_id = mnemon.current_tenant()
   AND (%(status)s::text IS NULL OR status = %(status)s)
   AND (%(doc)s::uuid IS NULL OR doc_id = %(doc)s)
   AND (%(run_type)s::text IS NULL OR run_type = %(run_type)s)
   AND {VISIBLE}
"""
PAGE = f"""
SELECT {COLUMNS} FROM mnemon.ingestion_runs r {WANTED}
 ORDER BY created_at DESC, run_id LIMIT %(limit)s OFFSET %(offset)s
"""
# All that fit, less those of the few documents that are not for the reader: one by one they would be looked up.
FITTING = WANTED.replace(f"   AND {VISIBLE}\n", "")
COUNT = f"""
SELECT (SELECT count(*) FROM mnemon.ingestion_runs {FITTING})
     - (SELECT count(*) FROM mnemon.ingestion_runs {FITTING} AND NOT %(everyones)s AND doc_id IN (
           SELECT d.doc_id FROM mnemon.documents d
            WHERE d.tenant_id = mnemon.current_tenant() AND d.readers IS NOT NULL AND NOT mnemon.may_read(d.readers))
       ) AS total
"""
ONE = f"""
SELECT {COLUMNS} FROM mnemon.ingestion_runs r
 WHERE tenant_id = mnemon.current_tenant() AND run_id = %(run)s AND {VISIBLE}
"""
ENDED = f"""
SELECT {COLUMNS} FROM mnemon.ingestion_runs r
 WHERE tenant_id = mnemon.current_tenant() AND run_id = ANY(%(runs)s) AND {VISIBLE}
   AND status IN ('succeeded', 'failed')
"""
CONTENT = """
SELECT config ->> 'content_hash' AS content_hash FROM mnemon.ingestion_runs
 WHERE tenant_id = mnemon.current_tenant() AND run_id = %s
"""
RETRY = "SELECT mnemon.retry_job(%s) AS done"


class Run(Output):
    """One reading of one file, from its acceptance to its end."""

    tenant_id: UUID
    run_id: UUID
    doc_id: UUID
    doc_version_id: UUID | None = Field(description="What the run made, once it has succeeded.")
    job_id: UUID | None
    status: RunStatus
    run_type: str
    source_id: UUID | None
    initiated_by: str
    config: dict[str, Any]
    stats: dict[str, Any] | None
    stage: str | None = Field(description="While it runs: extract, embed or store.")
    attempts: int
    error_code: str | None
    error: str | None
    created_at: datetime
    started_at: datetime | None
    updated_at: datetime
    finished_at: datetime | None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def wait_ms(self) -> int | None:
        """From acceptance to the first start."""
        return _milliseconds(self.created_at, self.started_at)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def processing_ms(self) -> int | None:
        """From the first start to the end, waits between attempts included."""
        return _milliseconds(self.started_at, self.finished_at)


@dataclass(frozen=True)
class ListedRuns:
    """A page of runs, and how many there are in all."""

    runs: list[Run]
    total: int


async def list_runs(
    tx: Connection,
    *,
    page: int = 1,
    limit: int = 20,
    status: RunStatus | None = None,
    doc_id: UUID | None = None,
    run_type: str | None = None,
    everyones: bool = False,
) -> ListedRuns:
    """Newest first: those of documents that the transaction's reader may see, or for the operator `everyones`."""
    values = {
        "status": status, "doc": doc_id, "run_type": run_type, "limit": limit, "offset": (page - 1) * limit,
        "everyones": everyones,
    }  # fmt: skip
    rows = await (await tx.cursor(row_factory=class_row(Run)).execute(PAGE, values)).fetchall()
    count = await (await tx.execute(COUNT, values)).fetchone()
    assert count is not None
    return ListedRuns(rows, count["total"])


async def run_by_id(tx: Connection, run_id: UUID, *, everyones: bool = False) -> Run:
    values = {"run": run_id, "everyones": everyones}
    run = await (await tx.cursor(row_factory=class_row(Run)).execute(ONE, values)).fetchone()
    if run is None:
        raise NotFound(f"There is no ingestion run {run_id}.", run_id=str(run_id))
    return run


async def ended_runs(tx: Connection, run_ids: Collection[UUID]) -> list[Run]:
    """Those of these runs that have ended; for those who began them."""
    values = {"runs": list(run_ids), "everyones": True}
    return await (await tx.cursor(row_factory=class_row(Run)).execute(ENDED, values)).fetchall()


async def retry_run(
    database: Database, files: Files, tenant: UUID, run_id: UUID, reader: Reader, *, everyones: bool = False
) -> Run:
    """Start a failed run over, with all its attempts and with the file that it was given."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        run = await run_by_id(tx, run_id, everyones=everyones)
        content = await (await tx.execute(CONTENT, (run_id,))).fetchone()
        await _check_retriable(files, tenant, run, content["content_hash"] if content else None)
        row = await (await tx.execute(RETRY, (run.job_id,))).fetchone()
        if row is None or not row["done"]:
            # The job was cleaned up long ago: another takes its place.
            readers = await readers_of_document(tx, run.doc_id)
            await enqueue(tx, INGEST, RunToRead(run_id=run_id), dedupe_key=str(run_id), readers=readers)
        return await run_by_id(tx, run_id, everyones=everyones)


async def _check_retriable(files: Files, tenant: UUID, run: Run, content_hash: str | None) -> None:
    if run.status != RunStatus.FAILED:
        raise RunNotRetriable(f"Run {run.run_id} is {run.status}: only a failed one can be retried.", status=run.status)
    if content_hash is None:
        raise DocumentPurged("The document was purged: upload the file again.", doc_id=str(run.doc_id))
    upload = await asyncio.to_thread(files.upload, tenant, run.run_id)
    blob = await asyncio.to_thread(files.fetched_blob, tenant, content_hash)
    if upload is None and not await asyncio.to_thread(blob.exists):
        raise FileGone(f"The file of run {run.run_id} is no longer kept: upload it again.", run_id=str(run.run_id))


def _milliseconds(start: datetime | None, end: datetime | None) -> int | None:
    return round((end - start).total_seconds() * 1000) if start and end else None
