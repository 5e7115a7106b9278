"""Holds what a model said against the text: the quote must be there, and so must names, numbers and dates."""

import re
from datetime import date, datetime, time

from mnemon.semantics.dates import read_dates
from mnemon.semantics.revision import Chunk, Revision
from mnemon.semantics.said import SaidEvent
from mnemon.semantics.semantic_event import Actor, Candidate, Category, Evidence, Origin, Subject
from mnemon.semantics.times import due_of, event_time_of
from mnemon.semantics.verify import find_evidence
from mnemon.semantics.wording import content_words, values

# Nobody has measured how sure this model is: without a rule that agrees, it is at most half sure.
UNMEASURED = 0.5
_FEWEST_WORDS = 2
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w’'-]+")


def ground(said: SaidEvent, revision: Revision, chunk: Chunk, rule_findings: tuple[Candidate, ...]) -> Candidate | None:
    """A candidate whose every part stands in the chunk, or None where its quote does not."""
    passage = revision.text[chunk.start : chunk.end]
    found = find_evidence(passage, said.quote)
    if found is None or len(content_words(found.quote)) < _FEWEST_WORDS:
        return None
    evidence = Evidence(found.start + chunk.start, found.end + chunk.start, found.quote, chunk.chunk_id)
    agreeing = _agreeing(said.category, evidence, rule_findings)
    narrative, origin = _narrative(said, passage, found.quote)
    return Candidate(
        said.category,
        narrative,
        _subject(said, passage, found.quote),
        _actors(said, revision, passage),
        evidence,
        agreeing.confidence if agreeing else min(said.confidence, UNMEASURED),
        event_time=_event_time(said, evidence, passage, revision),
        due=_due(said, evidence, passage, revision),
        kind=(agreeing.kind if agreeing else "promise") if said.category is Category.COMMITMENT else None,
        origin=origin,
        rule=f"model+{agreeing.rule}" if agreeing else "model",
    )


def _agreeing(category: Category, evidence: Evidence, findings: tuple[Candidate, ...]) -> Candidate | None:
    for each in findings:
        shared = min(each.evidence.end, evidence.end) - max(each.evidence.start, evidence.start)
        if each.category is category and shared > 0:
            return each
    return None


def _narrative(said: SaidEvent, passage: str, quote: str) -> tuple[str, Origin]:
    """The model's sentence, unless it brings in a number or a name that the passage does not have."""
    words = " ".join(said.narrative.split())
    invented = values(words) - values(passage) or {name.lower() for name in _NAME.findall(words)} - _words(passage)
    if invented:
        return " ".join(quote.split()), "stated"
    stated = content_words(words) <= content_words(quote)
    return words, "stated" if stated else "inferred"


def _subject(said: SaidEvent, passage: str, quote: str) -> Subject:
    if content_words(said.subject.ref) & content_words(passage):
        return Subject(" ".join(said.subject.ref.split()), said.subject.type)
    return Subject(" ".join(quote.split()[:8]), "other")


def _actors(said: SaidEvent, revision: Revision, passage: str) -> tuple[Actor, ...]:
    """People whom the passage names, or who are known to have written or attended."""
    known = _words(" ".join((passage, *revision.people.names)))
    actors: dict[str, Actor] = {}
    for each in said.actors:
        name = revision.people.full_name(each.ref)
        if _words(each.ref) and _words(each.ref) <= known:
            actors.setdefault(name.casefold(), Actor(name, each.role))
    return tuple(actors.values())


def _event_time(said: SaidEvent, evidence: Evidence, passage: str, revision: Revision) -> datetime | None:
    ours = event_time_of(evidence.quote, said.category, revision.day_at(evidence.start), revision.zone)
    if ours or said.category is Category.COMMITMENT:
        return ours
    theirs = _mentioned(said.event_time, passage, revision)
    return datetime.combine(theirs, time(), revision.zone) if theirs else None


def _due(said: SaidEvent, evidence: Evidence, passage: str, revision: Revision) -> date | None:
    if said.category is not Category.COMMITMENT:
        return None
    return due_of(evidence.quote, revision.day_at(evidence.start)) or _mentioned(said.due, passage, revision)


def _mentioned(words: str | None, passage: str, revision: Revision) -> date | None:
    """The model's date, where the passage mentions that very day."""
    try:
        day = date.fromisoformat((words or "")[:10])
    except ValueError:
        return None
    if revision.today is None:
        return day if day.isoformat() in passage else None
    periods = [
        each.period for side in ("past", "future", "nearest") for each in read_dates(passage, revision.today, side)
    ]
    return day if any(day in (period.first, period.last) for period in periods) else None


def _words(text: str) -> set[str]:
    return {word.lower().strip(".'’") for word in re.findall(r"[^\W\d_][\w’'.-]*", text)}
