"""The job that makes passages and vectors of stored messages, some at a time, and says so in the log."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection, Database
from mnemon.documents.ingest.filed import PassageBatch, embed_passages, read_passages, store_passages
from mnemon.documents.ingest.job import IngestContext
from mnemon.documents.intake.filing import FiledText
from mnemon.log.events import NewEvent
from mnemon.mail import catalogue as happened
from mnemon.mail.message.ids import chunk_key
from mnemon.models.tokens import count_tokens, find_tokenizer
from mnemon.work.enqueue import enqueue_many
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind

AT_ONCE = 40
KEYS = """
SELECT message_key, doc_id FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = ANY(%s) AND purged_at IS NULL
"""

WAITING = """
SELECT count(*) FILTER (WHERE status IN ('PENDING', 'PROCESSING')) AS waiting, count(*) AS jobs FROM mnemon.jobs
 WHERE tenant_id = mnemon.current_tenant() AND kind = 'mail.passages' AND payload ->> 'import_id' = ANY(%s)
"""


class MessagesToCut(BaseModel):
    """Revisions of messages of one archive."""

    archive_id: str
    import_id: UUID
    revisions: list[UUID]


PASSAGES = JobKind("mail.passages", MessagesToCut, attempts=5, time_limit=1800, backoff=Backoff(10, 300))


async def enqueue_passages(tx: Connection, archive_id: str, import_id: UUID, texts: Sequence[FiledText]) -> None:
    """Messages without a word have no passages."""
    revisions = [one.revision_id for one in texts if one.text.strip()]
    parts = [revisions[at : at + AT_ONCE] for at in range(0, len(revisions), AT_ONCE)]
    payloads = [MessagesToCut(archive_id=archive_id, import_id=import_id, revisions=one) for one in parts]
    if payloads:
        await enqueue_many(tx, PASSAGES, payloads, priority=-1)


async def passages_to_make(database: Database, tenant: UUID, imports: Sequence[UUID]) -> tuple[int, int]:
    """Of the jobs for these imports: how many are left, and how many there are."""
    async with database.transaction(tenant) as tx:
        row = await (await tx.execute(WAITING, ([str(one) for one in imports],))).fetchone()
    assert row is not None
    return row["waiting"], row["jobs"]


@PASSAGES.handler
async def make_passages(job: Job[MessagesToCut]) -> dict[str, int]:
    """Everything slow happens outside the transaction that stores. Repeating it puts the same in the same place."""
    context, wanted = cast(IngestContext, job.context), job.payload
    tokenizer = find_tokenizer(context.settings.embedder_folder)
    async with job.transaction() as tx:
        texts = await read_passages(tx, wanted.revisions, lambda words: count_tokens(tokenizer, words))
    started = time.perf_counter()
    batch = await embed_passages(job.tenant_id, context.embedder, texts)
    seconds = time.perf_counter() - started
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        events = await store_passages(tx, job.tenant_id, batch, wanted.import_id)
        told = await _told(tx, job, batch, context.embedder.source, seconds)
        if events:
            await transaction.append([*events, *told])
        await job.finish(tx, {"chunks": batch.count})
    return {"chunks": batch.count}


async def _told(
    tx: Connection, job: Job[MessagesToCut], batch: PassageBatch, backend: str, seconds: float
) -> list[NewEvent]:
    rows = await (await tx.execute(KEYS, ([one.doc_id for one in batch.texts],))).fetchall()
    keys = {row["doc_id"]: row["message_key"] for row in rows}
    chunks = [
        (chunk_key(keys[one.doc_id], index), piece.tokens)
        for one in batch.texts
        if one.doc_id in keys
        for index, piece in enumerate(one.chunks)
    ]
    ids = [name for name, _ in chunks]

    def event(happening: Any, **data: Any) -> NewEvent:
        return happened.mail_event(happening, job.payload.archive_id, str(job.payload.import_id), **data)

    prepared = event(
        happened.CHUNKS_PREPARED, message_keys=sorted(keys.values()), chunk_count=len(ids), chunk_ids=ids,
        chunks_ready=True, chunking_strategy="structure",
        avg_chunk_size_tokens=round(sum(size for _, size in chunks) / max(len(ids), 1), 1),
    )  # fmt: skip
    if batch.model is not None:
        vectors = event(
            happened.EMBEDDINGS_GENERATED, chunk_ids=ids, embedding_count=len(ids),
            embedding_model=batch.model.model_id, embedding_backend=backend,
            embedding_dimension=batch.model.dimension, vector_store_collection="chunk_vectors",
            vector_store_updated=True, avg_generation_time_ms=round(1000 * seconds / max(len(ids), 1), 2),
        )  # fmt: skip
        return [prepared, vectors]
    if batch.failure is not None:
        failed = event(
            happened.EMBEDDINGS_FAILED, chunk_ids=ids, embedding_backend=backend, error_message=batch.failure,
            error_type="EMBEDDING_FAILED", retry_count=job.attempt, failed_at=datetime.now(UTC).isoformat(),
        )  # fmt: skip
        return [prepared, failed]
    return [prepared]
