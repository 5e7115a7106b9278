"""The documents lens: which documents there are, who may read them, their revisions and which is active, by the log."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.documents import events as happened
from mnemon.documents.filed_rows import file_all
from mnemon.documents.ingest.dating import recorded_moment
from mnemon.documents.ingest.titles import OWN_TITLE
from mnemon.log.events import Event
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern

# What front matter says, among the details of a revision.
FRONT_TAGS = "front_tags"

ACCEPT = """
INSERT INTO {documents} AS d
       (tenant_id, doc_id, source_type, source_uri, title, tags, document_type, source_system, source_id, source_url,
        sensitivity, visibility_scope, owner, readers, retention_policy, retain_until, created_by, created_at,
        updated_at)
VALUES (%(tenant)s, %(doc)s, %(source_type)s, %(source_uri)s, %(title)s, %(tags)s, %(document_type)s,
        %(source_system)s, %(source_id)s, %(source_url)s, %(sensitivity)s, %(visibility_scope)s, %(owner)s,
        %(readers)s::text[], %(retention_policy)s, %(retain_until)s, %(by)s, %(at)s, %(at)s)
ON CONFLICT (tenant_id, doc_id) DO UPDATE
   SET title = excluded.title, tags = excluded.tags, document_type = excluded.document_type,
       source_system = excluded.source_system, source_id = excluded.source_id, source_url = excluded.source_url,
       sensitivity = excluded.sensitivity, visibility_scope = excluded.visibility_scope, owner = excluded.owner,
       readers = excluded.readers, retention_policy = excluded.retention_policy,
       retain_until = excluded.retain_until, updated_at = excluded.updated_at
"""
DESCRIBE = """
UPDATE {documents}
   SET title = %(title)s, document_type = %(document_type)s, source_system = %(source_system)s,
       source_id = %(source_id)s, source_url = %(source_url)s, sensitivity = %(sensitivity)s,
       visibility_scope = %(visibility_scope)s, owner = %(owner)s, readers = %(readers)s::text[],
       retention_policy = %(retention_policy)s, retain_until = %(retain_until)s, updated_at = %(at)s
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s
"""
READERS_OF_REVISIONS = """
UPDATE {document_revisions} SET readers = %(readers)s::text[]
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s AND readers IS DISTINCT FROM %(readers)s::text[]
"""
STOP_SERVING = """
UPDATE {document_revisions}
   SET is_active = false, deactivated_at = %(at)s, served = served * tstzmultirange(tstzrange(NULL, %(at)s)),
       replaced_at = CASE WHEN %(serve)s::uuid IS NOT NULL THEN coalesce(%(written_at)s, %(at)s) END
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s AND is_active
   AND (%(serve)s::uuid IS NULL OR doc_version_id <> %(serve)s)
"""
INGEST = """
INSERT INTO {document_revisions} AS r
       (tenant_id, doc_version_id, doc_id, version_number, version_label, content_hash, text_hash, extractor,
        media_type, original_filename, size_bytes, char_count, page_count, chunk_count, token_count, is_active,
        written_at, authors, participants, details, readers, created_at, activated_at, served)
SELECT %(tenant)s, %(doc_version_id)s, %(doc)s, %(version_number)s, %(version_label)s, %(content_hash)s,
       %(text_hash)s, %(extractor)s, %(media_type)s, %(original_filename)s, %(size_bytes)s, %(char_count)s,
       %(page_count)s, %(chunk_count)s, %(token_count)s, true, %(written_at)s, %(authors)s, %(participants)s,
       %(details)s, d.readers, %(at)s, %(at)s, tstzmultirange(tstzrange(%(at)s, NULL))
  FROM {documents} d WHERE d.tenant_id = %(tenant)s AND d.doc_id = %(doc)s
ON CONFLICT (tenant_id, doc_version_id) DO UPDATE
   SET is_active = true, deactivated_at = NULL, replaced_at = NULL,
       activated_at = CASE WHEN r.is_active THEN r.activated_at ELSE excluded.activated_at END,
       served = r.served + excluded.served
"""
SERVE_AGAIN = """
UPDATE {document_revisions}
   SET is_active = true, activated_at = %(at)s, deactivated_at = NULL, replaced_at = NULL,
       served = served + tstzmultirange(tstzrange(%(at)s, NULL))
 WHERE tenant_id = %(tenant)s AND doc_version_id = %(serve)s
"""
COUNT = """
UPDATE {document_revisions} SET chunk_count = coalesce(%(chunk_count)s, chunk_count),
       token_count = coalesce(%(token_count)s, token_count)
 WHERE tenant_id = %(tenant)s AND doc_version_id = %(doc_version_id)s
"""
TOUCH = "UPDATE {documents} SET updated_at = %(at)s WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s"
# The same as replay gives once the key is gone, so that a rebuild comes to the same rows. What is left tells nobody
# anything: everyone may see that there was a document.
FORGET_DOCUMENT = """
UPDATE {documents}
   SET source_uri = 'purged:' || doc_id, title = '[REDACTED]', tags = '{{}}', source_id = NULL, source_url = NULL,
       readers = NULL, updated_at = %(at)s, purged_at = %(at)s
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s
"""
# What the file says of itself names the document and tags it, unless a person did. A title that came from the version
# before goes with it.
NAME = """
UPDATE {documents} AS d
   SET title = CASE WHEN d.title IN (%(original_filename)s, before.title) THEN coalesce(%(own_title)s::text, d.title)
               ELSE d.title END,
       tags = CASE WHEN d.tags = '{{}}' THEN %(front_tags)s::text[] ELSE d.tags END
  FROM (SELECT max(details->>'front_title') AS title FROM {document_revisions}
         WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s AND version_number = %(version_number)s - 1) AS before
 WHERE d.tenant_id = %(tenant)s AND d.doc_id = %(doc)s
   AND (%(own_title)s::text IS NOT NULL OR %(front_tags)s::text[] <> '{{}}')
"""
FORGET_REVISIONS = """
UPDATE {document_revisions}
   SET content_hash = '[REDACTED]', text_hash = '[REDACTED]', original_filename = '[REDACTED]',
       version_label = version_number::text, written_at = NULL, authors = '{{}}', participants = '{{}}',
       details = '{{}}', readers = NULL, is_active = false, deactivated_at = coalesce(deactivated_at, %(at)s),
       replaced_at = NULL, purged_at = %(at)s, served = served * tstzmultirange(tstzrange(NULL, %(at)s))
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s
"""

STEPS: dict[str, Sequence[str]] = {
    happened.ACCEPTED.type: (ACCEPT, READERS_OF_REVISIONS),
    happened.DESCRIBED.type: (DESCRIBE, READERS_OF_REVISIONS),
    happened.INGESTED.type: (STOP_SERVING, INGEST, TOUCH, NAME),
    happened.DEACTIVATED.type: (STOP_SERVING, TOUCH),
    happened.REACTIVATED.type: (STOP_SERVING, SERVE_AGAIN, TOUCH),
    happened.REBUILT.type: (COUNT,),
    happened.PURGED.type: (FORGET_REVISIONS, FORGET_DOCUMENT),
}
PLAIN = (
    "source_type", "source_uri", "title", "document_type", "source_system", "source_id", "source_url", "sensitivity",
    "visibility_scope", "owner", "readers", "retention_policy", "doc_version_id", "version_number", "version_label",
    "content_hash", "text_hash", "extractor", "media_type", "original_filename", "size_bytes", "char_count",
    "page_count", "chunk_count", "token_count",
)  # fmt: skip


async def apply(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    for kind, group in groupby(events, key=lambda event: event.type):
        if kind == happened.FILED.type:
            await file_all(connection, list(group), tables)
            continue
        for event in group:
            values = _values(event)
            for statement in STEPS.get(kind, ()):
                await connection.execute(statement.format(**tables), values)


async def forget(connection: Connection, subject_id: str, tables: Tables) -> None:
    """The rows hold nothing of a person's own; a document's key is destroyed together with the event that says so."""


def _values(event: Event) -> dict[str, Any]:
    data = event.data
    details = data["details"] if isinstance(data.get("details"), dict) else {}
    doc_id = data["subject"].removeprefix(f"{happened.ENTITY}:")
    # Replay of what was purged later: each of them needs an address of its own, and nothing else may be shown.
    purged = data.get("source_uri") in (None, REDACTED)
    origin = {name: None for name in ("source_id", "source_url") if data.get(name) == REDACTED}
    return {
        "tenant": event.tenant_id,
        "at": event.recorded_at,
        "by": event.actor_id,
        "doc": doc_id,
        **{name: data.get(name) for name in PLAIN},
        **origin,
        "source_uri": f"purged:{doc_id}" if purged else data["source_uri"],
        "title": data.get("title") or REDACTED,
        # Which one is served from now on; none when one is taken out of service.
        "serve": None if event.type == happened.DEACTIVATED.type else data.get("doc_version_id"),
        "tags": _list(data.get("tags")),
        "authors": _list(data.get("authors")),
        "participants": _list(data.get("participants")),
        "details": Jsonb(details),
        "own_title": details.get(OWN_TITLE),
        "front_tags": tags_in(details.get(FRONT_TAGS)),
        "written_at": recorded_moment(data.get("written_at")),
        "retain_until": recorded_moment(data.get("retain_until")),
    }


def tags_in(said: str | None) -> list[str]:
    """`[board, #kestrel]` or `board, kestrel`, each once."""
    parts = (part.strip().strip("\"'").lstrip("#") for part in (said or "").strip("[] ").split(","))
    return list(dict.fromkeys(part[:100] for part in parts if part))[:50]


def _list(value: Any) -> list[str]:
    """Empty for the word that stands in the place of an erased list."""
    return value if isinstance(value, list) else []


DOCUMENTS = Lens(
    name="documents",
    tables=("mnemon.documents", "mnemon.document_revisions"),
    apply=apply,
    lifecycle="inline",
    pattern=Pattern(types=(*STEPS, happened.FILED.type)),
    version=6,
    forget=forget,
)
