"""Intake: a received file becomes a document, a run, a job and an event in one transaction, or is known already."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.documents import events as happened
from mnemon.documents.errors import EmptyFile, UnfitField, UploadNotStored
from mnemon.documents.extraction.sniff import MEDIA_TYPES, Kind, sniff
from mnemon.documents.ingest.job import INGEST, Reading
from mnemon.documents.intake.files import Files, Received
from mnemon.documents.intake.locks import lock_document, lock_source
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.ids import new_uuid
from mnemon.log.append.transaction import LogTransaction, retry_on_conflict
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.telemetry import counter, logger
from mnemon.work.enqueue import enqueue

LONGEST_TITLE = 500
LONGEST_URI = 2_000
LONGEST_TAG = 100
MOST_TAGS = 50
# They would break lines, colour terminals, or turn the letters after them around.
CONTROL = re.compile(r"[\x01-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
UPLOAD = "upload"

DedupResult = Literal["new", "new_version", "reprocess", "skipped"]
RunType = Literal["manual_upload", "s3_sync", "rebuild"]

FIND = """
SELECT d.doc_id, d.title, d.tags, v.content_hash AS active_hash
  FROM mnemon.documents d
  LEFT JOIN mnemon.document_versions v ON v.tenant_id = d.tenant_id AND v.doc_id = d.doc_id AND v.is_active
 WHERE d.tenant_id = mnemon.current_tenant() AND d.source_uri = %s
"""
ADD_RUN = """
INSERT INTO mnemon.ingestion_runs (tenant_id, run_id, doc_id, run_type, source_id, initiated_by, config)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s, %s, %s)
"""

ACCEPTED = counter("mnemon_documents_received", "Files that were taken in or known already, by outcome.", ["outcome"])

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a file comes from and what its sender says about it. None leaves what is known as it is."""

    title: str | None = None
    tags: Sequence[str] | None = None
    # Unset: the content itself is the identity, so that another content is another document.
    source_uri: str | None = None
    source_type: str = UPLOAD
    run_type: RunType = "manual_upload"
    source_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a received file; without a run where its content is the active version already."""

    doc_id: UUID
    run_id: UUID | None
    dedup: DedupResult
    filename: str
    content_hash: str
    source_uri: str
    title: str

    @property
    def status(self) -> str:
        return "queued" if self.run_id else "skipped"


async def accept(
    events: EventLog, files: Files, tenant: UUID, actor: Actor, received: Received, origin: Origin | None = None
) -> Outcome:
    """Take a file in. Whatever happens, the upload is either a run's or gone; a crash leaves it to the sweep."""
    try:
        return await _accept(events, files, tenant, actor, received, origin or Origin())
    except OSError as failure:
        await asyncio.to_thread(files.discard_upload, tenant, received.run_id)
        raise UploadNotStored(f"The file could not be read back from disk: {failure.strerror}. Try again.") from failure
    except MnemonError as refusal:
        if refusal.status < 500:
            await asyncio.to_thread(files.discard_upload, tenant, received.run_id)
        raise


async def _accept(
    events: EventLog, files: Files, tenant: UUID, actor: Actor, received: Received, origin: Origin
) -> Outcome:
    check_origin(origin)
    if received.size == 0:
        raise EmptyFile(f"{received.filename!r} is empty: there is nothing to read.", filename=received.filename)
    kind = await asyncio.to_thread(sniff, received.path, received.filename)
    source_uri = origin.source_uri or f"upload://{received.content_hash}"

    async def settle() -> Outcome:
        async with events.transaction(tenant) as transaction:
            return await _settle(transaction, actor, received, origin, source_uri, kind)

    outcome = await retry_on_conflict(settle)
    if outcome.run_id is None:
        await asyncio.to_thread(files.discard_upload, tenant, received.run_id)
    _report(tenant, actor, received, outcome, kind)
    return outcome


async def _settle(
    transaction: LogTransaction, actor: Actor, received: Received, origin: Origin, source_uri: str, kind: Kind
) -> Outcome:
    """Under the lock of the source two uploads of it take turns: the second finds what the first has made."""
    tx = transaction.connection
    await lock_source(tx, source_uri)
    known = await _find(tx, source_uri)
    if known is not None:
        # A purge may have been faster: then it is no longer found by its address.
        await lock_document(tx, known["doc_id"])
        known = await _find(tx, source_uri)
    if known is not None and known["active_hash"] == received.content_hash:
        return _outcome(known["doc_id"], None, "skipped", received, source_uri, known["title"])
    doc_id = known["doc_id"] if known else new_uuid()
    title = origin.title or (known["title"] if known else received.filename)
    tags = list(origin.tags) if origin.tags is not None else (known["tags"] if known else [])
    config = _config(received, origin, source_uri, title, tags, kind, actor)
    values = (received.run_id, doc_id, origin.run_type, origin.source_id, actor.id, Jsonb(config))
    await tx.execute(ADD_RUN, values)
    await enqueue(tx, INGEST, Reading(run_id=received.run_id))
    event = happened.about(
        happened.ACCEPTED, doc_id, actor, received.run_id,
        source_type=origin.source_type, source_uri=source_uri, title=title, tags=tags, media_type=MEDIA_TYPES[kind],
        original_filename=received.filename, size_bytes=received.size, content_hash=received.content_hash,
    )  # fmt: skip
    await transaction.append([event])
    dedup: DedupResult = "new" if known is None else "new_version" if known["active_hash"] else "reprocess"
    return _outcome(doc_id, received.run_id, dedup, received, source_uri, title)


async def _find(tx: Connection, source_uri: str) -> dict[str, Any] | None:
    return await (await tx.execute(FIND, (source_uri,))).fetchone()


def _outcome(
    doc_id: UUID, run_id: UUID | None, dedup: DedupResult, received: Received, source_uri: str, title: str
) -> Outcome:
    return Outcome(doc_id, run_id, dedup, received.filename, received.content_hash, source_uri, title)


def _config(
    received: Received, origin: Origin, source_uri: str, title: str, tags: list[str], kind: Kind, actor: Actor
) -> dict[str, Any]:
    return {
        "source_type": origin.source_type,
        "source_uri": source_uri,
        "upload_uri": received.path.as_uri(),
        "title": title,
        "tags": tags,
        "original_filename": received.filename,
        "kind": kind,
        "content_type": MEDIA_TYPES[kind],
        "file_size_bytes": received.size,
        "content_hash": received.content_hash,
        "created_by_user_id": person_of(actor),
    }


def person_of(actor: Actor) -> str | None:
    """The user behind an actor, be it themselves or a token of theirs."""
    whom = actor.on_behalf_of.id if actor.on_behalf_of else actor.id
    return whom.removeprefix("user:") if whom.startswith("user:") else None


def check_origin(origin: Origin) -> None:
    """Refuse what a sender says about a file where it cannot be kept."""
    if origin.title is not None and not 1 <= len(origin.title.strip()) <= LONGEST_TITLE:
        raise UnfitField(f"A title has 1 to {LONGEST_TITLE} characters, this one {len(origin.title)}.", field="title")
    uri = origin.source_uri
    if uri is not None and (len(uri.encode()) > LONGEST_URI or "://" not in uri or not uri.isprintable()):
        raise UnfitField(
            f"A source_uri looks like scheme://path and has at most {LONGEST_URI} bytes.", field="source_uri"
        )
    # A file under an artifact's address would be a revision of it that its readers never allowed.
    if uri is not None and uri.startswith(("upload://", "artifact://", "purged:")):
        raise UnfitField("A source_uri of upload:// or artifact:// is made here: leave it out.", field="source_uri")
    if origin.tags is not None and (
        len(origin.tags) > MOST_TAGS or not all(1 <= len(tag) <= LONGEST_TAG for tag in origin.tags)
    ):
        raise UnfitField(f"At most {MOST_TAGS} tags, of 1 to {LONGEST_TAG} characters each.", field="tags")
    if any(CONTROL.search(text) for text in (origin.title, *(origin.tags or ())) if text):
        raise UnfitField("Titles and tags are one line each, without control characters.")
    for text in (origin.title, uri, *(origin.tags or ())):
        if text is not None and ("\x00" in text or (not text.isascii() and _has_halves(text))):
            raise InvalidRequest("Text has no zero bytes and no halves of characters.")


def _has_halves(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _report(tenant: UUID, actor: Actor, received: Received, outcome: Outcome, kind: Kind) -> None:
    ACCEPTED.labels(outcome.dedup).inc()
    log.info(
        "ingest_job_submitted",
        tenant_id=tenant,
        user_id=person_of(actor),
        run_id=outcome.run_id,
        doc_id=outcome.doc_id,
        dedup_result=outcome.dedup,
        filename=received.filename,
        content_type=MEDIA_TYPES[kind],
        size_bytes=received.size,
        content_hash=received.content_hash,
        source_uri=outcome.source_uri,
        upload_uri=received.path.as_uri() if outcome.run_id else None,
        delegation_mode="queue",
        delegation_success=outcome.run_id is not None,
    )
