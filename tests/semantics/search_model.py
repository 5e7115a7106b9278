"""A small world of documents, revisions and events, and what a search of it must find, said in plain Python."""

import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID, uuid5

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.semantics import lens_sql
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.lens import SEMANTICS
from mnemon.semantics.semantic_event import Category

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
WORDS = ["harbour", "anchor", "ledger", "pilot", "signal", "tariff"]
PEOPLE = ["Ada Byron", "Ben Okafor", "Ada Silva"]
READERS = [None, None, ["user:ada"], ["user:ben"], ["user:ada", "user:ben"]]
SPAN = 40
TABLES = {table.removeprefix("mnemon."): table for table in SEMANTICS.tables}
ENDED = {"fulfils": "done", "supersedes": "superseded"}


def day(number: float) -> datetime:
    return START + timedelta(days=number)


@dataclass
class Revision:
    """One text of a document, and when it was served."""

    doc_id: UUID
    revision: UUID
    readers: list[str] | None
    ingested_at: datetime
    written_at: datetime | None
    served: list[tuple[datetime, datetime | None]] = field(default_factory=list)
    replaced_at: datetime | None = None

    @property
    def extracted_at(self) -> datetime:
        return self.ingested_at + timedelta(hours=1)

    @property
    def is_latest(self) -> bool:
        return any(until is None for _, until in self.served)

    def served_at(self, moment: datetime) -> bool:
        return any(since <= moment and (until is None or moment < until) for since, until in self.served)


@dataclass
class Said:
    """One event of a revision."""

    event_id: str
    of: Revision
    position: int
    category: str
    words: list[str]
    subject: str
    person: str
    happened_at: datetime
    due: date | None

    @property
    def narrative(self) -> str:
        return " ".join(self.words)

    @property
    def terms(self) -> set[str]:
        return {*self.words, self.subject, *self.person.lower().split()}

    def stored(self) -> dict[str, Any]:
        return {
            "event_id": self.event_id, "position": self.position, "category": self.category,
            "narrative": self.narrative, "subject": {"type": "object", "ref": self.subject},
            "actors": [{"ref": self.person, "role": "owner"}], "event_time": None,
            "happened_at": self.happened_at.isoformat(), "due": self.due.isoformat() if self.due else None,
            "kind": None, "origin": "stated", "confidence": 0.8, "evidence": [],
        }  # fmt: skip


class World:
    """Everything that is stored, drawn from a seed."""

    def __init__(self, tenant: UUID, seed: int, documents: int = 9) -> None:
        self.tenant = tenant
        self.chance = random.Random(seed)
        self.revisions: list[Revision] = []
        self.events: list[Said] = []
        for number in range(documents):
            self._document(uuid5(tenant, f"{seed} {number}"))
        drawn = (self.chance.sample(self.events, 2) for _ in range(len(self.events) // 2))
        # Between two events there is one link: a reading finds no second one.
        ties = {(later.event_id, earlier.event_id): (later, earlier) for later, earlier in drawn}
        self.links = [(*tie, self.chance.choice(["supersedes", "fulfils"])) for tie in ties.values()]

    def _document(self, doc_id: UUID) -> None:
        readers = self.chance.choice(READERS)
        days = sorted(self.chance.sample(range(SPAN), self.chance.choice([1, 1, 2, 3])))
        own = []
        for number, at in enumerate(days):
            written = day(at - self.chance.choice([0, 1, 3])) if self.chance.random() < 0.6 else None
            revision = Revision(doc_id, uuid5(doc_id, str(number)), readers, day(at), written)
            if own:
                self._stop(own[-1], revision.ingested_at, revision.written_at or revision.ingested_at)
            revision.served.append((revision.ingested_at, None))
            own.append(revision)
        if len(own) > 1 and self.chance.random() < 0.2:
            self._stop(own[-1], day(SPAN + 1), day(SPAN + 1))
            own[0].served.append((day(SPAN + 1), None))
            own[0].replaced_at = None
        elif self.chance.random() < 0.15:
            self._stop(own[-1], day(SPAN + 1), None)
        self.revisions += own
        kept: list[str] = self.chance.sample(WORDS, 3)
        for revision in own:
            for position in range(self.chance.randrange(5)):
                self._event(revision, position, kept)

    def _stop(self, revision: Revision, at: datetime, replaced_at: datetime | None) -> None:
        since, _ = revision.served.pop()
        revision.served.append((since, at))
        revision.replaced_at = replaced_at

    def _event(self, revision: Revision, position: int, kept: list[str]) -> None:
        """Of every third the document says the same in each revision."""
        same = position == 0
        category = "Decision" if same else self.chance.choice(list(Category)).value
        words = kept if same else self.chance.sample(WORDS, 3)
        at = revision.written_at or revision.ingested_at
        happened = at + timedelta(days=self.chance.choice([-20, -5, 0, 0, 0, 2, 9]), minutes=position)
        due = happened.date() + timedelta(days=self.chance.randrange(-3, 12))
        dated = due if category == "Commitment" and self.chance.random() < 0.8 else None
        event_id = f"evt_{uuid5(revision.revision, str(position)).hex}"
        person, subject = self.chance.choice(PEOPLE), self.chance.choice(WORDS)
        self.events.append(Said(event_id, revision, position, category, words, subject, person, happened, dated))

    def filters(self) -> EventFilters:
        """Some of them, each as likely as not to be asked for."""
        chance = self.chance
        drawn: dict[str, Any] = {
            "query": " ".join(chance.sample(WORDS, chance.choice([1, 2]))),
            "category": chance.choice(["Decision", "Commitment"]),
            "time_from": day(chance.randrange(SPAN // 2)),
            "time_to": day(chance.randrange(SPAN // 2, SPAN)),
            "actor": chance.choice(["Ada Byron", "ada", "Okafor"]),
            "subject": chance.choice(WORDS),
            "status": chance.choice(["open", "superseded", "done"]),
            "due_before": day(chance.randrange(SPAN)).date(),
            "due_from": day(chance.randrange(SPAN)).date(),
            "due_to": day(chance.randrange(SPAN)).date(),
            "as_of": day(chance.randrange(-5, SPAN + 5)),
            "known_at": day(chance.randrange(SPAN + 5)),
            "all_revisions": True,
        }  # fmt: skip
        likely = {
            "status": 0.5,
            "as_of": 0.4,
            "known_at": 0.4,
            "due_before": 0.1,
            "time_from": 0.1,
            "time_to": 0.1,
            "due_from": 0.05,
            "due_to": 0.05,
        }
        return EventFilters(**{name: value for name, value in drawn.items() if chance.random() < likely.get(name, 0.2)})

    async def store(self, owner: Connection) -> None:
        """The rows that the lens would have written, the events by its own statements."""
        for revision in self.revisions:
            values = {
                "tenant": self.tenant, "doc": revision.doc_id, "doc_version_id": revision.revision,
                "readers": revision.readers,
                "owner": (revision.readers or ["user:ada"])[0], "latest": revision.is_latest,
                "served": [since for since, _ in revision.served], "until": [until for _, until in revision.served],
                "replaced_at": revision.replaced_at, "at": revision.extracted_at, "ingested": revision.ingested_at,
                "extraction_id": revision.revision,
                "events": Jsonb([one.stored() for one in self.events if one.of is revision]),
            }  # fmt: skip
            for statement in (DOCUMENT, REVISION, lens_sql.ADD_EVENTS):
                await owner.execute(statement.format(**TABLES), values)
        for later, earlier, kind in self.links:
            await owner.execute(LINK, (self.tenant, later.event_id, earlier.event_id, later.of.revision, kind, day(0)))
        touched = [one.event_id for one in self.events]
        await owner.execute(lens_sql.SETTLE.format(**TABLES), {"tenant": self.tenant, "touched": touched})


DOCUMENT = """
INSERT INTO mnemon.documents (tenant_id, doc_id, source_type, source_uri, title, owner, readers, created_at)
VALUES (%(tenant)s, %(doc)s, 'test', 'test://' || %(doc)s, 'Drawn', %(owner)s, %(readers)s, %(ingested)s)
ON CONFLICT DO NOTHING
"""
REVISION = """
INSERT INTO mnemon.document_revisions (tenant_id, doc_version_id, doc_id, version_number, content_hash, text_hash,
       extractor, media_type, size_bytes, char_count, is_active, served, replaced_at, readers, created_at)
SELECT %(tenant)s, %(doc_version_id)s, %(doc)s,
       (SELECT 1 + count(*) FROM mnemon.document_revisions WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s),
       '', '', 'test', 'text/plain', 1, 1, %(latest)s,
       (SELECT range_agg(tstzrange(since, until))
          FROM unnest(%(served)s::timestamptz[], %(until)s::timestamptz[]) AS one (since, until)),
       %(replaced_at)s, %(readers)s, %(ingested)s
"""
LINK = """
INSERT INTO mnemon.event_links (tenant_id, later, earlier, doc_version_id, kind, reason, linked_at)
VALUES (%s, %s, %s, %s, %s, 'drawn', %s) ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True)
class Expected:
    """What one search must find."""

    world: World
    reader: str
    filters: EventFilters

    @cached_property
    def events(self) -> list[Said]:
        fitting = [one for one in self.world.events if self._fits(one) and self._served(one)]
        words = set((self.filters.query or "").split())
        matching = [one for one in fitting if words <= one.terms] or [one for one in fitting if words & one.terms]
        return sorted(matching, key=lambda one: (one.happened_at, one.event_id), reverse=True)

    def status(self, event: Said) -> str:
        """The first that ended it tells how."""
        ends = [(one.happened_at, one.event_id, kind) for one, earlier, kind in self.world.links
                if earlier is event and self._counts(one, event)]  # fmt: skip
        return ENDED[min(ends)[2]] if ends else "open"

    def _counts(self, later: Said, earlier: Said) -> bool:
        told = later.of.readers is None or (
            earlier.of.readers is not None and set(earlier.of.readers) <= set(later.of.readers)
        )
        return told and (self.filters.as_of is None or later.happened_at <= self.filters.as_of) and self._stood(later)

    def _fits(self, event: Said) -> bool:
        asked = self.filters
        names = {event.person.lower(), *event.person.lower().split()}
        return (
            (event.of.readers is None or self.reader in event.of.readers)
            and (asked.category is None or event.category == asked.category)
            and (asked.time_from is None or event.happened_at >= asked.time_from)
            and (asked.time_to is None or event.happened_at <= asked.time_to)
            and (asked.as_of is None or event.happened_at <= asked.as_of)
            and (asked.actor is None or asked.actor.lower() in names)
            and (asked.subject is None or event.subject == asked.subject)
            and (asked.due_before is None or (event.due is not None and event.due < asked.due_before))
            and (asked.due_from is None or (event.due is not None and event.due >= asked.due_from))
            and (asked.due_to is None or (event.due is not None and event.due <= asked.due_to))
            and (asked.status is None or self.status(event) == asked.status)
        )

    def _served(self, event: Said) -> bool:
        """Whether its revision is one of those that are searched; of what a document says twice, the later words."""
        asked = self.filters
        if asked.all_revisions or asked.status == "superseded":
            return asked.known_at is None or event.of.extracted_at <= asked.known_at
        if self._is_served(event) or asked.as_of is None:
            return self._is_served(event)
        return self._was_replaced(event) and not any(
            other.of.doc_id == event.of.doc_id and self._is_served(other) and other.happened_at <= asked.as_of
            and (other.category, other.narrative) == (event.category, event.narrative)
            for other in self.world.events
        )  # fmt: skip

    def _stood(self, event: Said) -> bool:
        return self._is_served(event) or (self.filters.as_of is not None and self._was_replaced(event))

    def _is_served(self, event: Said) -> bool:
        known_at = self.filters.known_at
        if known_at is None:
            return event.of.is_latest
        return event.of.extracted_at <= known_at and event.of.served_at(known_at)

    def _was_replaced(self, event: Said) -> bool:
        """Its revision stood then: it is the first of its document's that were replaced later."""
        as_of, known_at = self.filters.as_of, self.filters.known_at
        of, own = event.of, [one for one in self.world.revisions if one.doc_id == event.of.doc_id]
        if as_of is None or of.replaced_at is None or of.replaced_at <= as_of:
            return False
        if any(one.replaced_at and as_of < one.replaced_at < of.replaced_at for one in own):
            return False
        if known_at is None:
            return any(one.is_latest for one in own)
        until = of.served[-1][1]
        known = of.extracted_at <= known_at and until is not None and until <= known_at
        return known and any(one.served_at(known_at) for one in own)
