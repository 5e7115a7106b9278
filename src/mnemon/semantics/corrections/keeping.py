"""Corrections as the semantics lens keeps them: recorded, taken back, led on to a new reading, folded into events."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.project.lens import Tables
from mnemon.semantics.corrections import lens_sql as statements
from mnemon.semantics.corrections.fold import CorrectedFields, SaidCorrection, corrected

CorrectionRow = dict[str, Any]
LensValues = Mapping[str, Any]


def correction_of(event: Event) -> LensValues:
    """What the lens needs of a correction's own; `said` is None where whoever said it, or the document, is erased."""
    data = event.data
    said = data.get("said")
    words = said.get("words") if isinstance(said, dict) else None
    parts = said.get("parts", []) if isinstance(said, dict) else []
    return {
        "correction_id": data.get("correction_id", event.id),
        "sequence": event.sequence,
        "event_id": data["event_id"],
        "action": data.get("action"),
        "others": data.get("others", []),
        "said": words if isinstance(words, dict) else None,
        "parts": parts,
        "by": data["corrector"],
    }


async def record(
    connection: Connection, values: LensValues, tables: Tables, add_events: str, add_evidence: str
) -> None:
    """What a person said. Of an event that is not there any more nothing is left to say."""
    if values["said"] is None:
        return
    known = await _rows(connection, statements.KNOWN, tables, values, ids=[values["event_id"]])
    if not known:
        return
    [event] = known
    if values["parts"]:
        made = {
            **values,
            "extraction_id": event["extraction_id"],
            "events": Jsonb([one | {"position": event["position"]} for one in values["parts"]]),
        }
        await connection.execute(add_events.format(**tables), made)
        await connection.execute(add_evidence.format(**tables), made)
    rows = _rows_of(values)
    await connection.execute(statements.ADD.format(**tables), {**values, "rows": Jsonb(rows)})
    await fold(connection, values, tables, _named(rows))


async def undo(connection: Connection, values: LensValues, tables: Tables) -> None:
    """All that was done by the correction, in the revision in which it is taken back."""
    undone = await _rows(connection, statements.UNDO, tables, values)
    named = _named(undone)
    parts = [one["event_id"] for one in undone if one["action"] == "part"]
    gone = await _rows(connection, statements.DROP_UNVOUCHED, tables, values, ids=named, parts=parts)
    for statement in (statements.DROP_EVIDENCE_OF, statements.DROP_CORRECTIONS_OF):
        await _rows_changed(connection, statement, tables, values, [one["event_id"] for one in gone])
    await fold(connection, values, tables, named)


async def spoken_of(
    connection: Connection, values: LensValues, tables: Tables, kept: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Those events of before about which something is said still."""
    sources = [one["source"] for one in kept]
    found = await _rows(connection, statements.SPOKEN_OF, tables, values, ids=sources)
    known = {row["id"] for row in found}
    return [one for one in kept if one["source"] in known]


async def lead_on(connection: Connection, values: LensValues, tables: Tables, kept: Sequence[dict[str, Any]]) -> None:
    """What was said of the events of before is said of those of now: moved within a revision, copied to a new one."""
    targets = {one["source"]: one["target"] for one in kept}
    own = await _rows(connection, statements.OF_REVISION, tables, values)
    within = {row["event_id"] for row in own} | {one["source"] for one in kept if one["within"]}
    elsewhere = await _rows(
        connection, statements.OF_EVENTS, tables, values, ids=[one for one in targets if one not in within]
    )
    copied = [row for row in elsewhere if row["undone_at"] is None and _stands_here(row, targets)]
    rows = [_moved(row, targets) for row in (*own, *copied)]
    await connection.execute(statements.DROP.format(**tables), values)
    await connection.execute(statements.ADD.format(**tables), {**values, "rows": Jsonb(rows)})
    moved = [{"source": one["source"], "target": one["target"]} for one in kept if one["within"]]
    led = await _rows(connection, statements.LEAD_ON, tables, values, moved=Jsonb(moved))
    named = {*_named(rows), *targets, *targets.values(), *(row["event_id"] for row in led)}
    await fold(connection, values, tables, named)


async def fold(connection: Connection, values: LensValues, tables: Tables, named: Collection[str]) -> None:
    """Make these events what was read and what was said of it."""
    ids = sorted(named)
    readings = await _rows(connection, statements.READINGS, tables, values, ids=ids)
    said = await _rows(connection, statements.OF_EVENTS, tables, values, ids=ids)
    for statement in (statements.DROP_MERGED_EVIDENCE, statements.ADD_MERGED_EVIDENCE):
        await _rows_changed(connection, statement, tables, values, ids)
    rows = [
        _effective(row, [one for one in said if one["event_id"] == row["event_id"]])
        for row in readings
        if any(one["event_id"] == row["event_id"] for one in said)
    ]
    if rows:
        await connection.execute(statements.CHANGE.format(**tables), {**values, "rows": Jsonb(rows)})
    for statement in (statements.FORGET_VERDICTS, statements.DISMISS_LINKS, statements.DRAW_LINKS):
        await _rows_changed(connection, statement, tables, values, ids)


def _effective(row: CorrectionRow, said: Sequence[CorrectionRow]) -> dict[str, Any]:
    live = [one for one in said if one["undone_at"] is None]
    fields: CorrectedFields = corrected(
        row["as_read"],
        [SaidCorrection(one["action"], one["said"], one["said_by"], one["said_at"], one["other_id"]) for one in live],
    )
    return {
        **vars(fields),
        "event_id": row["event_id"],
        "due": fields.due.isoformat() if fields.due else None,
        "stood_since": fields.stood_since.isoformat() if fields.stood_since else None,
        "as_read": row["as_read"],
        "version": len(said) + len(said) - len(live),
        "corrected_by": live[-1]["said_by"] if live else None,
        "corrected_at": live[-1]["said_at"].isoformat() if live else None,
    }


def _rows_of(values: LensValues) -> list[CorrectionRow]:
    """A row for each event that it concerns: those that are merged away and those that are split off have their own."""
    said = {
        "correction_id": values["correction_id"], "sequence": values["sequence"], "said": values["said"],
        "said_by": values["by"], "said_at": values["at"].isoformat(),
    }  # fmt: skip
    event_id, action, others = values["event_id"], values["action"], values["others"]
    if action == "merge":
        merged = [said | {"event_id": one, "action": "merged", "other_id": event_id} for one in others]
        return [said | {"event_id": event_id, "action": action}, *merged]
    if action == "split":
        parts = [
            said | {"event_id": one["event_id"], "action": "part", "other_id": event_id} for one in values["parts"]
        ]
        return [said | {"event_id": event_id, "action": action}, *parts]
    return [said | {"event_id": event_id, "action": action, "other_id": others[0] if others else None}]


def _moved(row: CorrectionRow, targets: Mapping[str, str]) -> CorrectionRow:
    return row | {
        "event_id": targets.get(row["event_id"], row["event_id"]),
        "other_id": targets.get(row["other_id"], row["other_id"]),
        **{name: row[name].isoformat() if row[name] else None for name in ("said_at", "undone_at")},
    }


def _stands_here(row: CorrectionRow, targets: Mapping[str, str]) -> bool:
    """What was merged stands for itself in a text that has not the event that it was merged into."""
    return row["action"] != "merged" or row["other_id"] in targets


def _named(rows: Iterable[CorrectionRow]) -> set[str]:
    return {one[end] for one in rows for end in ("event_id", "other_id") if one.get(end)}


async def _rows(
    connection: Connection, statement: str, tables: Tables, values: LensValues, **more: Any
) -> list[CorrectionRow]:
    given = {name: list(one) if isinstance(one, set) else one for name, one in more.items()}
    return await (await connection.execute(statement.format(**tables), {**values, **given})).fetchall()


async def _rows_changed(
    connection: Connection, statement: str, tables: Tables, values: LensValues, ids: list[str]
) -> None:
    if ids:
        await connection.execute(statement.format(**tables), {**values, "ids": ids})
