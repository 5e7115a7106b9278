"""The semantics lens: artifacts, their revisions, and the semantic events read from them, as the log tells it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.documents import events as documents
from mnemon.documents.ingest.dating import recorded_moment
from mnemon.log.events import Event
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern
from mnemon.semantics import events as happened
from mnemon.semantics import lens_sql as statements
from mnemon.semantics.names import revision_name, upload_uid_of

Values = dict[str, Any]
PLAIN = (
    "source_type", "doc_version_id", "version_number", "token_count", "chunk_count", "artifact_type",
    "source_system", "source_id", "source_url", "sensitivity", "visibility_scope", "owner", "readers",
    "retention_policy", "extraction_id", "engine", "model", "event_count", "unproven", "artifact_uid",
)  # fmt: skip


async def apply(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    for event in events:
        step = STEPS.get(event.type)
        if step is not None:
            await step(connection, _values(event), tables)


async def _accept(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(statements.ACCEPT.format(**tables), values)


async def _rename(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(statements.RENAME.format(**tables), values)


async def _describe(connection: Connection, values: Values, tables: Tables) -> None:
    if values["artifact_uid"] == REDACTED:
        # Replay of what was purged later: the purge will remove the row, and nothing may be shown until then.
        values |= {"artifact_uid": f"purged:{values['doc']}", "source_id": None, "source_url": None}
    for statement in (statements.DESCRIBE, statements.READERS_OF_REVISIONS, statements.READERS_OF_EVENTS):
        await connection.execute(statement.format(**tables), values)
    await _settle(connection, values, tables, await _touched(connection, values, tables))


async def _ingest(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(statements.STOP_SERVING.format(**tables), values)
    await connection.execute(statements.INGEST.format(**tables), values)
    await _switch(connection, values, tables)


async def _rebuild(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(statements.COUNT.format(**tables), values)


async def _deactivate(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(statements.STOP_SERVING.format(**tables), values | {"serve": None})
    await _switch(connection, values, tables)


async def _reactivate(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(statements.STOP_SERVING.format(**tables), values)
    await connection.execute(statements.SERVE_AGAIN.format(**tables), values)
    await _switch(connection, values, tables)


async def _switch(connection: Connection, values: Values, tables: Tables) -> None:
    """Events of a revision that is no longer served are of the past, and so is what they ended."""
    await connection.execute(statements.SWITCH_EVENTS.format(**tables), values)
    await _settle(connection, values, tables, await _touched(connection, values, tables))


async def _extract(connection: Connection, values: Values, tables: Tables) -> None:
    """Put what was read in the place of what was read before, all of it or nothing."""
    touched = await _touched(connection, values, tables)
    for statement in (
        statements.ADD_EXTRACTION, statements.FIRST_EXTRACTED, statements.DROP_EVIDENCE, statements.DROP_LINKS,
        statements.DROP_EVENTS, statements.ADD_EVENTS, statements.ADD_EVIDENCE, statements.ADD_LINKS,
    ):  # fmt: skip
        await connection.execute(statement.format(**tables), values)
    await _settle(connection, values, tables, touched | await _touched(connection, values, tables))


async def _purge(connection: Connection, values: Values, tables: Tables) -> None:
    touched = await _touched(connection, values, tables)
    for statement in (
        statements.PURGE_LINKS, statements.PURGE_EVIDENCE, statements.PURGE_EVENTS, statements.PURGE_EXTRACTIONS,
        statements.PURGE_REVISIONS, statements.PURGE_ARTIFACT,
    ):  # fmt: skip
        await connection.execute(statement.format(**tables), values)
    await _settle(connection, values, tables, touched)


async def _touched(connection: Connection, values: Values, tables: Tables) -> set[str]:
    rows = await (await connection.execute(statements.TOUCHED.format(**tables), values)).fetchall()
    return {row["event_id"] for row in rows}


async def _settle(connection: Connection, values: Values, tables: Tables, touched: set[str]) -> None:
    """Say anew of these events whether they are open, superseded or done."""
    if touched:
        await connection.execute(statements.SETTLE.format(**tables), values | {"touched": sorted(touched)})


async def forget(connection: Connection, subject_id: str, tables: Tables) -> None:
    """A document's key is destroyed together with the event that says so; no other key seals what is here."""


STEPS: dict[str, Callable[[Connection, Values, Tables], Awaitable[None]]] = {
    documents.ACCEPTED.type: _accept,
    documents.INGESTED.type: _ingest,
    documents.DEACTIVATED.type: _deactivate,
    documents.REACTIVATED.type: _reactivate,
    documents.RENAMED.type: _rename,
    documents.REBUILT.type: _rebuild,
    documents.PURGED.type: _purge,
    happened.DESCRIBED.type: _describe,
    happened.EXTRACTED.type: _extract,
}


def _values(event: Event) -> Values:
    data = event.data
    return {
        "tenant": event.tenant_id,
        "at": event.recorded_at,
        "by": event.actor_id,
        "doc": data["subject"].removeprefix(f"{documents.ENTITY}:"),
        "serve": data.get("doc_version_id"),
        **{name: data.get(name) for name in PLAIN},
        "upload_uid": upload_uid_of(data["subject"]),
        "upload_type": "email" if data.get("media_type") == "message/rfc822" else "doc",
        "title": data.get("title") or "",
        "revision_id": revision_name(str(data.get("content_hash", ""))),
        "written_at": recorded_moment(data.get("written_at")),
        "retain_until": recorded_moment(data.get("retain_until")),
        "events": Jsonb(_list(data.get("events"))),
        "links": Jsonb(_list(data.get("links"))),
    }


def _list(value: Any) -> list[Any]:
    """Empty for the word that stands in the place of an erased list."""
    return value if isinstance(value, list) else []


SEMANTICS = Lens(
    name="semantics",
    tables=(
        "mnemon.artifacts", "mnemon.artifact_revisions", "mnemon.extractions", "mnemon.semantic_events",
        "mnemon.event_evidence", "mnemon.event_links",
    ),
    apply=apply,
    lifecycle="inline",
    version=2,
    pattern=Pattern(types=tuple(STEPS)),
    forget=forget,
)  # fmt: skip
