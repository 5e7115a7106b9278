"""Which events hold something about a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row
from pydantic import BaseModel, Field

from mnemon.db.database import Connection

OF_PERSON = """
SELECT s.partition_id, p.legal_entity, s.sequence, s.fields
  FROM mnemon.event_subjects s JOIN mnemon.partitions p USING (tenant_id, partition_id)
 WHERE s.tenant_id = %(tenant)s AND s.subject_id = %(subject)s AND (s.partition_id, s.sequence) > (%(after)s, %(from)s)
 ORDER BY s.partition_id, s.sequence
 LIMIT %(limit)s
"""
# A document has a key of its own too, and a term, under names that no person has. They are listed elsewhere.
PEOPLE = """
SELECT k.subject_id, max(k.generation) AS generation, min(k.created_at) AS known_since,
       CASE WHEN bool_or(k.destroyed_at IS NULL) THEN NULL ELSE max(k.destroyed_at) END AS erased_at,
       (SELECT count(*) FROM mnemon.event_subjects s
         WHERE s.tenant_id = %(tenant)s AND s.subject_id = k.subject_id) AS events
  FROM mnemon.subject_keys k
 WHERE k.tenant_id = %(tenant)s AND k.subject_id > %(after)s
   AND CASE WHEN %(only)s::text IS NULL THEN k.subject_id NOT LIKE ALL ('{document:%%,term:%%}')
            ELSE k.subject_id = %(only)s END
 GROUP BY k.subject_id
 ORDER BY k.subject_id
 LIMIT %(limit)s
"""
BATCH = 10_000


@dataclass(frozen=True, slots=True)
class AffectedEvent:
    """An event, and which of its fields are a person's."""

    partition_id: int
    legal_entity: str
    sequence: int
    fields: Sequence[str]


class Person(BaseModel):
    """Someone the log holds, or held, personal data of."""

    subject_id: str
    generation: int = Field(description="Which key of theirs is the last: 1, unless they were erased and readmitted.")
    known_since: datetime
    erased_at: datetime | None
    events: int = Field(description="Events that hold, or held, something about them.")


async def affected_events(connection: Connection, tenant: UUID, subject_id: str) -> list[AffectedEvent]:
    """Every event with a sealed field of this person, readable or not, by partition and sequence."""
    found: list[AffectedEvent] = []
    place = (0, 0)
    while True:
        values = {"tenant": tenant, "subject": subject_id, "after": place[0], "from": place[1], "limit": BATCH}
        rows = await connection.cursor(row_factory=class_row(AffectedEvent)).execute(OF_PERSON, values)
        page = await rows.fetchall()
        found += page
        if len(page) < BATCH:
            return found
        place = (page[-1].partition_id, page[-1].sequence)


async def page_of_people(
    connection: Connection, tenant: UUID, limit: int, after: str = "", only: str | None = None
) -> list[Person]:
    values = {"tenant": tenant, "limit": limit, "after": after, "only": only}
    rows = await connection.cursor(row_factory=class_row(Person)).execute(PEOPLE, values)
    return await rows.fetchall()
