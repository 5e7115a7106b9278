"""The semantics lens: semantic events, their evidence and links, as the log tells what was read from revisions.

Whether an event is of today and who may read it is copied from its revision, where the documents lens, which comes
first, keeps it. So events of documents move rows here, and add none.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.documents import events as documents
from mnemon.log.events import Event
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern
from mnemon.semantics import events as happened
from mnemon.semantics import lens_sql as statements

Values = dict[str, Any]
PLAIN = ("doc_version_id", "extraction_id", "engine", "model", "event_count", "unproven")


async def apply(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    for event in events:
        step = STEPS.get(event.type)
        if step is not None:
            await step(connection, _values(event), tables)


async def _extract(connection: Connection, values: Values, tables: Tables) -> None:
    """Put what was read in the place of what was read before, all of it or nothing."""
    touched = await _touched(connection, values, tables)
    for statement in (
        statements.ADD_EXTRACTION, statements.DROP_EVIDENCE, statements.DROP_LINKS, statements.DROP_EVENTS,
        statements.ADD_EVENTS, statements.ADD_EVIDENCE, statements.ADD_LINKS,
    ):  # fmt: skip
        await connection.execute(statement.format(**tables), values)
    await _settle(connection, values, tables, touched | await _touched(connection, values, tables))


async def _follow(connection: Connection, values: Values, tables: Tables) -> None:
    """Events of a revision that is no longer served are of the past, and so is what they ended."""
    moved = await connection.execute(statements.FOLLOW.format(**tables), values)
    if moved.rowcount:
        await _settle(connection, values, tables, await _touched(connection, values, tables))


async def _purge(connection: Connection, values: Values, tables: Tables) -> None:
    touched = await _touched(connection, values, tables)
    for statement in (
        statements.PURGE_LINKS, statements.PURGE_EVIDENCE, statements.PURGE_EVENTS, statements.PURGE_EXTRACTIONS,
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
    happened.EXTRACTED.type: _extract,
    documents.ACCEPTED.type: _follow,
    documents.DESCRIBED.type: _follow,
    documents.INGESTED.type: _follow,
    documents.DEACTIVATED.type: _follow,
    documents.REACTIVATED.type: _follow,
    documents.PURGED.type: _purge,
}


def _values(event: Event) -> Values:
    data = event.data
    return {
        "tenant": event.tenant_id,
        "at": event.recorded_at,
        "doc": data["subject"].removeprefix(f"{documents.ENTITY}:"),
        **{name: data.get(name) for name in PLAIN},
        "events": Jsonb(_list(data.get("events"))),
        "links": Jsonb(_list(data.get("links"))),
    }


def _list(value: Any) -> list[Any]:
    """Empty for the word that stands in the place of an erased list."""
    return value if isinstance(value, list) else []


SEMANTICS = Lens(
    name="semantics",
    tables=("mnemon.extractions", "mnemon.semantic_events", "mnemon.event_evidence", "mnemon.event_links"),
    apply=apply,
    lifecycle="inline",
    version=3,
    pattern=Pattern(types=tuple(STEPS)),
    forget=forget,
)
