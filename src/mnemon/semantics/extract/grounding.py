"""Holds what a model said against the text: the quote must be there, and so must names, numbers and dates."""

import re
from datetime import date, datetime, time

from mnemon.documents.quotes import find_quote
from mnemon.documents.structure.dates import read_dates
from mnemon.semantics.extract.revision import Revision, RevisionChunk
from mnemon.semantics.extract.said import SaidEvent
from mnemon.semantics.extract.verify import MOST_WORDS, evidence_at
from mnemon.semantics.link.wording import content_words, values
from mnemon.semantics.rules.agents import GROUPS
from mnemon.semantics.rules.people import NOT_NAMES
from mnemon.semantics.rules.times import due_of, event_time_of
from mnemon.semantics.semantic_event import Candidate, Category, Evidence, InvolvedActor, StatementOrigin, Subject

# Nobody has measured how sure this model is: without a rule that agrees, it is at most half sure.
UNMEASURED = 0.5
_FEWEST_WORDS = 2
# Who begins a sentence and acts in it: "Zaphod decided", "Zaphod Beeblebrox will".
_ACTING = re.compile(
    r"(?:^|[.!?]\s+)([A-Z][\w’'-]+)(?=,?\s+(?:[A-Z]|and\b|will\b|shall\b|has\b|have\b|is\b|was\b|chose\b|told\b|said\b|gave\b"
    r"|took\b|made\b|sent\b|\w+(?:ed|es|s)\b))"
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w’'-]+")


def ground(
    said: SaidEvent, revision: Revision, chunk: RevisionChunk, rule_findings: tuple[Candidate, ...]
) -> Candidate | None:
    """A candidate whose every part stands in the chunk, or None where its quote does not."""
    passage = revision.text[chunk.start : chunk.end]
    found = _evidence(said, passage)
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


def _evidence(said: SaidEvent, passage: str) -> Evidence | None:
    """Of a quote that is too long, the stretch that says most of what the model tells."""
    span = find_quote(passage, said.quote)
    if span is None:
        return None
    told = content_words(f"{said.narrative} {said.subject.ref}")
    words = list(re.finditer(r"\S+", passage[span[0] : span[1]]))
    starts = [span[0] + word.start() for word in words[: max(1, len(words) - MOST_WORDS + 1)]]
    stretches = [found for start in starts if (found := evidence_at(passage, start, span[1]))]
    return max(stretches, key=lambda found: len(told & content_words(found.quote)), default=None)


def _agreeing(category: Category, evidence: Evidence, findings: tuple[Candidate, ...]) -> Candidate | None:
    for each in findings:
        shared = min(each.evidence.end, evidence.end) - max(each.evidence.start, evidence.start)
        if each.category is category and shared > 0:
            return each
    return None


def _narrative(said: SaidEvent, passage: str, quote: str) -> tuple[str, StatementOrigin]:
    """The model's sentence, unless it brings in a number or a name that the passage does not have."""
    words = " ".join(said.narrative.split())
    names = {name.lower() for name in (*_NAME.findall(words), *_ACTING.findall(words))}
    invented = values(words) - values(passage) or names - _words(passage) - NOT_NAMES - GROUPS
    if invented:
        return " ".join(quote.split()), "stated"
    stated = content_words(words) <= content_words(quote)
    return words, "stated" if stated else "inferred"


def _subject(said: SaidEvent, passage: str, quote: str) -> Subject:
    if content_words(said.subject.ref) & content_words(passage):
        return Subject(" ".join(said.subject.ref.split()), said.subject.type)
    return Subject(" ".join(quote.split()[:8]), "other")


def _actors(said: SaidEvent, revision: Revision, passage: str) -> tuple[InvolvedActor, ...]:
    """People whom the passage names, or who are known to have written or attended."""
    people = revision.people
    actors: dict[str, InvolvedActor] = {}
    for each in said.actors:
        ref = re.sub(r"\s*\([^)]*\)$", "", each.ref)
        if people.is_known(ref) or _says(passage, ref):
            name = people.full_name(ref)
            actors.setdefault(name.casefold(), InvolvedActor(name, each.role))
    return tuple(actors.values())


def _says(passage: str, name: str) -> bool:
    """The name in one piece: Ben Okafor and Ann Lee do not make a Ben Lee."""
    words = re.findall(r"\w+", name)
    return bool(words) and re.search(r"\b" + r"\W+".join(words) + r"\b", passage, re.IGNORECASE) is not None


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
