"""Turns who acts in a clause into named actors: speaker, sender, addressee, names and pronouns."""

import re
from collections.abc import Sequence

from mnemon.documents.structure.names import NAME
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.rules.agents import Agent, agent_in, last_group
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.match import FoundCategory
from mnemon.semantics.rules.people import People
from mnemon.semantics.semantic_event import ActorRole, Candidate, Category, InvolvedActor

_VOCATIVE = re.compile(
    rf"(?:^|[.!?;:]\s+)\W*(?:(?i:hi|dear|hey|and|also|ok|okay),?\s+)?(?:(?P<name>@?{NAME})\s*,"
    r"|(?P<handle>@[\w.]+),?)\s+(?=\w)"
)
_WITH = re.compile(r"\b(?:with|to|between|by|from|under)\s+(?:the\s+|our\s+)?")
_NAME = re.compile(rf"(?<![\w.])@?{NAME}")
_BESIDE_PERSON = re.compile(r"\b(?:with|and|to|by|from|for|ask|asked|told|between)\s+@?$")
# A verb after it makes the first word of a clause its subject.
_SUBJECT = re.compile(
    rf"\W*(?P<name>{NAME})\s+(?:(?:is|was|has|had|will|would|can|could|does|did|says|said|thinks|wants|asked)\b|[a-z]+ed\b)"
)
_MOST = 6


class Cast:
    """Remembers who was spoken of last, so that "she" and "they" get a name."""

    def __init__(self, revision: Revision, before: Sequence[Unit] = ()) -> None:
        self.revision = revision
        self.people: People = revision.people
        self.last_person: str | None = None
        self.last_group: str | None = None
        # What stands before the chunk that is read.
        self.before = before
        # The last promise of each who speaks; None once they have reported on it.
        self.promises: dict[str, Candidate | None] = {}

    def note_promise(self, unit: Unit, candidate: Candidate) -> None:
        if unit.speaker and candidate.category is Category.COMMITMENT and candidate.kind == "promise":
            self.promises[unit.speaker] = candidate

    def actors(self, clause: str, unit: Unit, found: FoundCategory) -> tuple[InvolvedActor, ...]:
        """The one who acts first; then others whom the clause names."""
        main = self._asked(clause, unit) if found.kind == "request" else self._names(found.agent, unit)
        role: ActorRole = "owner" if found.category in (Category.COMMITMENT, Category.STAKEHOLDER) else "contributor"
        if not main and self._voiced(unit, found):
            speaker = self._speaker(unit)
            main, role = ((speaker,), "other") if speaker else ((), role)
        named = dict.fromkeys(main)
        actors = [InvolvedActor(name, role) for name in named]
        actors += [InvolvedActor(name, "contributor") for name in self._others(clause, found) if name not in named]
        return tuple(actors[:_MOST])

    def hear(self, clause: str) -> None:
        """Take note of the people of a clause, whether or not it held an event."""
        mentioned = self._mentioned(clause) or self._subject(clause)
        certain = [name for name in mentioned if self.people.is_known(name)]
        if mentioned:
            self.last_person = (certain or mentioned)[-1]
        self.last_group = last_group(clause) or self.last_group

    def _names(self, agent: Agent, unit: Unit) -> tuple[str, ...]:
        speaker = self._speaker(unit)
        if agent.kind in ("self", "we"):
            return (speaker,) if speaker else ()
        if agent.kind == "you":
            return (self.revision.addressee,) if self.revision.addressee else ()
        if agent.kind in ("pronoun", "they"):
            likely = (self.last_person, self.last_group)
            last = next((name for name in (likely if agent.kind == "pronoun" else likely[::-1]) if name), None)
            return (last,) if last else ()
        return (*agent.names, speaker) if agent.me_too and speaker else agent.names

    def _asked(self, clause: str, unit: Unit) -> tuple[str, ...]:
        match = _VOCATIVE.search(clause)
        if match and match["handle"]:
            return (self.people.full_name(match["handle"]),)
        if match and self.people.is_person(match["name"]):
            return (self.people.full_name(match["name"]),)
        return self._names(Agent("you"), unit)

    def _speaker(self, unit: Unit) -> str | None:
        name = unit.speaker or self.revision.author
        return self.people.full_name(name) if name else None

    def _voiced(self, unit: Unit, found: FoundCategory) -> bool:
        """In talk, who says it stands for it; in a document only where the sentence has no other agent."""
        if found.kind == "request":
            return False
        return unit.speaker is not None or (found.rule.startswith("done_clipped") and self.revision.type == "note")

    def _others(self, clause: str, found: FoundCategory) -> list[str]:
        names = self._mentioned(clause)
        if found.category is Category.COLLABORATION:
            for match in _WITH.finditer(clause):
                names += self._group_after(clause[match.end() :])
        return list(dict.fromkeys(names))

    def _mentioned(self, clause: str) -> list[str]:
        """Known people, and unknown ones where the grammar wants a person: "with Priya"."""
        names = []
        for match in _NAME.finditer(clause):
            beside = _BESIDE_PERSON.search(clause[: match.start()]) and self.people.is_person(match[0])
            if self.people.is_known(match[0]) or beside:
                names.append(self.people.full_name(match[0]))
        return names

    def _subject(self, clause: str) -> list[str]:
        """Whom the clause begins with and says something of: "Tomas is not happy"."""
        match = _SUBJECT.match(clause)
        return [self.people.full_name(match["name"])] if match and self.people.is_person(match["name"]) else []

    def _group_after(self, words: str) -> list[str]:
        """The shortest phrase after "with" that ends in a word for people."""
        ends = [match.end() for match in re.finditer(r"\S+", words)][:4]
        for end in ends:
            agent = agent_in(words[:end].rstrip(".,;:!?"), self.people)
            if agent.kind in ("group", "person", "name", "opener"):
                return list(agent.names)
        return []
