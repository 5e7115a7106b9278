"""Settles what an arrival is, in one transaction: a new document or revision with its run, or one known already."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents import events as happened
from mnemon.documents.access import Reader, reader_ids
from mnemon.documents.artifact_names import own_address, shared_address
from mnemon.documents.errors import UnfitField
from mnemon.documents.extraction.kinds import MEDIA_TYPES
from mnemon.documents.ingest.chunk_store import activate_chunks
from mnemon.documents.ingest.extract_job import enqueue_extraction
from mnemon.documents.ingest.recording import RevisionMade, ingested_event, revision_id_of
from mnemon.documents.ingest.revision_texts import store_text
from mnemon.documents.intake.arrival import Arrival, DedupResult, Outcome
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.locks import lock_blob, lock_document, lock_source
from mnemon.documents.intake.new_run import add_run, run_config
from mnemon.documents.intake.origin import RunType
from mnemon.documents.intake.terms import (
    Known,
    is_theirs,
    person_behind,
    readers_of,
    refuse_over,
    refuse_wider,
    says_otherwise,
    terms_of,
)
from mnemon.errors import NotFound
from mnemon.ids import new_uuid
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import NewEvent

# With the revision that is served, and the one of this content, if there is one.
FIND = """
SELECT d.doc_id, d.title, d.tags, d.document_type, d.source_system, d.source_id, d.source_url, d.sensitivity,
       d.visibility_scope, d.owner, d.readers, d.retention_policy, d.retain_until,
       a.doc_version_id AS active_id, a.content_hash AS active_hash,
       same.doc_version_id AS same_id, same.chunk_count, same.details ->> 'title' AS title_then,
       (SELECT coalesce(max(version_number), 0) FROM mnemon.document_revisions o
         WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id) AS last_number,
       EXISTS (SELECT FROM mnemon.ingestion_runs r
                WHERE r.tenant_id = d.tenant_id AND r.doc_id = d.doc_id AND r.status IN ('queued', 'running')
                  AND r.run_type <> 'rebuild' AND r.config ->> 'content_hash' <> %(content_hash)s) AS other_waits
  FROM mnemon.documents d
  LEFT JOIN mnemon.document_revisions a ON a.tenant_id = d.tenant_id AND a.doc_id = d.doc_id AND a.is_active
  LEFT JOIN LATERAL (
       SELECT * FROM mnemon.document_revisions o
        WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id AND o.content_hash = %(content_hash)s
        ORDER BY o.is_active DESC, o.version_number DESC LIMIT 1) AS same ON true
 WHERE d.tenant_id = mnemon.current_tenant() AND d.source_uri = %(source_uri)s
"""
OF_ADDRESS = """
SELECT source_uri, readers FROM mnemon.documents WHERE tenant_id = mnemon.current_tenant() AND source_uri = ANY(%s)
"""
OF_DOCUMENT = """
SELECT source_uri, readers FROM mnemon.documents
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND purged_at IS NULL
"""
# A file that everyone may read and that serves this very content, wherever it came from.
OF_CONTENT = """
SELECT d.source_uri FROM mnemon.document_revisions AS r
  JOIN mnemon.documents AS d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
 WHERE r.tenant_id = mnemon.current_tenant() AND r.content_hash = %s AND r.is_active
   AND d.purged_at IS NULL AND d.readers IS NULL AND d.source_uri !~ '^(artifact|mail)://'
 ORDER BY d.source_uri <> %s, d.created_at, d.doc_id LIMIT 1
"""
# Whose revisions are texts that were sent as such.
NOT_FILES = ("artifact://", "mail://")
NEW_OF = "new_version_of"
ARE_KNOWN = """
SELECT source_uri FROM mnemon.documents WHERE tenant_id = mnemon.current_tenant() AND source_uri = ANY(%s)
"""


async def settle(transaction: LogTransaction, files: Files, arrival: Arrival) -> Outcome:
    """Under the lock of the source two arrivals from it take turns: the second finds what the first has made."""
    tx, actor = transaction.connection, arrival.actor
    origin = replace(arrival.origin, readers=await reader_ids(tx, arrival.origin.readers))
    address = await _address(tx, arrival)
    if origin.new_version_of is not None:
        origin = replace(origin, source_type=address.partition("://")[0])
    arrival = replace(arrival, origin=origin, source_uri=address)
    known = await _find(tx, arrival)
    refuse_over(origin, known)
    terms = terms_of(origin, actor, known)
    if known is not None and known["active_hash"] == arrival.received.content_hash and not _comes_after(arrival, known):
        return await _unchanged(transaction, files, arrival, known, terms)
    if known is not None and arrival.text is not None and known["same_id"] is not None:
        return await _restored(transaction, arrival, known, terms)
    if known is not None:
        refuse_wider(origin, actor, known)
    return await _new_content(transaction, files, arrival, known, terms)


def _comes_after(arrival: Arrival, known: Known) -> bool:
    """A file is read after another that came meanwhile and will be served once it is read; a text waits for nobody."""
    return bool(known["other_waits"]) and arrival.text is None


async def _address(tx: Connection, arrival: Arrival) -> str:
    """A file that comes from nowhere in particular is known by its content; one that not all may read, for its owner
    alone: nobody else learns that it is here, or is kept from adding it."""
    if arrival.origin.new_version_of is not None:
        return await _address_of(tx, arrival, arrival.origin.new_version_of)
    given = arrival.text.source_uri if arrival.text is not None else arrival.origin.source_uri
    if given is not None:
        return await _apart_from_hidden(tx, arrival, given)
    by_content, me = f"upload://{arrival.received.content_hash}", person_behind(arrival.actor)
    owns = [f"{by_content}/{one}" for one in Reader.of(arrival.actor).names]
    known = {row["source_uri"] for row in await (await tx.execute(ARE_KNOWN, (owns,))).fetchall()}
    own = next((one for one in owns if one in known), owns[0])
    if readers_of(arrival.origin, me) is not None or (arrival.origin.visibility_scope is None and known):
        return own
    served = await (await tx.execute(OF_CONTENT, (arrival.received.content_hash, by_content))).fetchone()
    return await _apart_from_hidden(tx, arrival, served["source_uri"] if served else by_content)


async def _address_of(tx: Connection, arrival: Arrival, doc_id: UUID) -> str:
    """Where the document came from; for whoever may not read it there is none."""
    found = await (await tx.execute(OF_DOCUMENT, (doc_id,))).fetchone()
    if found is None or (found["readers"] is not None and not Reader.of(arrival.actor).is_among(found["readers"])):
        raise NotFound(f"There is no document {doc_id}: new_version_of names one of the list.", doc_id=str(doc_id))
    if found["source_uri"].startswith(NOT_FILES):
        raise UnfitField("This document was sent as a text or in a mail: no file is its next version.", field=NEW_OF)
    return str(found["source_uri"])


async def _apart_from_hidden(tx: Connection, arrival: Arrival, address: str) -> str:
    """Who may not read the document of an address adds nothing to it, and has one of their own there: a refusal would
    tell them that there is one."""
    reader = Reader.of(arrival.actor)
    owns = [own_address(address, one) for one in reader.names]
    # Two arrivals from the source take turns here already: the first may be what the second may not see.
    await lock_source(tx, address)
    found = await (await tx.execute(OF_ADDRESS, ([address, *owns],))).fetchall()
    readers = {row["source_uri"]: row["readers"] for row in found}
    hidden = readers.get(address) is not None and not reader.is_among(readers[address])
    own = next((one for one in owns if one in readers), owns[0])
    return own if own in readers or hidden else address


async def _find(tx: Connection, arrival: Arrival) -> Known | None:
    values = {"source_uri": arrival.source_uri, "content_hash": arrival.received.content_hash}
    await lock_source(tx, arrival.source_uri)
    known = await (await tx.execute(FIND, values)).fetchone()
    if known is None:
        return None
    # A purge may have been faster: then it is no longer found by its address.
    await lock_document(tx, known["doc_id"])
    return await (await tx.execute(FIND, values)).fetchone()


async def _unchanged(
    transaction: LogTransaction, files: Files, arrival: Arrival, known: Known, terms: dict[str, Any]
) -> Outcome:
    """No revision and no job. What its owner says of it holds; a stored file that was changed gets its content back."""
    content_hash = arrival.received.content_hash
    await lock_blob(transaction.connection, content_hash)
    await asyncio.to_thread(files.keep, transaction.tenant, arrival.received.path, content_hash)
    title = _title_now(arrival, known, known["title"])
    said = _said_anew(arrival, known, terms, title)
    if said:
        await transaction.append(said)
    return arrival.outcome(
        known["doc_id"], None, "skipped", title, revision_id=known["same_id"], chunk_count=known["chunk_count"]
    )


async def _restored(transaction: LogTransaction, arrival: Arrival, known: Known, terms: dict[str, Any]) -> Outcome:
    """An earlier content is the latest again, under the name that it had."""
    tx, before, revision = transaction.connection, known["active_id"], known["same_id"]
    if before is not None:
        await activate_chunks(tx, before, False)
    await activate_chunks(tx, revision, True)
    event = happened.about(
        happened.REACTIVATED, known["doc_id"], arrival.actor,
        doc_version_id=str(revision), deactivated_version_id=str(before) if before else None,
    )  # fmt: skip
    title = _title_now(arrival, known, known["title_then"] or _untitled(arrival, known))
    await transaction.append([event, *_said_anew(arrival, known, terms, title)])
    return arrival.outcome(
        known["doc_id"], None, "restored", title, revision_id=revision, chunk_count=known["chunk_count"]
    )


def _title_now(arrival: Arrival, known: Known, title: str) -> str:
    """An owner's title holds, for a text and for a file that is sent again; the name of a file is no title that its
    sender chose."""
    return arrival.origin.title if arrival.origin.title and is_theirs(arrival.actor, known) else title


def _said_anew(arrival: Arrival, known: Known, terms: dict[str, Any], title: str) -> Sequence[NewEvent]:
    if title == known["title"] and not says_otherwise(terms, known):
        return []
    described = _about_source(arrival, known) | terms
    return [happened.about(happened.DESCRIBED, known["doc_id"], arrival.actor, title=title, **described)]


async def _new_content(
    transaction: LogTransaction, files: Files, arrival: Arrival, known: Known | None, terms: dict[str, Any]
) -> Outcome:
    """A run will read it, or has nothing left to do but to make chunks and vectors of what is stored here."""
    tx, origin, received, actor = transaction.connection, arrival.origin, arrival.received, arrival.actor
    doc_id = known["doc_id"] if known else new_uuid()
    title = _title(arrival, known)
    tags = list(origin.tags) if origin.tags is not None else (known["tags"] if known else [])
    run_type: RunType = "rebuild" if arrival.text else origin.run_type
    run_id = new_uuid() if arrival.text else received.run_id
    await add_run(tx, run_id, doc_id, run_type, actor, _config(arrival, title, tags), terms["readers"])
    accepted = happened.about(
        happened.ACCEPTED, doc_id, actor, run_id,
        source_type=origin.source_type, source_uri=arrival.source_uri, title=title, tags=tags,
        media_type=MEDIA_TYPES[arrival.kind], original_filename=received.filename, size_bytes=received.size,
        content_hash=received.content_hash, **_about_source(arrival, known), **terms,
    )  # fmt: skip
    dedup: DedupResult = "new" if known is None else "new_version" if known["active_hash"] else "reprocess"
    if arrival.text is None:
        await transaction.append([accepted])
        return arrival.outcome(doc_id, run_id, dedup, title)
    made = RevisionMade(
        doc_id, run_id, revision_id_of(doc_id, received.content_hash, arrival.text.extraction.extractor),
        arrival.text.extraction, arrival.text.chunk_count, arrival.text.token_count,
    )  # fmt: skip
    job = await _store(transaction, files, arrival, made, known, terms["readers"])
    before = known["active_id"] if known else None
    number = known["last_number"] + 1 if known else 1
    ingested = ingested_event(
        made, actor, number, before, content_hash=received.content_hash, filename=received.filename,
        size=received.size, media_type=MEDIA_TYPES[arrival.kind],
    )  # fmt: skip
    await transaction.append([accepted, ingested])
    return arrival.outcome(
        doc_id, run_id, dedup, title,
        revision_id=made.revision_id, chunk_count=made.chunk_count, extraction_job=job,
    )  # fmt: skip


async def _store(
    transaction: LogTransaction, files: Files, arrival: Arrival, made: RevisionMade, known: Known | None,
    readers: Sequence[str] | None,
) -> UUID:  # fmt: skip
    """The text is a revision at once; the job reads its events."""
    tx, content_hash = transaction.connection, arrival.received.content_hash
    await lock_blob(tx, content_hash)
    await asyncio.to_thread(files.keep, transaction.tenant, arrival.received.path, content_hash)
    if known is not None and known["active_id"] is not None:
        await activate_chunks(tx, known["active_id"], False)
    await store_text(tx, made.revision_id, made.extraction)
    return (await enqueue_extraction(tx, made.revision_id, readers=readers)).job_id


def _title(arrival: Arrival, known: Known | None) -> str:
    if arrival.text is not None:
        return arrival.text.extraction.details.title or _untitled(arrival, known)
    return arrival.origin.title or (known["title"] if known else arrival.received.filename)


def _untitled(arrival: Arrival, known: Known | None) -> str:
    """What a text is called that neither its sender nor the text itself gives a title."""
    source = _about_source(arrival, known)
    return f"{source['document_type']} from {source['source_system']}"


def _about_source(arrival: Arrival, known: Known | None) -> dict[str, Any]:
    origin = arrival.origin
    first = {
        "document_type": "email" if arrival.kind == "eml" else "doc",
        "source_system": origin.source_type,
        "source_id": None,
        "source_url": None,
    }
    return {name: getattr(origin, name) or (known or first)[name] for name in first}


def _config(arrival: Arrival, title: str, tags: list[str]) -> dict[str, Any]:
    origin, received = arrival.origin, arrival.received
    told = {} if arrival.text else origin.told
    config = run_config(
        origin.source_type, shared_address(arrival.source_uri), received.path.as_uri(), title, tags,
        received.filename, arrival.kind, received.size, received.content_hash, arrival.actor,
    )  # fmt: skip
    # A title is kept with the document; the rest is said of the text, which is not read yet.
    told.pop("title", None)
    return config | ({"told": told} if told else {})
