"""Questions for decisions, promises, risks and the like: which kind is asked for, and where passages tell of one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.ask.hits import PassageHit
from mnemon.ask.measures import PassagePlace
from mnemon.ask.search import Ranked
from mnemon.ask.wording import TIME, Listener
from mnemon.db.database import Connection
from mnemon.semantics.semantic_event import Category

# Not what was replaced, for which the later words stand unless the past is asked for, nor what a person dismissed or
# what is more often no such event than one.
PLACES = """
SELECT v.doc_version_id, v.start_char, v.end_char,
       (SELECT string_agg(one ->> 'ref', ' ') FROM jsonb_array_elements(e.actors) AS one) AS people,
       to_char(e.happened_at AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY') AS day
  FROM mnemon.semantic_events e
  JOIN mnemon.event_evidence v ON v.tenant_id = e.tenant_id AND v.event_id = e.event_id
 WHERE e.tenant_id = mnemon.current_tenant() AND e.doc_version_id = ANY(%s) AND e.category = %s
   AND e.status <> 'dismissed' AND (e.status <> 'superseded' OR %s) AND e.confidence >= 0.5
   AND mnemon.may_read(e.readers)
"""
# The words that name a kind of event in a question.
_KINDS = (
    (Category.DECISION, r"decid(?:e|es|ed|ing)|decisions?|agreed?|agreements?|conclu(?:de|ded|sions?)|approved?"),
    (Category.COMMITMENT, r"promis(?:e|es|ed)|commit(?:s|ted|ments?)?|action items?|to-?dos?|assigned|tasks?"),
    (Category.QUALITY_RISK, r"risks?|blockers?|concerns?|worr(?:y|ies|ied)"),
    (Category.FEEDBACK, r"feedback|complain(?:s|ed|ts?)?|prais(?:e|ed)"),
    (Category.STAKEHOLDER, r"responsible|in charge|roles?"),
)
_NAMED = [(category, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for category, words in _KINDS]
# Who asks like this wants the events themselves; "why" and "how" want what is said about them.
_ASKS_FOR = re.compile(r"^\W*(?:what|which|who|whom|when|list|show|name|tell|is there|are there)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:originally|initially|previously|formerly|earlier|before|at first)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Occasion:
    """An event of the kind that is asked for: `[start, end)` of a revision tells of it."""

    revision: UUID
    start: int
    end: int
    # Who was involved, also where the words only say "she" or "I".
    people: str
    # When it was: "2 March 2026".
    day: str


@dataclass(frozen=True)
class Occasions:
    """What the passages tell of the kind of event that is asked for, and the words that ask for it."""

    words: str
    found: Sequence[Occasion]

    def told_in(self, hit: PassageHit, start: int, end: int) -> str | None:
        """What `[start, end)` of the hit's revision says by telling of such an event: that it is one, who and when."""
        told = self._of(hit, start, end)
        return " ".join([self.words, *(f"{one.people} {one.day}" for one in told)]) if told else None

    def by_passage(self, ranked: Ranked, hits: Sequence[PassageHit]) -> dict[PassagePlace, str]:
        """What each passage says by telling of such events; not when, since much else was at that time too.

        Nothing where the question is about somebody or something that no source names.
        """
        unknown = {term.lexeme for term in ranked.terms if not term.texts}
        times = " ".join(found[0] for found in TIME.finditer(ranked.asked.question))
        if unknown - Listener(unknown).heard_in(f"{self.words} {times}"):
            return {}
        told = {(hit.doc_version_id, hit.ordinal): self._of(hit, hit.start, hit.end) for hit in hits}
        return {place: " ".join([self.words, *(one.people for one in own)]) for place, own in told.items() if own}

    def _of(self, hit: PassageHit, start: int, end: int) -> list[Occasion]:
        return [one for one in self.found if one.revision == hit.doc_version_id and one.start < end and start < one.end]


def asked_for(question: str) -> tuple[Category, str] | None:
    """The kind of event that a question asks for, with the words that say so."""
    if not _ASKS_FOR.match(question):
        return None
    for category, named in _NAMED:
        if found := named.findall(question):
            return category, " ".join(found)
    return None


async def occasions_in(tx: Connection, question: str, hits: Sequence[PassageHit]) -> Occasions | None:
    """What the passages tell of what the question asks for; None where it asks for no kind of event."""
    asked = asked_for(question)
    if asked is None:
        return None
    category, words = asked
    revisions = list({hit.doc_version_id for hit in hits})
    past = bool(TIME.search(question) or _BEFORE.search(question))
    rows = await (await tx.execute(PLACES, (revisions, category.value, past))).fetchall()
    found = [
        Occasion(row["doc_version_id"], row["start_char"], row["end_char"], row["people"] or "", row["day"])
        for row in rows
    ]
    return Occasions(words, found)
