"""Gives a finding of the learned reader its fields: who, what about, when, until when."""

import re
from dataclasses import replace

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.extract.verify import evidence_at
from mnemon.semantics.learned.due_days import due_day
from mnemon.semantics.learned.gloss import is_german
from mnemon.semantics.learned.owner_mentions import OwnerMention, mentions_in
from mnemon.semantics.learned.owner_signs import may_own
from mnemon.semantics.learned.owners import OwnerSearch, owners_of
from mnemon.semantics.learned.proposals import Proposal
from mnemon.semantics.rules.actors import Cast
from mnemon.semantics.rules.agents import NOBODY, Agent, agent_in, split_names
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.match import FoundCategory
from mnemon.semantics.rules.mood import plain
from mnemon.semantics.rules.people import People
from mnemon.semantics.rules.subjects import subject_of
from mnemon.semantics.rules.times import event_time_of, said_on
from mnemon.semantics.semantic_event import Candidate, Category, CommitmentKind, InvolvedActor

_ASKS = re.compile(
    r"\?\W*$|\b(?:please|pls|kindly|can you|could you|would you|will you|bitte|kannst du|könnt ihr|können sie"
    r"|könnten sie|würden sie|magst du|(?:ask|need|want|like) you to|ich bitte (?:sie|dich|euch))\b|^\W*@"
    # "Send me the list", "schick mir den Plan".
    r"|^\W*(?:and |then |also |just |und |dann )?(?:send|give|tell|show|bring|get|call|mail|ping|forward|remind|let"
    r"|schickt?|gib|gebt|sagt?|zeigt?|bringt?|ruft?|meldet?|lasst?) (?:me|us|mir|mich|uns|dich|euch)\b",
    re.IGNORECASE,
)
_SPEAKS = re.compile(r"\b(?:I|I'll|I'm|me|my|we|we'll|our|ich|wir|mir|mein\w*|unser\w*)\b", re.IGNORECASE)
_OPENING_WORDS = 6
# "Kitchen rota", "Check insurance": a capital that begins a line is somebody only with a verb after it.
_VERB_AFTER = re.compile(r",?\s+(?:will|shall|to|has|is|was|must|can|[a-z]+(?:s|ed))\b|['’](?:ll|s)\b|:")
_GERMAN_NAME = re.compile(
    r"(?P<title>(?:Frau|Herrn?|Dr\.|Prof\.)\s+(?:Dr\.\s+|Prof\.\s+)?)?"
    r"(?P<name>[^\W\d_a-zäöüß][\w'’-]+)"
)


def candidate_of(
    revision: Revision, proposal: Proposal, cast: Cast, chunk_id: str | None, known_kind: CommitmentKind | None = None
) -> Candidate | None:
    """None where nothing is left of the quote. A rule may know already what kind of commitment it is."""
    unit = revision.layout.units[proposal.unit]
    evidence = evidence_at(revision.text, proposal.start, proposal.end, chunk_id)
    if evidence is None:
        return None
    clause, today = plain(revision.text[proposal.start : proposal.end]), unit.day or revision.today
    kind = (known_kind or commitment_kind(clause)) if proposal.category is Category.COMMITMENT else None
    return Candidate(
        proposal.category,
        _narrative(clause, unit, cast),
        subject_of(clause, (0, 0), "after", proposal.category, revision.people, unit.heading or revision.title),
        actors_of(revision, proposal.unit, proposal.category, cast, clause, kind, proposal.start),
        evidence,
        confidence=0.0,
        event_time=event_time_of(clause, proposal.category, today, revision.zone) or said_on(unit, revision),
        due=due_day(revision, proposal.unit, clause, today) if kind else None,
        kind=kind,
        rule="learned",
    )


def actors_of(
    revision: Revision,
    place: int,
    category: Category,
    cast: Cast,
    clause: str,
    kind: CommitmentKind | None,
    start: int,
) -> tuple[InvolvedActor, ...]:
    """Who owes it first, of a commitment; then whomever it names."""
    german = is_german(revision.text)
    unit = revision.layout.units[place]
    owners: tuple[str, ...] = ()
    if kind:
        owners = owners_of(OwnerSearch(revision, cast, place, clause, kind, german, start))
    if german:
        others = _actors_in_german(clause, unit, revision, category, kind)
    else:
        agent = _agent(clause, unit, category, revision.people, kind)
        found = FoundCategory(category, "learned", 2.0, 0, 0, agent, "after", kind)
        others = cast.actors(clause, unit, found)
    if not owners:
        return others
    first = tuple(InvolvedActor(name, "owner") for name in owners)
    return first + tuple(replace(one, role="contributor") for one in others if one.ref not in owners)


def _actors_in_german(
    clause: str, unit: Unit, revision: Revision, category: Category, kind: CommitmentKind | None
) -> tuple[InvolvedActor, ...]:
    """Every noun has a capital there: people are those who are known, and those who are addressed as such."""
    people, given = revision.people, _given(revision)
    said = f"{unit.cells.get('owner', '')} {clause}"
    named = [
        people.full_name(match[0]) if match["title"] else people.full_name(match["name"])
        for match in _GERMAN_NAME.finditer(said)
        if match["title"] or given >= set(match["name"].split())
    ]
    # Whom nobody introduced: two words that no list knows, or a firm.
    named += [one.name for one in mentions_in(revision, said, True) if _is_name(one) and one.name not in named]
    if not named and kind != "request" and (unit.speaker or _SPEAKS.search(clause)):
        speaker = unit.speaker or revision.author
        named = [people.full_name(speaker)] if speaker else []
    owns = category in (Category.COMMITMENT, Category.STAKEHOLDER)
    return tuple(
        InvolvedActor(name, "owner" if owns and place == 0 else "contributor")
        for place, name in enumerate(dict.fromkeys(named))
    )


def _is_name(one: OwnerMention) -> bool:
    return one.kind == "firm" or (one.kind == "named" and " " in one.name)


def _given(revision: Revision) -> set[str]:
    """Parts of the names of those who take part, write or speak."""
    speakers = {unit.speaker for unit in revision.layout.units if unit.speaker}
    given = (*revision.participants, revision.author or "", *revision.layout.preamble.people, *speakers)
    return {part for name in given for part in (*name.split(), *revision.people.full_name(name).split())}


def commitment_kind(clause: str) -> CommitmentKind:
    if _ASKS.search(clause):
        return "request"
    return "promise" if _SPEAKS.search(clause) else "assignment"


def _agent(clause: str, unit: Unit, category: Category, people: People, kind: CommitmentKind | None) -> Agent:
    """Whom the row's column, the label before the words or the clause's opening names; who speaks, of a promise."""
    if owners := unit.cells.get("owner") or unit.cells.get("name"):
        named = tuple(people.full_name(name) for name in split_names(owners) if may_own(name))
        return Agent("person", named) if named else NOBODY
    if _SPEAKS.match(clause.lstrip()):
        return Agent("self")
    for match in list(re.finditer(r"\S+", clause))[:_OPENING_WORDS]:
        agent = agent_in(clause[: match.end()].rstrip(".,;:"), people)
        if agent.kind == "opener" and not _VERB_AFTER.match(clause, match.end()):
            continue
        if agent.kind not in ("thing", "you"):
            return agent
    speaks = category is Category.COMMITMENT and kind != "request" and unit.speaker
    return Agent("self") if speaks or _SPEAKS.search(clause) else NOBODY


def _narrative(clause: str, unit: Unit, cast: Cast) -> str:
    words = " ".join(clause.split())
    speaker = unit.speaker or (cast.revision.author if _SPEAKS.search(words) else None)
    return f"{cast.people.full_name(speaker)}: {words}" if speaker else words
