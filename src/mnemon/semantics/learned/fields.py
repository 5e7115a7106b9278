"""Gives a finding of the learned reader its fields: who, what about, when, until when."""

import re

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.extract.verify import evidence_at
from mnemon.semantics.learned.gloss import is_german
from mnemon.semantics.learned.proposals import Proposal
from mnemon.semantics.rules.actors import Cast
from mnemon.semantics.rules.agents import NOBODY, Agent, agent_in, split_names
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.match import FoundCategory
from mnemon.semantics.rules.mood import plain
from mnemon.semantics.rules.people import People
from mnemon.semantics.rules.subjects import subject_of
from mnemon.semantics.rules.times import due_of, event_time_of
from mnemon.semantics.semantic_event import Candidate, Category, CommitmentKind, InvolvedActor

_ASKS = re.compile(
    r"\?\W*$|\b(?:please|pls|kindly|can you|could you|would you|will you|bitte|kannst du|könnt ihr|können sie"
    r"|könnten sie|würden sie|magst du)\b|^\W*@",
    re.IGNORECASE,
)
_SPEAKS = re.compile(r"\b(?:I|I'll|I'm|me|my|we|we'll|our|ich|wir|mir|mein\w*|unser\w*)\b", re.IGNORECASE)
_LABEL = re.compile(r"\W*(?P<names>[^:–—]{2,60}?)\s*(?::|\s[–—-])\s+(?=\S)")
_OPENING_WORDS = 6
_GERMAN_NAME = re.compile(
    r"(?P<title>(?:Frau|Herrn?|Dr\.|Prof\.)\s+(?:Dr\.\s+|Prof\.\s+)?)?"
    r"(?P<name>[^\W\d_a-zäöüß][\w'’-]+)"
)


def candidate_of(revision: Revision, proposal: Proposal, cast: Cast, chunk_id: str | None) -> Candidate | None:
    """None where nothing is left of the quote."""
    unit = revision.layout.units[proposal.unit]
    evidence = evidence_at(revision.text, proposal.start, proposal.end, chunk_id)
    if evidence is None:
        return None
    clause, today = plain(revision.text[proposal.start : proposal.end]), unit.day or revision.today
    kind = _kind(clause) if proposal.category is Category.COMMITMENT else None
    agent = _agent(clause, unit, proposal, revision.people, kind)
    found = FoundCategory(proposal.category, "learned", 2.0, 0, 0, agent, "after", kind)
    due = (due_of(clause, today) or due_of(plain(unit.text), today)) if kind else None
    return Candidate(
        proposal.category,
        _narrative(clause, unit, cast),
        subject_of(clause, (0, 0), "after", proposal.category, revision.people, unit.heading or revision.title),
        _actors_in_german(clause, unit, revision, proposal.category, kind)
        if is_german(revision.text)
        else cast.actors(clause, unit, found),
        evidence,
        confidence=0.0,
        event_time=event_time_of(clause, proposal.category, today, revision.zone),
        due=due,
        kind=kind,
        rule="learned",
    )


def _actors_in_german(
    clause: str, unit: Unit, revision: Revision, category: Category, kind: CommitmentKind | None
) -> tuple[InvolvedActor, ...]:
    """Every noun has a capital there: people are those who are known, and those who are addressed as such."""
    people, given = revision.people, _given(revision)
    named = [
        match[0] if match["title"] else people.full_name(match["name"])
        for match in _GERMAN_NAME.finditer(f"{unit.cells.get('owner', '')} {clause}")
        if match["title"] or given >= set(match["name"].split())
    ]
    if not named and kind != "request" and (unit.speaker or _SPEAKS.search(clause)):
        speaker = unit.speaker or revision.author
        named = [people.full_name(speaker)] if speaker else []
    owns = category in (Category.COMMITMENT, Category.STAKEHOLDER)
    return tuple(
        InvolvedActor(name, "owner" if owns and place == 0 else "contributor")
        for place, name in enumerate(dict.fromkeys(named))
    )


def _given(revision: Revision) -> set[str]:
    """Parts of the names of those who take part, write or speak."""
    speakers = {unit.speaker for unit in revision.layout.units if unit.speaker}
    given = (*revision.participants, revision.author or "", *revision.layout.preamble.people, *speakers)
    return {part for name in given for part in (*name.split(), *revision.people.full_name(name).split())}


def _kind(clause: str) -> CommitmentKind:
    if _ASKS.search(clause):
        return "request"
    return "promise" if _SPEAKS.search(clause) else "assignment"


def _agent(clause: str, unit: Unit, proposal: Proposal, people: People, kind: CommitmentKind | None) -> Agent:
    """Whom the row's column, the label before the words or the clause's opening names; who speaks, of a promise."""
    if owners := unit.cells.get("owner") or unit.cells.get("name"):
        return Agent("person", tuple(people.full_name(name) for name in split_names(owners)))
    if label := _LABEL.match(unit.text):
        names = [name for name in split_names(label["names"]) if people.is_known(name)]
        if names:
            return Agent("person", tuple(people.full_name(name) for name in names))
    if _SPEAKS.match(clause.lstrip()):
        return Agent("self")
    for match in list(re.finditer(r"\S+", clause))[:_OPENING_WORDS]:
        agent = agent_in(clause[: match.end()].rstrip(".,;:"), people)
        if agent.kind not in ("thing", "you"):
            return agent
    speaks = proposal.category is Category.COMMITMENT and kind != "request" and unit.speaker
    return Agent("self") if speaks or _SPEAKS.search(clause) else NOBODY


def _narrative(clause: str, unit: Unit, cast: Cast) -> str:
    words = " ".join(clause.split())
    speaker = unit.speaker or (cast.revision.author if _SPEAKS.search(words) else None)
    return f"{cast.people.full_name(speaker)}: {words}" if speaker else words
