"""Views over semantic events: open commitments by owner and date, and who was involved in what."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Database
from mnemon.documents.readers import Reader, read_as
from mnemon.errors import InvalidRequest
from mnemon.semantics.shapes import Shape, event_shape, read_events, read_evidence

MOST = 500
# Promises with a date first, the most urgent first; then those without.
COMMITMENTS = """
SELECT e.event_id, count(*) OVER () AS total FROM mnemon.semantic_events e
 WHERE e.tenant_id = mnemon.current_tenant() AND e.active AND e.category = 'Commitment' AND e.status = 'open'
   AND mnemon.may_read(e.readers)
   AND (%(owner)s::text IS NULL OR EXISTS (
        SELECT FROM jsonb_array_elements(e.actors) AS one
         WHERE one ->> 'role' = 'owner'
           AND (lower(one ->> 'ref') = lower(%(owner)s)
                OR lower(%(owner)s) = ANY (regexp_split_to_array(lower(one ->> 'ref'), '\\s+')))))
   AND (%(due_before)s::date IS NULL OR e.due < %(due_before)s)
   AND (NOT %(overdue)s OR e.due < %(today)s)
 ORDER BY e.due NULLS LAST, e.happened_at, e.event_id LIMIT %(limit)s
"""
PEOPLE = """
SELECT one ->> 'ref' AS person, e.subject_ref AS topic, count(*) AS events, count(*) OVER () AS total,
       array_agg(DISTINCT one ->> 'role' ORDER BY one ->> 'role') AS roles,
       array_agg(DISTINCT e.category ORDER BY e.category) AS categories,
       min(e.happened_at) AS first_at, max(e.happened_at) AS last_at,
       (array_agg(e.event_id ORDER BY e.happened_at DESC, e.event_id))[1:5] AS event_ids
  FROM mnemon.semantic_events e, jsonb_array_elements(e.actors) AS one
 WHERE e.tenant_id = mnemon.current_tenant() AND e.active AND mnemon.may_read(e.readers)
   AND (%(person)s::text IS NULL OR lower(one ->> 'ref') = lower(%(person)s)
        OR lower(%(person)s) = ANY (regexp_split_to_array(lower(one ->> 'ref'), '\\s+')))
   AND (%(topic)s::text IS NULL OR e.terms @@ websearch_to_tsquery('english', %(topic)s))
 GROUP BY 1, 2 ORDER BY events DESC, last_at DESC, person, topic LIMIT %(limit)s
"""


async def open_commitments(
    database: Database, tenant: UUID, reader: Reader, *, owner: str | None = None, due_before: date | None = None,
    overdue: bool = False, today: date | None = None, limit: int = 100,
) -> Shape:  # fmt: skip
    """What was promised and is neither done nor replaced, with days left; negative when it is overdue."""
    day = today or datetime.now(UTC).date()
    values = {"owner": owner, "due_before": due_before, "overdue": overdue, "today": day, "limit": _checked(limit)}
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        found = await (await tx.execute(COMMITMENTS, values)).fetchall()
        rows = await read_events(tx, [row["event_id"] for row in found])
        evidence = await read_evidence(tx, rows)
    return {
        "commitments": [_commitment(row, evidence[row["event_id"]], day) for row in rows],
        "total": found[0]["total"] if found else 0,
        "today": day.isoformat(),
    }


async def people_topics(
    database: Database, tenant: UUID, reader: Reader, *, person: str | None = None, topic: str | None = None,
    limit: int = 100,
) -> Shape:  # fmt: skip
    """Who was involved in what: one row for each person and subject, the busiest first."""
    values = {"person": person, "topic": topic, "limit": _checked(limit)}
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        rows = await (await tx.execute(PEOPLE, values)).fetchall()
    total = rows[0]["total"] if rows else 0
    people = [
        {name: value for name, value in row.items() if name != "total"}
        | {"first_at": row["first_at"].isoformat(), "last_at": row["last_at"].isoformat()}
        for row in rows
    ]
    return {"people": people, "total": total}


def _commitment(row: dict[str, Any], evidence: list[Shape], today: date) -> Shape:
    days = (row["due"] - today).days if row["due"] else None
    return event_shape(row) | {
        "owners": [one["ref"] for one in row["actors"] if one["role"] == "owner"],
        "days_left": days,
        "overdue": days is not None and days < 0,
        "evidence": evidence,
    }


def _checked(limit: int) -> int:
    if not 1 <= limit <= MOST:
        raise InvalidRequest(f"limit is 1 to {MOST}, not {limit}.", limit=limit)
    return limit
