"""The semantics lens: semantic events, their evidence and links, as the log tells what was read and what people said.

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
from mnemon.semantics.corrections import keeping
from mnemon.semantics.corrections import lens_sql as corrections

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
    kept = await keeping.spoken_of(connection, values, tables, values["kept"]) if values["kept"] else []
    vouched_for = [one["event"] | {"vouched_for": True} for one in kept if one["event"]]
    found = values | {"events": Jsonb([*values["events"], *vouched_for])}
    for statement in (
        statements.ADD_EXTRACTION, statements.DROP_EVIDENCE, statements.DROP_LINKS, statements.DROP_EVENTS,
        statements.ADD_EVENTS, statements.ADD_EVIDENCE, statements.ADD_LINKS,
    ):  # fmt: skip
        await connection.execute(statement.format(**tables), found)
    if kept:
        await keeping.lead_on(connection, values, tables, kept)
    await _settle(connection, values, tables, touched | await _touched(connection, values, tables))


async def _correct(connection: Connection, values: Values, tables: Tables) -> None:
    touched = await _touched(connection, values, tables)
    await keeping.record(connection, values, tables, statements.ADD_EVENTS, statements.ADD_EVIDENCE)
    await _settle(connection, values, tables, touched | await _touched(connection, values, tables))


async def _undo(connection: Connection, values: Values, tables: Tables) -> None:
    touched = await _touched(connection, values, tables)
    await keeping.undo(connection, values, tables)
    await _settle(connection, values, tables, touched | await _touched(connection, values, tables))


async def _learn(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(corrections.LEARN.format(**tables), values)


async def _forget_learned(connection: Connection, values: Values, tables: Tables) -> None:
    await connection.execute(corrections.FORGET_LEARNED.format(**tables), values)


async def _follow(connection: Connection, values: Values, tables: Tables) -> None:
    """Events of a revision that is no longer served are of the past, and so is what they ended."""
    moved = await connection.execute(statements.FOLLOW.format(**tables), values)
    if moved.rowcount:
        await _settle(connection, values, tables, await _touched(connection, values, tables))


async def _purge(connection: Connection, values: Values, tables: Tables) -> None:
    touched = await _touched(connection, values, tables)
    for statement in (
        statements.PURGE_LINKS, statements.PURGE_EVIDENCE, statements.PURGE_EVENTS, statements.PURGE_EXTRACTIONS,
        corrections.PURGE,
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


async def forget(connection: Connection, subject_id: str, tables: Tables) -> bool:
    """A document's key is destroyed together with the event that says so. What a person said may have led to more than
    stands beside their name: then all is made anew."""
    said = await connection.execute(corrections.SAID_BY.format(**tables), {"by": subject_id})
    return await said.fetchone() is None


STEPS: dict[str, Callable[[Connection, Values, Tables], Awaitable[None]]] = {
    happened.EXTRACTED.type: _extract,
    happened.CORRECTED.type: _correct,
    happened.CORRECTION_UNDONE.type: _undo,
    happened.READER_LEARNED.type: _learn,
    happened.READER_FORGOTTEN.type: _forget_learned,
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
        "doc": data.get("subject", "").removeprefix(f"{documents.ENTITY}:"),
        **{name: data.get(name) for name in PLAIN},
        "events": _list(data.get("events")),
        "links": Jsonb(_list(data.get("links"))),
        "kept": _list(data.get("kept")),
        **(keeping.correction_of(event) if "event_id" in data else {}),
        **({"learned": Jsonb(data)} if "weights" in data else {}),
    }


def _list(value: Any) -> list[Any]:
    """Empty for the word that stands in the place of an erased list."""
    return value if isinstance(value, list) else []


SEMANTICS = Lens(
    name="semantics",
    tables=(
        "mnemon.extractions",
        "mnemon.semantic_events",
        "mnemon.event_evidence",
        "mnemon.event_links",
        "mnemon.event_corrections",
        "mnemon.learned_readers",
    ),
    apply=apply,
    lifecycle="inline",
    version=5,
    pattern=Pattern(types=tuple(STEPS)),
    forget=forget,
)
