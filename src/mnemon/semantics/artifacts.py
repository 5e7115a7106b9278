"""Takes an artifact in: its text is a document's revision at once; chunks, vectors and events follow by jobs."""

import asyncio
import hashlib
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.documents import events as documents
from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.plain import extract_plain
from mnemon.documents.ingest.chunk_store import activate_chunks
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.content import Extraction
from mnemon.documents.ingest.extract_job import enqueue_extraction
from mnemon.documents.ingest.job import INGEST, Reading
from mnemon.documents.ingest.reading import check_text
from mnemon.documents.ingest.recording import revision_of
from mnemon.documents.ingest.revision_texts import store_text
from mnemon.documents.intake.described import described
from mnemon.documents.intake.files import Files, Received
from mnemon.documents.intake.locks import lock_blob, lock_document, lock_source
from mnemon.documents.intake.receive import ADD_RUN
from mnemon.ids import new_uuid
from mnemon.log.append.transaction import LogTransaction, retry_on_conflict
from mnemon.log.events import Actor, NewEvent
from mnemon.log.store import EventLog
from mnemon.models.tokens import count_tokens, find_tokenizer
from mnemon.semantics import events as happened
from mnemon.semantics.artifact_fields import (
    NewArtifact,
    checked,
    refuse_over,
    refuse_stranger,
    refuse_wider,
    says_otherwise,
    terms_of,
    title_of,
    untitled,
)
from mnemon.semantics.artifact_readers import known_readers
from mnemon.semantics.names import artifact_name, artifact_uid_of, chunk_name, job_name, revision_name
from mnemon.settings import Settings
from mnemon.telemetry import counter, histogram
from mnemon.work.enqueue import enqueue

MEDIA_TYPE = "text/plain"
SOURCE_TYPE = "artifact"
# Letters of the longest text whose chunks are counted while its sender waits. No chunk holds as many: what is longer
# has more than one.
COUNTED_AT_ONCE = 24_000

FIND = """
SELECT d.doc_id, d.title, v.details ->> 'title' AS title_then,
       a.owner, a.readers, a.sensitivity, a.visibility_scope, a.retention_policy, a.retain_until,
       v.doc_version_id, v.content_hash, v.is_active, v.chunk_count,
       (SELECT max(version_number) FROM mnemon.document_versions o
         WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id) AS last_number,
       (SELECT doc_version_id FROM mnemon.document_versions o
         WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id AND o.is_active) AS active_version_id
  FROM mnemon.documents d
  JOIN mnemon.artifacts a ON a.tenant_id = d.tenant_id AND a.doc_id = d.doc_id
  LEFT JOIN mnemon.document_versions v
    ON v.tenant_id = d.tenant_id AND v.doc_id = d.doc_id AND v.content_hash = %(content_hash)s
 WHERE d.tenant_id = mnemon.current_tenant() AND d.source_uri = %(source_uri)s
 ORDER BY v.is_active DESC NULLS LAST, v.version_number DESC LIMIT 1
"""

INGESTED = counter("mnemon_artifacts_ingested_total", "Artifacts taken in, by outcome.", ["outcome"])
SECONDS = histogram("mnemon_artifact_ingest_seconds", "Time until an artifact was acknowledged.")


@dataclass(frozen=True)
class Ingested:
    """What came of an artifact. Without a job where its content is known already."""

    doc_id: UUID
    doc_version_id: UUID
    artifact_uid: str
    revision_id: str
    # new, new_revision, unchanged; or restored, where an earlier content is the latest again
    status: str
    # None for a long text until its chunks are made: more than one, that is certain.
    chunk_count: int | None
    job_id: UUID | None = None

    @property
    def is_chunked(self) -> bool:
        return self.chunk_count is None or self.chunk_count > 1

    def as_json(self) -> dict[str, Any]:
        """As the tools answer."""
        artifact_id = artifact_name(self.doc_id)
        chunks = range(self.chunk_count or 0) if self.is_chunked else ()
        return {
            "artifact_id": artifact_id,
            "artifact_uid": self.artifact_uid,
            "revision_id": self.revision_id,
            "is_chunked": self.is_chunked,
            "num_chunks": self.chunk_count if self.is_chunked else 0,
            "stored_ids": [artifact_id, *(chunk_name(self.doc_id, self.doc_version_id, one) for one in chunks)],
            "status": self.status,
            "job_id": job_name(self.job_id) if self.job_id else None,
            "job_status": "PENDING" if self.job_id else "N/A",
        }


@dataclass(frozen=True)
class _Prepared:
    """All that can be known before the transaction."""

    new: NewArtifact
    artifact_uid: str
    source_uri: str
    received: Received
    extraction: Extraction
    chunk_count: int | None
    token_count: int | None

    @property
    def content_hash(self) -> str:
        return self.received.content_hash


async def ingest_artifact(
    events: EventLog, files: Files, settings: Settings, tenant: UUID, actor: Actor, new: NewArtifact
) -> Ingested:
    """Artifact, revision and job are there together, or nothing is. The same content again changes nothing."""
    with SECONDS.time():
        prepared = await asyncio.to_thread(_prepare, files, settings, tenant, checked(new))

        async def settle() -> Ingested:
            async with events.transaction(tenant) as transaction:
                return await _settle(transaction, files, actor, prepared)

        try:
            ingested = await retry_on_conflict(settle)
        finally:
            # By now it is a blob, or known already, or refused.
            await asyncio.to_thread(files.discard_upload, tenant, prepared.received.run_id)
    INGESTED.labels(ingested.status).inc()
    return ingested


def _prepare(files: Files, settings: Settings, tenant: UUID, new: NewArtifact) -> _Prepared:
    content = new.content.encode()
    extraction = extract_plain(content, DEFAULT_LIMITS)
    check_text(extraction.text)
    chunk_count, token_count = _count(extraction, settings)
    uid = artifact_uid_of(new.source_system, new.source_id)
    incoming = files.receive(tenant, "artifact.txt")
    try:
        incoming.write(content)
        received = incoming.complete()
    except BaseException:
        incoming.abandon()
        raise
    return _Prepared(new, uid, f"artifact://{uid}", received, _told(extraction, new), chunk_count, token_count)


def _count(extraction: Extraction, settings: Settings) -> tuple[int | None, int | None]:
    """Chunks and tokens; of a long text neither, so that its sender does not wait for them."""
    if len("".join(extraction.text.split())) > COUNTED_AT_ONCE:
        return None, None
    tokenizer = find_tokenizer(settings.embedder_folder)
    chunks = chunk(extraction, lambda words: count_tokens(tokenizer, words))
    return len(chunks), sum(one.tokens for one in chunks)


def _told(extraction: Extraction, new: NewArtifact) -> Extraction:
    """What the sender says of the artifact comes before what its text seems to say."""
    found = extraction.details
    details = replace(
        found,
        title=new.title or found.title,
        authors=[new.author] if new.author else found.authors,
        participants=list(new.participants) or found.participants,
        written_at=new.ts or found.written_at,
    )
    return replace(extraction, details=details)


async def _settle(transaction: LogTransaction, files: Files, actor: Actor, prepared: _Prepared) -> Ingested:
    """Under the lock of the source two of the same artifact take turns: the second finds what the first has made."""
    tx = transaction.connection
    readers = await known_readers(tx, prepared.new.readers)
    prepared = replace(prepared, new=replace(prepared.new, readers=readers))
    await lock_source(tx, prepared.source_uri)
    values = {"source_uri": prepared.source_uri, "content_hash": prepared.content_hash}
    known = await (await tx.execute(FIND, values)).fetchone()
    if known is not None:
        await lock_document(tx, known["doc_id"])
        known = await (await tx.execute(FIND, values)).fetchone()
    if known is not None:
        refuse_stranger(actor, known)
    refuse_over(prepared.new, known)
    if known is not None and known["doc_version_id"] is not None:
        return await _known_content(transaction, actor, prepared, known)
    if known is not None:
        refuse_wider(prepared.new, actor, known)
    doc_id = known["doc_id"] if known else new_uuid()
    revision = revision_of(doc_id, prepared.content_hash, prepared.extraction.extractor)
    await lock_blob(tx, prepared.content_hash)
    await asyncio.to_thread(files.keep, transaction.tenant, prepared.received.path, prepared.content_hash)
    if known is not None and known["active_version_id"] is not None:
        await activate_chunks(tx, known["active_version_id"], False)
    await store_text(tx, revision, prepared.extraction)
    run_id = await _enqueue_indexing(tx, doc_id, actor, prepared)
    job = await enqueue_extraction(tx, revision)
    await transaction.append(_happenings(doc_id, revision, run_id, actor, prepared, known))
    return _ingested(prepared, doc_id, revision, "new_revision" if known else "new", prepared.chunk_count, job.job_id)


async def _known_content(
    transaction: LogTransaction, actor: Actor, prepared: _Prepared, known: dict[str, Any]
) -> Ingested:
    """No revision and no job; an earlier content is the latest again. What its owner says of it holds."""
    doc_id, revision = known["doc_id"], known["doc_version_id"]
    terms = terms_of(prepared.new, actor, known)
    said = [_described(doc_id, actor, prepared, terms)] if says_otherwise(terms, known) else []
    title = title_of(prepared.new, actor, known)
    if title != known["title"]:
        said.append(documents.about(documents.RENAMED, doc_id, actor, title=title))
    if known["is_active"]:
        if said:
            await transaction.append(said)
        return _ingested(prepared, doc_id, revision, "unchanged", known["chunk_count"])
    tx, before = transaction.connection, known["active_version_id"]
    if before is not None:
        await activate_chunks(tx, before, False)
    await activate_chunks(tx, revision, True)
    event = documents.about(
        documents.REACTIVATED, doc_id, actor,
        doc_version_id=str(revision), deactivated_version_id=str(before) if before else None,
    )  # fmt: skip
    await transaction.append([event, *said])
    return _ingested(prepared, doc_id, revision, "restored", known["chunk_count"])


async def _enqueue_indexing(tx: Connection, doc_id: UUID, actor: Actor, prepared: _Prepared) -> UUID:
    """A run that makes chunks and vectors of the stored file; what it reads is what is stored here already."""
    run_id = new_uuid()
    config = {
        "source_type": SOURCE_TYPE,
        "source_uri": prepared.source_uri,
        # Everyone may follow runs: what the artifact is called is not for them.
        "title": untitled(prepared.new),
        "tags": [],
        "original_filename": "artifact.txt",
        "kind": "txt",
        "content_type": MEDIA_TYPE,
        "file_size_bytes": prepared.received.size,
        "content_hash": prepared.content_hash,
    }
    await tx.execute(ADD_RUN, (run_id, doc_id, "rebuild", None, actor.id, Jsonb(config)))
    await enqueue(tx, INGEST, Reading(run_id=run_id))
    return run_id


def _happenings(
    doc_id: UUID, revision: UUID, run_id: UUID, actor: Actor, prepared: _Prepared, known: dict[str, Any] | None
) -> list[NewEvent]:
    extraction, received = prepared.extraction, prepared.received
    number = (known["last_number"] or 0) + 1 if known else 1
    before = known["active_version_id"] if known else None
    accepted = documents.about(
        documents.ACCEPTED, doc_id, actor, run_id,
        source_type=SOURCE_TYPE, source_uri=prepared.source_uri, title=_title(prepared), tags=[],
        media_type=MEDIA_TYPE, original_filename="artifact.txt", size_bytes=received.size,
        content_hash=received.content_hash,
    )  # fmt: skip
    origin = _described(doc_id, actor, prepared, terms_of(prepared.new, actor, known))
    ingested = documents.about(
        documents.INGESTED, doc_id, actor, run_id,
        doc_version_id=str(revision), version_number=number, version_label=str(number),
        deactivated_version_id=str(before) if before else None,
        content_hash=received.content_hash,
        text_hash="sha256:" + hashlib.sha256(extraction.text.encode()).hexdigest(),
        extractor=extraction.extractor, media_type=MEDIA_TYPE, original_filename="artifact.txt",
        size_bytes=received.size, char_count=len(extraction.text), page_count=None,
        chunk_count=prepared.chunk_count, token_count=prepared.token_count,
        **described(extraction, "artifact.txt"),
    )  # fmt: skip
    return [accepted, origin, ingested]


def _described(doc_id: UUID, actor: Actor, prepared: _Prepared, terms: dict[str, Any]) -> NewEvent:
    new = prepared.new
    return documents.about(
        happened.DESCRIBED, doc_id, actor,
        artifact_uid=prepared.artifact_uid, artifact_type=new.artifact_type, source_system=new.source_system,
        source_id=new.source_id, source_url=new.source_url, **terms,
    )  # fmt: skip


def _ingested(
    prepared: _Prepared, doc_id: UUID, revision: UUID, status: str, chunks: int | None, job_id: UUID | None = None
) -> Ingested:
    name = revision_name(prepared.content_hash)
    return Ingested(doc_id, revision, prepared.artifact_uid, name, status, chunks, job_id)


def _title(prepared: _Prepared) -> str:
    return prepared.extraction.details.title or untitled(prepared.new)
