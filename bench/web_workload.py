"""What the pages are measured on: 100,000 documents with a passage each, a million semantic events, a long log.

Fifty thousand events are those of `event_workload`, written by the lens's own statements; SQL copies them with their
documents, each copy 104 days later, until there are enough. Other documents, all texts, passages, runs and jobs are
written in SQL too, as the worker would have written them: a page cannot tell the difference. The log's events go
through `log.append`, memory and mail through their own doors.
Events have no vectors here unless VECTORS=1: to index a million takes longer than all the rest, and only a search of
events by words reads them, which `bench_events` measures.
"""

import os
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import NAMESPACE_OID, UUID, uuid5

import numpy as np
from event_workload import DOCUMENTS, PER_DOCUMENT, REVISIONS, Workload, load, without_indexes
from log_workload import Orders
from memory_workload import sentences

from mnemon.app import Mnemon
from mnemon.db.database import Connection
from mnemon.documents.ingest.chunk_store import VECTORS
from mnemon.log.events import SYSTEM
from mnemon.mail.storing.importing import add_import
from mnemon.memory.operations import objects
from mnemon.models.active import ModelInUse, model_to_write
from mnemon.operations import Caller, read_input

LIST = Path(__file__).parents[1] / "examples" / "list" / "tern-dev.mbox"
BATCH = 500
# Two sentences of memory have been embedded by the real model; every other vector lies near one of them.
EMBEDDED = 256
WRITTEN = 50_000
COPIED = ("documents", "document_revisions", "semantic_events", "event_evidence", "event_links")
# Of a copy, what is not as in what it was copied from.
OTHER = {
    **{name: f"md5({name}::text || n)::uuid" for name in ("doc_id", "doc_version_id")},
    **{name: f"'evt_' || md5({name} || n)" for name in ("event_id", "later", "earlier")},
    **{
        name: f"{name} + n * interval '104 days'"
        for name in ("happened_at", "created_at", "known_since", "known_until", "replaced_at", "linked_at")
    },
    "due": "due + n * 104", "source_uri": "source_uri || '/' || n", "title": "title || '.' || n",
    "evidence_id": "'evd_' || md5(evidence_id || n)",
}  # fmt: skip


@dataclass(frozen=True)
class Volume:
    """How much of everything."""

    documents: int
    events: int
    log: int
    memory: int


async def fill(mnemon: Mnemon, tenant: UUID, volume: Volume) -> None:
    began = time.perf_counter()

    def told(what: str) -> None:
        print(f"  {what} after {time.perf_counter() - began:.0f} s", flush=True)

    await _append(mnemon, tenant, volume.log)
    told(f"{volume.log:,} events of the log")
    for text in sentences(volume.memory):
        asked = read_input(objects.create, {"content": text})
        await objects.create(mnemon, Caller(tenant, SYSTEM), asked)
    told(f"{volume.memory:,} memory objects")
    received = mnemon.files.take_copy(tenant, LIST)
    async with mnemon.database.transaction(tenant) as tx:
        await add_import(tx, received.run_id, "tern-dev", "file", str(LIST), SYSTEM)
    once = min(volume.events, WRITTEN)
    await load(mnemon, tenant, Workload(once), vectors=bool(os.environ.get("VECTORS")))
    told(f"{once:,} semantic events")
    async with mnemon.database.owner() as owner, without_indexes(owner):
        for table in COPIED:
            await _copy(owner, table, tenant, volume.events // once)
    told(f"{volume.events:,} semantic events")
    async with mnemon.database.owner() as owner:
        await _documents(owner, tenant, volume.documents - volume.events // PER_DOCUMENT)
        for statement in (TEXTS, LENGTHS, CHUNKS, TERMS, TERM_COUNTS, TEXT_COUNTS, RUNS, JOBS):
            await owner.execute(statement, {"tenant": tenant})
        told(f"{volume.documents:,} documents")
    await _vectors(mnemon, tenant)
    async with mnemon.database.owner() as owner:
        await owner.execute("VACUUM ANALYZE")
    told("everything")


async def _append(mnemon: Mnemon, tenant: UUID, count: int) -> None:
    orders = Orders()
    for _ in range(0, count, BATCH):
        await mnemon.log.append(tenant, orders.take(BATCH))


async def _copy(owner: Connection, table: str, tenant: UUID, times: int) -> None:
    names = [row["name"] for row in await (await owner.execute(COLUMNS, (table,))).fetchall()]
    written = ", ".join(OTHER.get(name, name) for name in names)
    await owner.execute(
        f"INSERT INTO mnemon.{table} ({', '.join(names)}) SELECT {written} FROM mnemon.{table}, "
        "generate_series(1, %s) AS n WHERE tenant_id = %s",
        (times - 1, tenant),
    )


async def _documents(owner: Connection, tenant: UUID, count: int) -> None:
    """Reports of a few sentences, a new one every quarter of an hour until now."""
    chance, now = random.Random(5), datetime.now(UTC)
    pool = sentences(5_000, seed=3)
    made = [(uuid5(NAMESPACE_OID, f"report {number}"), number) for number in range(count)]
    texts = [" ".join(chance.choices(pool, k=6)) for _ in made]
    async with owner.cursor() as cursor, cursor.copy(DOCUMENTS) as copy:
        for doc_id, number in made:
            at = now - timedelta(minutes=15 * (count - number))
            await copy.write_row(
                (tenant, doc_id, "bench", f"bench://{doc_id}", f"Report {number}", "user:ada", "org", None, at)
            )
    async with owner.cursor() as cursor, cursor.copy(REVISIONS) as copy:
        for (doc_id, number), text in zip(made, texts, strict=True):
            at = now - timedelta(minutes=15 * (count - number))
            await copy.write_row(
                (tenant, uuid5(doc_id, "latest"), doc_id, 1, f"sha256:{doc_id.hex}", "", "bench", "text/plain",
                 len(text), len(text), 120, 1, True, f'{{["{at.isoformat()}",)}}', None, at)
            )  # fmt: skip
    statement = "COPY mnemon.revision_texts (tenant_id, doc_version_id, text) FROM STDIN"
    async with owner.cursor() as cursor, cursor.copy(statement) as copy:
        for (doc_id, _), text in zip(made, texts, strict=True):
            await copy.write_row((tenant, uuid5(doc_id, "latest"), text))


COLUMNS = """
SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'mnemon' AND table_name = %s
"""
# What events quote stands where they say, two hundred letters each.
TEXTS = """
INSERT INTO mnemon.revision_texts (tenant_id, doc_version_id, text)
SELECT e.tenant_id, e.doc_version_id, string_agg(rpad(v.quote, 199) || E'\n', '' ORDER BY e.position)
  FROM mnemon.semantic_events e
  JOIN mnemon.event_evidence v ON v.tenant_id = e.tenant_id AND v.event_id = e.event_id
 WHERE e.tenant_id = %(tenant)s GROUP BY 1, 2
"""
LENGTHS = """
UPDATE mnemon.document_revisions r SET char_count = length(t.text), size_bytes = length(t.text), chunk_count = 1
  FROM mnemon.revision_texts t
 WHERE t.tenant_id = %(tenant)s AND r.tenant_id = t.tenant_id AND r.doc_version_id = t.doc_version_id
"""
CHUNKS = """
INSERT INTO mnemon.chunks (tenant_id, chunk_id, doc_version_id, doc_id, ordinal, start_offset, end_offset,
                           heading_path, tokens, text, active)
SELECT r.tenant_id, gen_random_uuid(), r.doc_version_id, r.doc_id, 0, 0, length(left(t.text, 1000)), '{}', 120,
       left(t.text, 1000), r.is_active
  FROM mnemon.document_revisions r JOIN mnemon.revision_texts t USING (tenant_id, doc_version_id)
 WHERE r.tenant_id = %(tenant)s
"""
TERMS = """
INSERT INTO mnemon.chunk_terms (tenant_id, doc_version_id, ordinal, chunk_id, start_offset, end_offset, active,
                                length, terms, heading_terms)
SELECT tenant_id, doc_version_id, ordinal, chunk_id, start_offset, end_offset, active,
       (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(terms)), terms, ''
  FROM mnemon.chunks, to_tsvector('english', text) AS terms WHERE tenant_id = %(tenant)s
"""
TERM_COUNTS = """
INSERT INTO mnemon.term_counts (tenant_id, kind, term_key, share, texts)
SELECT tenant_id, 'passage', key, 0, count(*)
  FROM mnemon.chunk_terms, unnest(mnemon.term_keys(tenant_id, terms)) AS key
 WHERE tenant_id = %(tenant)s AND active GROUP BY tenant_id, key
"""
TEXT_COUNTS = """
INSERT INTO mnemon.text_counts (tenant_id, kind, share, texts, length)
SELECT tenant_id, 'passage', 0, count(*), sum(length) FROM mnemon.chunk_terms
 WHERE tenant_id = %(tenant)s AND active GROUP BY tenant_id
"""
RUNS = """
INSERT INTO mnemon.ingestion_runs (tenant_id, run_id, doc_id, doc_version_id, status, run_type, initiated_by, config,
                                   stats, attempts, created_at, started_at, updated_at, finished_at)
SELECT r.tenant_id, gen_random_uuid(), r.doc_id, r.doc_version_id, 'succeeded', 'manual_upload', 'user:ada',
       jsonb_build_object('original_filename', d.title || '.txt'), '{"duration_ms": 900}', 1,
       r.created_at, r.created_at, r.created_at, r.created_at
  FROM mnemon.document_revisions r JOIN mnemon.documents d USING (tenant_id, doc_id) WHERE r.tenant_id = %(tenant)s
"""
JOBS = """
INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, status, attempts, next_run_at, locked_by, locked_at,
                         created_at, updated_at, finished_at, result)
SELECT tenant_id, gen_random_uuid(), 'bench.read', '{}', 'DONE', 1, NULL, 'bench', created_at, created_at, created_at,
       created_at, '{}'
  FROM mnemon.ingestion_runs WHERE tenant_id = %(tenant)s
"""


async def _vectors(mnemon: Mnemon, tenant: UUID) -> None:
    """Of every passage, near one of a few real ones; the index is left out meanwhile."""
    near = np.asarray(await mnemon.embedder.embed(sentences(EMBEDDED)), dtype=np.float32)
    model = mnemon.embedder.model_id
    async with mnemon.database.transaction(tenant) as tx:
        await model_to_write(tx, VECTORS, ModelInUse(model, near.shape[1]))
    chance = np.random.default_rng(11)
    async with mnemon.database.owner() as owner:
        rows = await (
            await owner.execute("SELECT chunk_id FROM mnemon.chunks WHERE tenant_id = %s", (tenant,))
        ).fetchall()
        kept = await (await owner.execute(INDEXES)).fetchall()
        for one in kept:
            await owner.execute(f"DROP INDEX mnemon.{one['indexname']}")
        statement = f"COPY {VECTORS} (tenant_id, chunk_id, model_id, embedding) FROM STDIN"
        async with owner.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                vector = near[chance.integers(len(near))] + chance.normal(0, 0.5 / near.shape[1] ** 0.5, near.shape[1])
                written = ",".join(f"{one:.4f}" for one in vector / np.linalg.norm(vector))
                await copy.write_row((tenant, row["chunk_id"], model, f"[{written}]"))
        await owner.execute("SET maintenance_work_mem = '512MB'")
        for one in kept:
            await owner.execute(one["indexdef"])


INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
 WHERE schemaname = 'mnemon' AND tablename = 'chunk_vectors' AND indexname NOT LIKE '%_pkey'
"""
