"""A long file's vectors, made in slices that are kept: its job gives its turn away in between, and goes on there."""

import asyncio
import time
import zlib
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from mnemon.db.database import Connection
from mnemon.documents.ingest.content import Chunk
from mnemon.documents.ingest.embedded_text import text_to_embed
from mnemon.documents.ingest.reading import ReadFile
from mnemon.errors import MnemonError
from mnemon.models.active import ModelInUse
from mnemon.models.bulk_line import in_turn
from mnemon.models.embedder import Embedder, Vectors
from mnemon.telemetry import logger
from mnemon.work.errors import JobPostponed
from mnemon.work.job import Job

# Few enough that a crash costs seconds of work, many enough that every core is busy.
SLICE = 64
# A file with more chunks is long: what was made of it is kept while the rest is made.
LONG = 512
# After this long another job may have the slot, of another tenant or of the same.
STRETCH_SECONDS = 10.0

KEEP_READING = """
INSERT INTO mnemon.run_readings (tenant_id, run_id, reading) VALUES (mnemon.current_tenant(), %s, %s)
"""
READING = "SELECT reading FROM mnemon.run_readings WHERE tenant_id = mnemon.current_tenant() AND run_id = %s"
KEEP_VECTORS = """
INSERT INTO mnemon.run_vectors (tenant_id, run_id, first, model_id, dimension, vectors, seconds)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
REACHED = """
SELECT coalesce(max(first + length(vectors) / (4 * dimension)), 0) AS reached FROM mnemon.run_vectors
 WHERE tenant_id = mnemon.current_tenant() AND run_id = %s AND model_id = %s
"""
VECTORS = """
SELECT dimension, vectors, seconds FROM mnemon.run_vectors
 WHERE tenant_id = mnemon.current_tenant() AND run_id = %s AND model_id = %s ORDER BY first
"""
FORGET = (
    "DELETE FROM mnemon.run_vectors WHERE tenant_id = mnemon.current_tenant() AND run_id = %s",
    "DELETE FROM mnemon.run_readings WHERE tenant_id = mnemon.current_tenant() AND run_id = %s",
)

READ_FILE = TypeAdapter(ReadFile)

log = logger(__name__)


class NotEmbedded(Exception):
    """The model failed; what it said stands in `failure`."""

    def __init__(self, failure: MnemonError) -> None:
        super().__init__(failure.message)
        self.failure = failure


def is_long(chunks: Sequence[Chunk]) -> bool:
    return len(chunks) > LONG


async def keep_reading(job: Job[Any], run_id: UUID, read: ReadFile) -> None:
    """So that the file is read once, however often the job gives its turn away."""
    reading = await asyncio.to_thread(lambda: zlib.compress(READ_FILE.dump_json(read), 1))
    async with job.transaction() as tx:
        await job.report_in(tx, {"chunks": len(read.chunks), "embedded": 0})
        # Vectors of what another version of the program had read are of other chunks.
        await forget_slices(tx, run_id)
        await tx.execute(KEEP_READING, (run_id, reading))


async def kept_reading(job: Job[Any], run_id: UUID) -> ReadFile | None:
    """What an earlier turn read; nothing if another version of the program wrote it."""
    async with job.transaction() as tx:
        row = await (await tx.execute(READING, (run_id,))).fetchone()
    if row is None:
        return None
    try:
        return await asyncio.to_thread(lambda: READ_FILE.validate_json(zlib.decompress(row["reading"])))
    except ValidationError:
        return None


async def embed_chunks(
    job: Job[Any], embedder: Embedder, doc_id: UUID, run_id: UUID, chunks: Sequence[Chunk]
) -> tuple[Vectors | None, ModelInUse | None]:
    """A vector for each chunk, or none where there is no model: the document is then searched by its words. Raises
    NotEmbedded where there is one and it fails."""
    if embedder.source == "none":
        job.stages["embed"] = 0.0
        return None, None
    with in_turn(job.tenant_id, doc_id):
        if is_long(chunks):
            return await _embed_in_slices(job, embedder, run_id, chunks)
        with job.stage("embed"):
            vectors = await _embed(embedder, chunks)
    return vectors, ModelInUse(embedder.model_id, vectors.shape[1])


async def forget_slices(tx: Connection, run_id: UUID) -> None:
    for statement in FORGET:
        await tx.execute(statement, (run_id,))


async def _embed_in_slices(
    job: Job[Any], embedder: Embedder, run_id: UUID, chunks: Sequence[Chunk]
) -> tuple[Vectors, ModelInUse]:
    deadline = time.monotonic() + STRETCH_SECONDS
    async with job.transaction() as tx:
        row = await (await tx.execute(REACHED, (run_id, embedder.model_id))).fetchone()
    reached = row["reached"] if row else 0
    while reached < len(chunks):
        began = time.perf_counter()
        vectors = await _embed(embedder, chunks[reached : reached + SLICE])
        await _keep(job, embedder.model_id, run_id, reached, vectors, time.perf_counter() - began)
        reached += len(vectors)
        if time.monotonic() > deadline and reached < len(chunks):
            log.info("ingest_job_gives_way", run_id=run_id, embedded=reached, chunks=len(chunks))
            raise JobPostponed(0)
    return await _vectors(job, embedder.model_id, run_id)


async def _keep(job: Job[Any], model_id: str, run_id: UUID, first: int, vectors: Vectors, seconds: float) -> None:
    """Fenced by the lease: a purge ends the job and forgets what it kept, and nothing is added after that."""
    async with job.transaction() as tx:
        await job.report_in(tx, {"embedded": first + len(vectors)})
        numbers = vectors.astype("float32").tobytes()
        await tx.execute(KEEP_VECTORS, (run_id, first, model_id, vectors.shape[1], numbers, seconds))


async def _vectors(job: Job[Any], model_id: str, run_id: UUID) -> tuple[Vectors, ModelInUse]:
    async with job.transaction() as tx:
        rows = await (await tx.execute(VECTORS, (run_id, model_id))).fetchall()
    job.stages["embed"] = sum(row["seconds"] for row in rows)
    # Loaded here: most commands come by this module and make no vectors.
    import numpy as np

    parts = [np.frombuffer(row["vectors"], np.float32).reshape(-1, row["dimension"]) for row in rows]
    vectors = np.concatenate(parts)
    return vectors, ModelInUse(model_id, vectors.shape[1])


async def _embed(embedder: Embedder, chunks: Sequence[Chunk]) -> Vectors:
    try:
        return await embedder.embed([text_to_embed(one.headings, one.text, one.speaker) for one in chunks])
    except MnemonError as failure:
        raise NotEmbedded(failure) from None
