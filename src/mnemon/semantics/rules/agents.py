"""Finds who acts in a clause: "I", "we", a name, two names joined by "and", "the board"."""

import re
from dataclasses import dataclass
from typing import Literal

from mnemon.documents.structure.names import NAME
from mnemon.semantics.rules.people import FIRM_WORDS, People
from mnemon.semantics.rules.word_lists import words

AgentKind = Literal["self", "we", "you", "pronoun", "they", "person", "name", "opener", "group", "thing"]

# Words for people who act together or by their role. Add one here where the rules miss an actor.
GROUPS = words(
    """accountant accounting agencies agency architect architects auditor auditors authority bank board borrower
    buyer carrier caretaker chair chairman clerk client clients colleague colleagues committee company
    contractor contractors coordinator council councillor councillors crew customer customers department
    departments designer designers developer developers director directors divers driver drivers editor
    electrician employee employees employer engineer engineering engineers facilitator firm group groups head
    headquarters hospital inspector landlord lawyer lawyers lead leadership leads lender lessee lessor licensee
    licensor management manager master masters managers marketing member members ministry neighbors neighbours
    nurse nurses office officer operations operator operators ops owner owners panel participants parties
    partner partners party pilots principal provider regulator representative reseller resellers resident
    residents reviewer reviewers sales secretary seller seniors shareholders sponsor squad staff stakeholders
    steering student students subcontractor supervisor supplier suppliers support surveyor teacher teachers team
    teams technician tenant tenants tester testers treasurer trustees union user users vendor vendors volunteers
    workers"""
)
_GROUP = rf"(?:{'|'.join(sorted(set(GROUPS), key=len, reverse=True))})"
_DETERMINER = (
    r"(?:the|our|my|your|his|her|their|its|each|every|both|all|an?|some|many|most|several|two|three|four"
    r"|few)"
)
_WORD = re.compile(r"\w+")
_GROUP_PHRASE = re.compile(
    rf"\b(?P<head>(?:(?:{_DETERMINER}|Reviewer)\s+(?:(?!(?:is|are|that|who|of"
    rf"|to)\b)[A-Za-z][\w-]*\s+){{0,2}}?)?{_GROUP})(?P<tail>\s+(?:of|in|from"
    r"|at)\s+(?:the\s+)?[A-Z\d]?[\w-]+(?:\s+[A-Z\d]\w*)?)?$",
    re.IGNORECASE,
)
# Departments act under their bare name: "Finance to approve", "Engineering and design synced".
_DEPARTMENT = (
    r"(?:Engineering|Design|Finance|Legal|Marketing|Sales|Security|Operations|Ops|QA|HR|IT|Support"
    r"|Procurement|Accounting|Management|Leadership|Product)"
)
_DEPARTMENTS = re.compile(
    rf"(?:^|[.:;,]\s+|\b(?:and|by|with)\s+)(?P<names>{_DEPARTMENT}(?:\s+(?:and|&)\s+(?i:{_DEPARTMENT}))?)$"
)
_DEFINED_TERM = re.compile(r"\b[Tt]he\s+(?P<term>[A-Z][a-z]+(?:\s+[A-Z][a-z]+)?)$")
_NAMES = re.compile(rf"(?P<names>@?{NAME}(?:(?:,\s*(?:and\s+|&\s*)?|\s+and\s+|\s*&\s*|\s*/\s*)(?:{NAME}|I\b|me\b))*)$")
_FIRM = re.compile(rf"(?P<firm>(?:[A-Z][\w&.-]*\s+){{1,3}}(?i:{'|'.join(sorted(FIRM_WORDS))}))\.?$")
_PRONOUN = re.compile(r"\b(?P<pronoun>I|we|you|he|she|they|it|this|that|which|who|there)$", re.IGNORECASE)
# No phrase for a person is longer; the patterns look for the end of the words and must not start far away.
_REACH = 90
_FILLER = re.compile(
    r"[\s,]*\b(?:also|both|then|now|just|already|still|so|again|therefore|hereby|currently|certainly"
    r"|gladly|definitely|finally|all|each|really|only"
    r"|recently|have|has|had)$|'(?:ve|s|d|ll)$|\s*\([^()]{2,40}\)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Agent:
    kind: AgentKind
    names: tuple[str, ...] = ()
    me_too: bool = False


NOBODY = Agent("thing")


def agent_before(clause: str, position: int, people: People) -> Agent:
    """Who the words right before a verb name."""
    words = clause[:position].rstrip()
    while match := _FILLER.search(words):
        words = words[: match.start()].rstrip(" ,")
    return agent_in(words, people)


def agent_in(words: str, people: People) -> Agent:
    """Who a phrase names at its end."""
    words = words[-_REACH:]
    if match := _FIRM.search(words):
        return Agent("group", (match["firm"],))
    if match := _NAMES.search(words):
        found = _named(match["names"], people)
        if found:
            return found
    if match := _PRONOUN.search(words):
        return _pronoun(match["pronoun"].lower())
    if match := _DEFINED_TERM.search(words):
        return Agent("person", (match["term"],))
    if match := _DEPARTMENTS.search(words):
        return Agent("group", tuple(split_names(match["names"])))
    if (match := _GROUP_PHRASE.search(words)) and not is_celebration(match["head"]):
        return Agent("group", (_group_name(match),))
    last = words.split()[-1] if words.split() else ""
    if last and people.is_known(last):
        return Agent("person", (people.full_name(last),))
    return NOBODY


def last_group(clause: str) -> str | None:
    """The last words for people who act together, wherever they stand."""
    ends = [match.end() for match in _WORD.finditer(clause) if match[0].lower() in GROUPS]
    agent = agent_in(clause[: ends[-1]], People(())) if ends else NOBODY
    return agent.names[0] if agent.kind == "group" else None


def split_names(text: str) -> list[str]:
    return [
        part.strip(" @")
        for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*|\s*/\s*|\s*\+\s*", text)
        if part.strip(" @")
    ]


def _named(text: str, people: People) -> Agent | None:
    parts = split_names(text)
    names = [people.full_name(part) for part in parts if part not in ("I", "me") and people.is_person(part)]
    if names:
        known = any(people.is_known(part) for part in parts) or " " in names[0]
        kind: AgentKind = "person" if known else "opener" if all(map(people.only_opens, parts)) else "name"
        return Agent(kind, tuple(dict.fromkeys(names)), me_too="I" in parts or "me" in parts)
    return None


def _pronoun(word: str) -> Agent:
    if word == "i":
        return Agent("self")
    if word == "we":
        return Agent("we")
    if word == "you":
        return Agent("you")
    if word == "they":
        return Agent("they")
    return Agent("pronoun") if word in ("he", "she") else NOBODY


# Of a contract; a summer party is nobody.
_PARTY = re.compile(r"\bpart(?:y|ies)$", re.IGNORECASE)
_OF_CONTRACT = re.compile(
    rf"(?:(?:{_DETERMINER}|first|second|third|other|either|neither|same|defaulting|disclosing|receiving|affected|injured"
    r"|contracting|interested|opposing|green|labour|labor|democratic|steering|working)\s+)*part(?:y|ies)",
    re.IGNORECASE,
)


def is_celebration(group: str) -> bool:
    """ "The summer party", "the Christmas party": not "the other party"."""
    return _PARTY.search(group) is not None and _OF_CONTRACT.fullmatch(group) is None


def _group_name(match: re.Match[str]) -> str:
    words = match["head"].split()
    if len(words) > 1 and re.fullmatch(_DETERMINER, words[0], re.IGNORECASE):
        words = words[1:]
    return " ".join(words) + (match["tail"] or "")
