"""Finds the events that a question lists, each with the words that tell of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from mnemon.ask.frames import ENGLISH, Frames, Note
from mnemon.ask.listing.wanted import WantedEvents
from mnemon.ask.quoting.choosing import Choice, day_told, folded_words, told_once
from mnemon.ask.quoting.features import CandidateStatement
from mnemon.ask.quoting.periods import AskedPeriod
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.surroundings import StatementSource
from mnemon.ask.quoting.told import Successor, ToldEvent, read_successors
from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.query import event_search
from mnemon.semantics.search.views import open_commitments
from mnemon.semantics.semantic_event import FACT_CONFIDENCE, Category

# Looked at of each kind, and shown.
LOOKED_AT, LISTED = 200, 20
EVIDENCE = """
SELECT DISTINCT ON (e.event_id) e.event_id, e.category, e.status, e.happened_at, e.undated, e.due, e.actors,
    e.confidence, v.doc_version_id, v.start_char, v.end_char, v.quote, r.doc_id, r.version_number, r.is_active,
    r.media_type, r.written_at, d.title, split_part(d.source_uri, '#of=', 1) AS source_uri, turn.speaker, turn.said_on
FROM mnemon.semantic_events AS e
JOIN mnemon.event_evidence AS v ON v.tenant_id = e.tenant_id AND v.event_id = e.event_id
JOIN mnemon.document_revisions AS r ON r.tenant_id = e.tenant_id AND r.doc_version_id = v.doc_version_id
JOIN mnemon.documents AS d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
LEFT JOIN LATERAL (
    SELECT c.speaker, c.said_on FROM mnemon.chunks AS c
     WHERE c.tenant_id = v.tenant_id AND c.doc_version_id = v.doc_version_id
       AND c.start_offset <= v.start_char AND c.end_offset > v.start_char
     ORDER BY c.start_offset DESC LIMIT 1
) AS turn ON true
WHERE e.tenant_id = mnemon.current_tenant() AND e.event_id = ANY(%s) AND e.confidence >= %s AND e.status <> 'dismissed'
  AND r.purged_at IS NULL AND mnemon.may_read(e.readers)
ORDER BY e.event_id, v.start_char
"""
# What calls itself one in its title or first lines, or says who was there; looked for among the latest documents.
LAST_MEETING = """
WITH latest AS (
    SELECT r.doc_version_id, r.written_at, d.document_type, d.title FROM mnemon.document_revisions AS r
    JOIN mnemon.documents AS d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
    WHERE r.tenant_id = mnemon.current_tenant() AND r.is_active AND r.purged_at IS NULL AND mnemon.may_read(r.readers)
      AND r.written_at <= now()
    ORDER BY r.written_at DESC LIMIT 200
)
SELECT max(latest.written_at) AS day FROM latest
JOIN mnemon.revision_texts AS t
  ON t.tenant_id = mnemon.current_tenant() AND t.doc_version_id = latest.doc_version_id
WHERE latest.document_type = 'transcript'
   OR concat_ws(E'\\n', latest.title, substr(t.text, 1, 200))
      ~* '\\y(meeting|minutes|stand-?up|sitzung|protokoll|besprechung|versammlung)\\y'
   OR substr(t.text, 1, 500) ~* '\\y(present|attendees|participants|anwesend|teilnehmer(innen)?):'
"""


@dataclass(frozen=True)
class ListedEvents:
    """What was found, the earliest first (by the day it is due, where that was asked for), within the limits that held
    in the end."""

    wanted: WantedEvents
    choices: Sequence[Choice]
    # How sure the reading of the least sure one is.
    strength: float
    # How many there are before them, or after them in a list of what is due.
    left_out: int

    def understood(self, frames: Frames = ENGLISH) -> dict[str, str]:
        where = "later_ones" if self.wanted.by_due else "earlier_ones"
        more = {"left_out": frames.say(where, count=self.left_out)} if self.left_out else {}
        return self.wanted.understood(frames) | more


async def list_events(database: Database, tenant: UUID, reader: Reader, wanted: WantedEvents) -> ListedEvents | None:
    """None where there is no such event: then the question is answered like any other."""
    if wanted.since_meeting:
        async with database.transaction(tenant) as tx:
            await read_as(tx, reader)
            wanted = replace(wanted, period=await _since_last_meeting(tx))
        if wanted.period is None:
            return None
    if wanted.by_due:
        wanted, found = await _due(database, tenant, reader, wanted)
    else:
        found = await _happened(database, tenant, reader, wanted)
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        rows = await (await tx.execute(EVIDENCE, (found, FACT_CONFIDENCE))).fetchall()
        standing = await read_successors(tx, [row["event_id"] for row in rows if row["status"] == "superseded"])
    rows = _once([row for row in rows if _is_of(row, wanted.people)])
    if not wanted.by_due:
        rows = _in_one_year(rows, wanted.period)
    if not rows:
        return None
    rows.sort(key=lambda row: (_day(row, wanted), row["happened_at"], row["doc_version_id"], row["start_char"]))
    if wanted.period and wanted.period.any_year and not wanted.by_due:
        wanted = replace(wanted, period=_dated(wanted.period, rows[0]["happened_at"].year))
    # Of more than can be shown, the latest; of what is due, the most urgent.
    shown = rows[:LISTED] if wanted.by_due else rows[-LISTED:]
    strength = min(float(row["confidence"]) for row in shown)
    choices = [choice for row in shown for choice in _choices(row, standing.get(row["event_id"]), wanted.by_due)]
    return ListedEvents(wanted, told_once(choices), strength, len(rows) - len(shown))


def _day(row: dict[str, Any], wanted: WantedEvents) -> date:
    day: date = row["due"] if wanted.by_due else row["happened_at"].date()
    return day


async def _happened(database: Database, tenant: UUID, reader: Reader, wanted: WantedEvents) -> list[str]:
    asked = [_filters(wanted, category, name) for category in wanted.categories for name in _names(wanted)]
    found = [
        await event_search(database, tenant, reader, one, limit=LOOKED_AT, include_evidence=False) for one in asked
    ]
    return list({event["event_id"]: None for page in found for event in page["events"]})


def _names(wanted: WantedEvents) -> list[str | None]:
    """Each word of each name: a text may tell the whole name or one word of it."""
    return [word for name in wanted.people for word in name.split()] or [None]


def _is_of(row: dict[str, Any], people: Sequence[str]) -> bool:
    """Whether one of them takes part; a commitment is of whoever owes it."""
    owned = row["category"] == Category.COMMITMENT
    known = [_words(one["ref"]) for one in row["actors"] if not owned or one["role"] == "owner"]
    return not people or any(_words(name) <= own or own <= _words(name) for name in people for own in known)


def _once(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same words, of a copy of a document or read as two kinds, stand once: as they were said last, and of those
    said at one time as what became of them is known."""
    kept: dict[tuple[str, date | None], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda one: (one["happened_at"], one["status"] != "open", one["is_active"])):
        kept[folded_words(row["quote"]), row["due"]] = row
    return list(kept.values())


def _words(name: str) -> set[str]:
    return set(name.lower().split())


async def _due(
    database: Database, tenant: UUID, reader: Reader, wanted: WantedEvents
) -> tuple[WantedEvents, list[str]]:  # fmt: skip
    """The open commitments that are due then, by the day; and when that is."""
    before = wanted.year_before
    if before and not await _due_within(database, tenant, reader, wanted, from_today=True):
        wanted = replace(wanted, period=before)
    return wanted, await _due_within(database, tenant, reader, wanted)


async def _due_within(
    database: Database, tenant: UUID, reader: Reader, wanted: WantedEvents, *, from_today: bool = False
) -> list[str]:  # fmt: skip
    period = wanted.period
    first = period.first if period and period.first else (datetime.now(UTC).date() if from_today else None)
    found = [
        await open_commitments(
            database, tenant, reader, owner=name, due_from=first, due_to=period.last if period else None,
            limit=LOOKED_AT,
        )
        for name in _names(wanted)
    ]  # fmt: skip
    return list({one["event_id"]: None for page in found for one in page["commitments"] if one["due"]})


async def _since_last_meeting(tx: Connection) -> AskedPeriod | None:
    row = await (await tx.execute(LAST_MEETING)).fetchone()
    return AskedPeriod(row["day"].date(), None, "") if row and row["day"] else None


def _filters(wanted: WantedEvents, category: Category, name: str | None) -> EventFilters:
    first, last = wanted.period.moments() if wanted.period and not wanted.period.any_year else (None, None)
    return EventFilters(category=category.value, status=wanted.status, actor=name, time_from=first, time_to=last)


def _in_one_year(rows: Sequence[dict[str, Any]], period: AskedPeriod | None) -> list[dict[str, Any]]:
    """Where no year was said, the latest that has such events is meant. What has no day was decided on none."""
    if period is None or not period.any_year:
        return list(rows)
    held = [row for row in rows if not row["undated"] and period.holds(row["happened_at"].date())]
    latest = max((row["happened_at"].year for row in held), default=0)
    return [row for row in held if row["happened_at"].year == latest]


def _dated(period: AskedPeriod, year: int) -> AskedPeriod:
    assert period.first is not None and period.last is not None
    later = year - period.first.year
    return replace(period, first=_moved(period.first, later), last=_moved(period.last, later))


def _moved(day: date, years: int) -> date:
    """29 February has no place in most years."""
    return day.replace(year=day.year + years, day=28 if (day.month, day.day) == (2, 29) else day.day)


def _choices(row: dict[str, Any], standing: Successor | None, by_due: bool) -> list[Choice]:
    """What was replaced says so, with what stands in its place; the words may stand far from the day that is due."""
    event = ToldEvent(
        row["event_id"], row["doc_version_id"], row["start_char"], row["end_char"], row["category"], row["status"],
        row["happened_at"], "",
    )  # fmt: skip
    origin = StatementSource(
        row["doc_id"], row["doc_version_id"], row["version_number"], row["is_active"], row["title"], row["source_uri"],
        row["media_type"], row["written_at"],
    )  # fmt: skip
    statement = Statement(event.start, event.end, row["quote"], "event", row["speaker"])
    candidate = CandidateStatement(statement, origin, 0.0, {}, (event,), said_on=row["said_on"])
    if by_due:
        return [Choice(candidate, "answer", Note("due", row["due"]))]
    if event.status != "superseded":
        return [Choice(candidate, "answer", Note("done") if event.status == "done" else None)]
    if standing is None:
        return [Choice(candidate, "replaced", Note("replaced"))]
    now, when = standing.event, day_told(standing.event)
    since = CandidateStatement(Statement(now.start, now.end, standing.quote, "event"), standing.origin, 0.0, {}, (now,))
    return [Choice(candidate, "replaced", Note("until", when)), Choice(since, "since", Note("since", when))]
