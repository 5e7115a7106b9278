"""The documents lens: which documents there are, their versions, and which of those is active, as the log tells it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.documents import events as happened
from mnemon.documents.ingest.dating import recorded_moment
from mnemon.log.events import Event
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern

ACCEPT = """
INSERT INTO {documents} AS d
       (tenant_id, doc_id, source_type, source_uri, title, tags, created_by, created_at, updated_at)
VALUES (%(tenant)s, %(doc)s, %(source_type)s, %(source_uri)s, %(title)s, %(tags)s, %(by)s, %(at)s, %(at)s)
ON CONFLICT (tenant_id, doc_id) DO UPDATE
   SET title = excluded.title, tags = excluded.tags, updated_at = excluded.updated_at
"""
STOP_SERVING = """
UPDATE {document_versions}
   SET is_active = false, deactivated_at = %(at)s, served = served * tstzmultirange(tstzrange(NULL, %(at)s))
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s AND is_active
   AND (%(but)s::uuid IS NULL OR doc_version_id <> %(but)s)
"""
INGEST = """
INSERT INTO {document_versions} AS v
       (tenant_id, doc_version_id, doc_id, version_number, version_label, content_hash, text_hash, extractor,
        media_type, original_filename, size_bytes, char_count, page_count, chunk_count, token_count, is_active,
        written_at, authors, participants, details, created_at, activated_at, served)
VALUES (%(tenant)s, %(doc_version_id)s, %(doc)s, %(version_number)s, %(version_label)s, %(content_hash)s,
        %(text_hash)s, %(extractor)s, %(media_type)s, %(original_filename)s, %(size_bytes)s, %(char_count)s,
        %(page_count)s, %(chunk_count)s, %(token_count)s, true, %(written_at)s, %(authors)s, %(participants)s,
        %(details)s, %(at)s, %(at)s, tstzmultirange(tstzrange(%(at)s, NULL)))
ON CONFLICT (tenant_id, doc_version_id) DO UPDATE
   SET is_active = true, deactivated_at = NULL,
       activated_at = CASE WHEN v.is_active THEN v.activated_at ELSE excluded.activated_at END,
       served = v.served + excluded.served
"""
SERVE_AGAIN = """
UPDATE {document_versions}
   SET is_active = true, activated_at = %(at)s, deactivated_at = NULL,
       served = served + tstzmultirange(tstzrange(%(at)s, NULL))
 WHERE tenant_id = %(tenant)s AND doc_version_id = %(but)s
"""
COUNT = """
UPDATE {document_versions} SET chunk_count = coalesce(%(chunk_count)s, chunk_count),
       token_count = coalesce(%(token_count)s, token_count)
 WHERE tenant_id = %(tenant)s AND doc_version_id = %(doc_version_id)s
"""
RENAME = """
UPDATE {documents} SET title = %(title)s, updated_at = %(at)s WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s
"""
TOUCH = "UPDATE {documents} SET updated_at = %(at)s WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s"
# The same as replay gives once the key is gone, so that a rebuild comes to the same rows.
FORGET_DOCUMENT = """
UPDATE {documents}
   SET source_uri = 'purged:' || doc_id, title = '[REDACTED]', tags = '{{}}', updated_at = %(at)s, purged_at = %(at)s
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s
"""
FORGET_VERSIONS = """
UPDATE {document_versions}
   SET content_hash = '[REDACTED]', text_hash = '[REDACTED]', original_filename = '[REDACTED]',
       version_label = version_number::text, written_at = NULL, authors = '{{}}', participants = '{{}}',
       details = '{{}}', is_active = false, deactivated_at = coalesce(deactivated_at, %(at)s), purged_at = %(at)s,
       served = served * tstzmultirange(tstzrange(NULL, %(at)s))
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s
"""

Values = dict[str, Any]


async def apply(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    for event in events:
        step = STEPS.get(event.type)
        if step is not None:
            await step(connection, _values(event), tables)


async def _accept(connection: Connection, values: Values, tables: Tables) -> None:
    # Replay of what was purged later: each of them needs an address of its own.
    address = values["source_uri"]
    values["source_uri"] = f"purged:{values['doc']}" if address in (None, REDACTED) else address
    values["title"] = values["title"] or REDACTED
    await connection.execute(ACCEPT.format(**tables), values)


async def _ingest(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(STOP_SERVING.format(**tables), values)
    await connection.execute(INGEST.format(**tables), values)
    await connection.execute(TOUCH.format(**tables), values)


async def _deactivate(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(STOP_SERVING.format(**tables), values | {"but": None})
    await connection.execute(TOUCH.format(**tables), values)


async def _reactivate(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(STOP_SERVING.format(**tables), values)
    await connection.execute(SERVE_AGAIN.format(**tables), values)
    await connection.execute(TOUCH.format(**tables), values)


async def _rename(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(RENAME.format(**tables), values | {"title": values["title"] or REDACTED})


async def _rebuild(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(COUNT.format(**tables), values)


async def _purge(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(FORGET_VERSIONS.format(**tables), values)
    await connection.execute(FORGET_DOCUMENT.format(**tables), values)


async def forget(connection: Connection, subject_id: str, tables: Tables) -> None:
    """The rows hold nothing of a person's own; a document's key is destroyed together with the event that says so."""


STEPS: dict[str, Callable[[Connection, Values, Tables], Awaitable[None]]] = {
    happened.ACCEPTED.type: _accept,
    happened.INGESTED.type: _ingest,
    happened.DEACTIVATED.type: _deactivate,
    happened.REACTIVATED.type: _reactivate,
    happened.RENAMED.type: _rename,
    happened.REBUILT.type: _rebuild,
    happened.PURGED.type: _purge,
}


def _values(event: Event) -> Values:
    data = event.data
    return {
        "tenant": event.tenant_id,
        "at": event.recorded_at,
        "by": event.actor_id,
        "doc": data["subject"].removeprefix(f"{happened.ENTITY}:"),
        "but": data.get("doc_version_id"),
        **{name: data.get(name) for name in PLAIN},
        "tags": _list(data.get("tags")),
        "authors": _list(data.get("authors")),
        "participants": _list(data.get("participants")),
        "details": Jsonb(data["details"] if isinstance(data.get("details"), dict) else {}),
        "written_at": recorded_moment(data.get("written_at")),
    }


PLAIN = (
    "source_type", "source_uri", "title", "doc_version_id", "version_number", "version_label", "content_hash",
    "text_hash", "extractor", "media_type", "original_filename", "size_bytes", "char_count", "page_count",
    "chunk_count", "token_count",
)  # fmt: skip


def _list(value: Any) -> list[str]:
    """Empty for the word that stands in the place of an erased list."""
    return value if isinstance(value, list) else []


DOCUMENTS = Lens(
    name="documents",
    tables=("mnemon.documents", "mnemon.document_versions"),
    apply=apply,
    lifecycle="inline",
    pattern=Pattern(types=tuple(STEPS)),
    version=3,
    forget=forget,
)
