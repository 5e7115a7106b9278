"""Purging: everything that came from a document's source is destroyed; that there was one stays on record.

One transaction does what the database holds: the event, the key that the log's events about the document are sealed
with, texts, chunks, vectors, names. Files cannot be part of it. They are removed right after, and a job that the same
transaction left sees to it that they are gone even if the process dies in between.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

import psycopg
from pydantic import BaseModel

from mnemon.db.database import Connection, Database
from mnemon.documents import events as happened
from mnemon.documents.access import readers_of_document
from mnemon.documents.ingest.chunk_store import remove_chunks
from mnemon.documents.ingest.job import IngestContext
from mnemon.documents.ingest.revision_texts import remove_texts
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.locks import lock_document
from mnemon.documents.intake.sweep import discard_unneeded_blobs
from mnemon.documents.library import document_by_id
from mnemon.log.append.transaction import retry_on_conflict
from mnemon.log.errors import TransactionConflict
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.operations import Output
from mnemon.telemetry import counter, logger
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind

# Called in the transaction of a purge with the revisions that go, by whoever keeps words of them elsewhere.
OnPurge = Callable[[Connection, UUID, Sequence[UUID]], Awaitable[None]]

# Called last in the transaction of a purge, with the name of the key that it destroyed.
OnKeyDestroyed = Callable[[Connection, UUID, str], Awaitable[None]]

REVISIONS = """
SELECT doc_version_id, content_hash FROM mnemon.document_revisions
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s
"""
RUNS = """
SELECT run_id, config ->> 'content_hash' AS content_hash FROM mnemon.ingestion_runs
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s
"""
FORGET = "SELECT mnemon.forget_document(%s)"
RENEW_STATISTICS = "SELECT mnemon.renew_document_statistics()"

PURGED = counter("mnemon_documents_purged", "Documents whose content was destroyed.")

log = logger(__name__)


class PurgedDocument(BaseModel):
    """Whose files are to go."""

    doc_id: UUID


PURGE_FILES = JobKind("documents.purge_files", PurgedDocument, attempts=20, time_limit=3600)


class Purged(Output):
    """What a purge destroyed."""

    doc_id: UUID
    versions: int
    runs: int


@dataclass(frozen=True, slots=True)
class _Gone:
    """What is to be removed from disk."""

    revisions: Sequence[UUID]
    runs: Sequence[UUID]
    hashes: frozenset[str]


async def purge(
    events: EventLog,
    files: Files,
    tenant: UUID,
    actor: Actor,
    doc_id: UUID,
    hooks: Sequence[OnPurge] = (),
    on_key_destroyed: OnKeyDestroyed | None = None,
) -> Purged:
    """Destroy a document's content for good. Repeating it is harmless and finishes what was interrupted."""
    gone = await retry_on_conflict(lambda: _destroy(events, tenant, actor, doc_id, hooks, on_key_destroyed))
    await remove_files(events.database, files, tenant, gone.runs, gone.hashes)
    return Purged(doc_id=doc_id, versions=len(gone.revisions), runs=len(gone.runs))


async def _destroy(
    events: EventLog,
    tenant: UUID,
    actor: Actor,
    doc_id: UUID,
    hooks: Sequence[OnPurge],
    on_key_destroyed: OnKeyDestroyed | None,
) -> _Gone:
    async with events.transaction(tenant) as transaction:
        tx = transaction.connection
        await lock_document(tx, doc_id)
        document = await document_by_id(tx, doc_id)
        gone = await _contents(tx, doc_id)
        if document.purged_at is not None:
            return gone
        for revision in gone.revisions:
            await remove_chunks(tx, revision)
        await remove_texts(tx, gone.revisions)
        for hook in hooks:
            await hook(tx, doc_id, gone.revisions)
        readers = await readers_of_document(tx, doc_id)
        await enqueue(tx, PURGE_FILES, PurgedDocument(doc_id=doc_id), readers=readers)
        event = happened.about(happened.PURGED, doc_id, actor, revisions=len(gone.revisions), runs=len(gone.runs))
        # The event first: appends lock the partition's head, then keys. In the other order two could wait in a circle.
        await transaction.append([event])
        try:
            await tx.execute(FORGET, (doc_id,))
        except psycopg.errors.DeadlockDetected as failure:
            raise TransactionConflict("The purge was undone, as an append was in its way: retry it.") from failure
        if on_key_destroyed is not None:
            await on_key_destroyed(tx, tenant, happened.subject_of(doc_id))
    PURGED.inc()
    log.info("document_purged", tenant_id=tenant, doc_id=doc_id, versions=len(gone.revisions), runs=len(gone.runs))
    return gone


async def _contents(tx: Connection, doc_id: UUID) -> _Gone:
    revisions = await (await tx.execute(REVISIONS, (doc_id,))).fetchall()
    runs = await (await tx.execute(RUNS, (doc_id,))).fetchall()
    hashes = frozenset(row["content_hash"] for row in (*revisions, *runs) if row["content_hash"])
    return _Gone([row["doc_version_id"] for row in revisions], [row["run_id"] for row in runs], hashes)


async def remove_files(
    database: Database, files: Files, tenant: UUID, runs: Sequence[UUID], hashes: frozenset[str]
) -> None:
    """Uploads of these runs, and blobs of these contents that no other document has."""
    for run_id in runs:
        await asyncio.to_thread(files.discard_upload, tenant, run_id)
    await discard_unneeded_blobs(database, files, tenant, sorted(hashes))


@PURGE_FILES.handler
async def finish_purge(job: Job[PurgedDocument]) -> None:
    """What a purge could not do itself. By now no row tells the hashes: every blob that nobody needs is removed."""
    context = cast(IngestContext, job.context)
    async with job.transaction() as tx:
        gone = await _contents(tx, job.payload.doc_id)
    known = await asyncio.to_thread(lambda: [content for _, content, _ in context.files.blobs_of(job.tenant_id)])
    await remove_files(job.database, context.files, job.tenant_id, gone.runs, frozenset(known))
    async with job.transaction() as tx:
        await tx.execute(RENEW_STATISTICS)
