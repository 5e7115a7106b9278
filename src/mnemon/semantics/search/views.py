"""Views over semantic events: open commitments by owner and date, and who was involved in what."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mnemon.db.database import Database
from mnemon.documents.access import Reader, read_as
from mnemon.semantics.search import cursor as places
from mnemon.semantics.search.cursor import CursorFields, from_cursor, to_cursor
from mnemon.semantics.search.query import COUNTED, first_day_after
from mnemon.semantics.shapes import Shape, event_shape, moment, read_events, read_evidence

BY_DUE: CursorFields = {"after_due": places.day, "after_time": places.moment, "after_id": str}
BY_PLACE: CursorFields = {"offset": places.offset}
COMMITMENTS = "SELECT event_id, due, happened_at, total FROM mnemon.find_open_commitments(%s, %s)"
PEOPLE = "SELECT * FROM mnemon.find_people_topics(%s, %s)"
# Of so many of the latest events pairs are counted, however many there are.
MOST_INVOLVED = 5_000
BESIDE = ("total", "looked_at")


async def open_commitments(
    database: Database, tenant: UUID, reader: Reader, *, owner: str | None = None, due_before: date | None = None,
    due_from: date | None = None, due_to: date | None = None, overdue: bool = False, today: date | None = None,
    limit: int = 100, cursor: str | None = None, counted: int = COUNTED,
) -> Shape:  # fmt: skip
    """What was promised and is neither done nor replaced, the most urgent first, then what has no date.

    With days left, negative when it is overdue. `total` counts as a search does.
    """
    day = today or datetime.now(UTC).date()
    before = min(first_day_after(due_to, due_before), day if overdue else date.max)
    wanted: dict[str, Any] = {"limit": limit + 1, **from_cursor(cursor, BY_DUE)}
    if owner and owner.strip():
        wanted["owner"] = owner
    if before < date.max:
        wanted["due_before"] = before.isoformat()
    if due_from:
        wanted["due_from"] = due_from.isoformat()
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        found = await (await tx.execute(COMMITMENTS, (Jsonb(wanted), counted + 1))).fetchall()
        rows = await read_events(tx, [row["event_id"] for row in found[:limit]])
        evidence = await read_evidence(tx, rows)
    total = found[0]["total"] if found else 0
    return {
        "commitments": [_commitment(row, evidence[row["event_id"]], day) for row in rows],
        "total": min(total, counted),
        "total_is_exact": total <= counted,
        "next_cursor": _after(found[limit - 1]) if len(found) > limit else None,
        "today": day.isoformat(),
    }


async def people_topics(
    database: Database, tenant: UUID, reader: Reader, *, person: str | None = None, topic: str | None = None,
    limit: int = 100, cursor: str | None = None,
) -> Shape:  # fmt: skip
    """Who was involved in what: one row for each person and subject, the busiest first.

    `complete` tells whether all events were looked at, or the latest of them only.
    """
    asked = {name: value for name, value in (("person", person), ("topic", topic)) if value and value.strip()}
    place = from_cursor(cursor, BY_PLACE)
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        rows = await (await tx.execute(PEOPLE, (Jsonb({"limit": limit, **asked, **place}), MOST_INVOLVED))).fetchall()
    total = rows[0]["total"] if rows else 0
    reached = place.get("offset", 0) + len(rows)
    people = [
        {name: value for name, value in row.items() if name not in BESIDE}
        | {"first_at": moment(row["first_at"]), "last_at": moment(row["last_at"])}
        for row in rows
    ]
    return {
        "people": people,
        "total": total,
        "complete": not rows or rows[0]["looked_at"] < MOST_INVOLVED,
        "next_cursor": to_cursor({"offset": reached}) if reached < total else None,
    }


def _after(row: dict[str, Any]) -> str:
    due = row["due"].isoformat() if row["due"] else None
    return to_cursor({"after_due": due, "after_time": row["happened_at"].isoformat(), "after_id": row["event_id"]})


def _commitment(row: dict[str, Any], evidence: list[Shape], today: date) -> Shape:
    days = (row["due"] - today).days if row["due"] else None
    return event_shape(row) | {
        "owners": [one["ref"] for one in row["actors"] if one["role"] == "owner"],
        "days_left": days,
        "overdue": days is not None and days < 0,
        "evidence": evidence,
    }
