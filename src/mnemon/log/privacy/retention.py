"""Retention: personal fields are forgotten when the term of their event type ends, after a notice, on schedule.

What was sealed with the key of a term ends with it. What was recorded before its type had a term ends with its person,
once every event about them has outlived its own.

The schedule asks for an erasure as a person would, a notice ahead of the day; it stands in the deletion log, where an
administrator may approve it at once or decline it, which holds it for a year. On the day the schedule approves it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row

from mnemon.db.database import Connection
from mnemon.log.privacy.erasure import Erasure, Erasures
from mnemon.log.privacy.terms import Terms
from mnemon.log.store import EventLog
from mnemon.telemetry import counter

EXPIRED = counter("mnemon_privacy_terms_expired_total", "People forgotten because every term of theirs was over.")

# Whoever asks is not who approves: the declaration of the terms is the first word, the end of the notice the second.
ASKED_BY, APPROVED_BY = "mnemon:retention", "mnemon:schedule"
REASON = "retention_expired"
HELD_FOR = timedelta(days=365)

# One event of a type that is kept for good keeps all that shares its key. The latest end of the terms counts, and the
# key of a term is in use to the end of its month. A person is in question where no term has a key.
ENDING = """
SELECT s.subject_id, count(*) AS events,
       greatest(max(e.recorded_at + make_interval(years => t.years)), max(CASE WHEN s.subject_id LIKE 'term:%%' THEN
           to_date(split_part(s.subject_id, ':', 4), 'YYYY-MM') + interval '1 month 1 day' END)) AS ends_at
  FROM mnemon.event_subjects s
  JOIN mnemon.events e USING (tenant_id, partition_id, sequence)
  LEFT JOIN unnest(%(types)s::text[], %(years)s::integer[]) AS t (type, years) ON t.type = e.type
 WHERE s.tenant_id = %(tenant)s AND s.subject_id NOT LIKE 'document:%%'
   AND EXISTS (SELECT FROM mnemon.subject_keys k
                WHERE k.tenant_id = s.tenant_id AND k.subject_id = s.subject_id AND k.destroyed_at IS NULL)
 GROUP BY s.subject_id
HAVING bool_and(t.years IS NOT NULL)
   AND max(e.recorded_at + make_interval(years => t.years)) <= %(until)s
   AND (s.subject_id LIKE 'term:%%' OR bool_or(NOT EXISTS (
           SELECT FROM mnemon.event_subjects u
            WHERE u.tenant_id = s.tenant_id AND u.partition_id = s.partition_id AND u.sequence = s.sequence
              AND u.subject_id LIKE 'term:%%')))
 ORDER BY ends_at, s.subject_id LIMIT %(limit)s
"""
LAST_WORD = """
SELECT DISTINCT ON (subject_id) subject_id, erasure_id, status, reason, requested_at, decided_at
  FROM mnemon.erasures WHERE tenant_id = %s AND subject_id = ANY (%s) ORDER BY subject_id, requested_at DESC
"""


@dataclass(frozen=True, slots=True)
class EndingTerm:
    """The key of a term, or a person; how many events are sealed with it, and when the last term of these ends."""

    subject_id: str
    events: int
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class LastWord:
    """The newest erasure of a person, if there is one."""

    subject_id: str
    erasure_id: str
    status: str
    reason: str
    requested_at: datetime
    decided_at: datetime | None


class Retention:
    """Says whose terms end, and forgets them when they have."""

    def __init__(self, log: EventLog, erasures: Erasures, notice: timedelta, terms: Terms | None = None) -> None:
        self._log = log
        self._terms = terms or Terms()
        self._erasures = erasures
        self.notice = notice

    async def ending(self, tenant: UUID, until: datetime, limit: int = 1000) -> list[EndingTerm]:
        """Everything whose last term ends by a moment, the earliest first: what will be destroyed, and when."""
        async with self._log.database.transaction(tenant) as connection:
            terms = await self._terms_in(connection, tenant)
            if not terms:
                return []
            values = {"tenant": tenant, "types": list(terms), "years": list(terms.values())}
            cursor = connection.cursor(row_factory=class_row(EndingTerm))
            return await (await cursor.execute(ENDING, values | {"until": until, "limit": limit})).fetchall()

    async def last_words(self, tenant: UUID, subjects: Sequence[str]) -> dict[str, LastWord]:
        async with self._log.database.transaction(tenant) as connection:
            cursor = connection.cursor(row_factory=class_row(LastWord))
            rows = await (await cursor.execute(LAST_WORD, (tenant, list(subjects)))).fetchall()
        return {row.subject_id: row for row in rows}

    async def enforce(self, tenant: UUID, now: datetime) -> list[Erasure]:
        """Ask for the erasures that are a notice away, and do those whose day has come; returns what changed."""
        ending = await self.ending(tenant, now + self.notice)
        words = await self.last_words(tenant, [one.subject_id for one in ending])
        changed = []
        for one in ending:
            word = words.get(one.subject_id)
            if word is None or self._may_ask_again(word, now):
                changed.append(
                    await self._erasures.request(tenant, one.subject_id, reason=REASON, requested_by=ASKED_BY)
                )
            elif self._is_due(one, word, now):
                changed.append(await self._erasures.approve(tenant, word.erasure_id, approved_by=APPROVED_BY))
                EXPIRED.inc()
        return changed

    def _is_due(self, one: EndingTerm, word: LastWord, now: datetime) -> bool:
        """Only what the schedule itself has asked for, and after the whole notice."""
        own = word.reason == REASON and word.status == "requested"
        return own and one.ends_at <= now and word.requested_at + self.notice <= now

    @staticmethod
    def _may_ask_again(word: LastWord, now: datetime) -> bool:
        """Someone declined it: it is held. A person who was readmitted has terms of their own again."""
        if word.status == "declined":
            return word.decided_at is not None and word.decided_at + HELD_FOR <= now
        return word.status == "completed"

    async def _terms_in(self, connection: Connection, tenant: UUID) -> dict[str, int]:
        """Years by type; of several versions the longest term. A version without a term means: for good."""
        terms: dict[str, int | None] = {}
        for one in await self._log.registry.list(tenant, connection):
            years = self._terms.years_of(one)
            known = terms.get(one.type, 0)
            terms[one.type] = None if years is None or known is None else max(known, years)
        return {kind: years for kind, years in terms.items() if years is not None}
