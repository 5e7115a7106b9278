"""The rows of texts that were filed, many at once: a statement for all of them, and one for what they replace."""

from collections.abc import Sequence
from typing import Any

import orjson

from mnemon.db.database import Connection
from mnemon.documents import events as happened
from mnemon.log.events import Event
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.project.lens import Tables

# What texts that came together have in common is read once.
_GIVEN = """
FROM json_to_record(%(shared)s::json) AS shared (
       tenant uuid, source_type text, document_type text, source_system text, sensitivity text, visibility_scope text,
       owner text, readers text[], retention_policy text, retain_until timestamptz, extractor text, media_type text),
     json_to_recordset(%(rows)s::json) AS own (
       doc uuid, revision uuid, number integer, recorded_by text, at timestamptz, source_uri text, title text,
       tags text[], source_id text, source_url text, content_hash text, text_hash text, filename text,
       size_bytes bigint, char_count integer, written_at timestamptz, authors text[], participants text[],
       details jsonb)
"""
STOP_SERVING = f"""
UPDATE {{document_revisions}} r
   SET is_active = false, deactivated_at = given.at, replaced_at = coalesce(given.written_at, given.at),
       served = served * tstzmultirange(tstzrange(NULL, given.at))
  FROM (SELECT * {_GIVEN}) AS given
 WHERE r.tenant_id = given.tenant AND r.doc_id = given.doc AND r.is_active AND r.doc_version_id <> given.revision
"""
# The rows are read once, for both tables.
FILE = f"""
WITH given AS MATERIALIZED (SELECT * {_GIVEN}),
filed AS (
    INSERT INTO {{documents}} AS d
           (tenant_id, doc_id, source_type, source_uri, title, tags, document_type, source_system, source_id,
            source_url, sensitivity, visibility_scope, owner, readers, retention_policy, retain_until, created_by,
            created_at, updated_at)
    SELECT tenant, doc, source_type, source_uri, title, tags, document_type, source_system, source_id, source_url,
           sensitivity, visibility_scope, owner, readers, retention_policy, retain_until, recorded_by, at, at
      FROM given
    ON CONFLICT (tenant_id, doc_id) DO UPDATE
       SET title = excluded.title, tags = excluded.tags, source_url = excluded.source_url,
           updated_at = excluded.updated_at
)
INSERT INTO {{document_revisions}} AS r
       (tenant_id, doc_version_id, doc_id, version_number, version_label, content_hash, text_hash, extractor,
        media_type, original_filename, size_bytes, char_count, is_active, written_at, authors, participants, details,
        readers, created_at, activated_at, served)
SELECT tenant, revision, doc, number, number::text, content_hash, text_hash, extractor, media_type, filename,
       size_bytes, char_count, true, written_at, authors, participants, details, readers, at, at,
       tstzmultirange(tstzrange(at, NULL))
  FROM given
ON CONFLICT (tenant_id, doc_version_id) DO UPDATE
   SET is_active = true, deactivated_at = NULL, replaced_at = NULL, activated_at = excluded.activated_at,
       served = r.served + excluded.served
"""
AS_SHARED = (
    "source_type", "document_type", "source_system", "sensitivity", "visibility_scope", "owner", "readers",
    "retention_policy", "retain_until", "extractor", "media_type",
)  # fmt: skip
# The document has no file: its content is the text that is kept for its revision.
NO_FILE = "text:"


FiledRow = dict[str, Any]


async def file_all(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    """Texts of different documents in one go; one that replaces another of these comes after it."""
    shared: FiledRow = {}
    waiting: dict[str, FiledRow] = {}
    for event in events:
        common, row = _shared(event), _row(event)
        if common != shared or row["doc"] in waiting:
            await _write(connection, shared, list(waiting.values()), tables)
            waiting.clear()
            shared = common
        waiting[row["doc"]] = row
    await _write(connection, shared, list(waiting.values()), tables)


async def _write(connection: Connection, shared: FiledRow, rows: list[FiledRow], tables: Tables) -> None:
    if not rows:
        return
    later = [row for row in rows if row["number"] > 1]
    if later:
        await connection.execute(STOP_SERVING.format(**tables), _given(shared, later))
    await connection.execute(FILE.format(**tables), _given(shared, rows))


def _given(shared: FiledRow, rows: list[FiledRow]) -> dict[str, str]:
    return {"shared": orjson.dumps(shared).decode(), "rows": orjson.dumps(rows).decode()}


def _shared(event: Event) -> FiledRow:
    data = event.data
    told: FiledRow = {name: data.get(name) for name in AS_SHARED}
    return told | {"tenant": event.tenant_id}


def _row(event: Event) -> FiledRow:
    data = event.data
    doc_id = data["subject"].removeprefix(f"{happened.ENTITY}:")
    # Replay of what was purged later: an address of its own, and nothing else may be shown.
    about = data.get("about")
    told: dict[str, Any] = about if isinstance(about, dict) else {}
    text_hash = told.get("text_hash") or REDACTED
    return {
        "doc": doc_id,
        "revision": data["doc_version_id"],
        "number": data["version_number"],
        "recorded_by": event.actor_id,
        "at": event.recorded_at,
        "size_bytes": data["size_bytes"],
        "char_count": data["char_count"],
        "source_uri": told.get("source_uri") or f"purged:{doc_id}",
        "title": told.get("title") or REDACTED,
        "tags": told.get("tags") or [],
        "source_id": told.get("source_id"),
        "source_url": told.get("source_url"),
        "content_hash": NO_FILE + text_hash if told else REDACTED,
        "text_hash": text_hash,
        "filename": told.get("filename") or "",
        "written_at": told.get("written_at"),
        "authors": told.get("authors") or [],
        "participants": told.get("participants") or [],
        "details": told.get("details") or {},
    }
