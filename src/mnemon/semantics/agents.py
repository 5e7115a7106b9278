"""Finds who acts in a clause: "I", "we", a name, two names joined by "and", "the board"."""

import re
from dataclasses import dataclass
from typing import Literal

from mnemon.semantics.people import NAME, People

AgentKind = Literal["self", "we", "you", "pronoun", "person", "group", "thing"]

# Words for people who act together or by their role. Add one here where the rules miss an actor.
GROUPS = (
    "accounting agency agencies architect architects auditor auditors authority bank board carrier chair chairman client clients colleague colleagues"
    " committee company contractor contractors coordinator council crew customer customers department departments designer designers"
    " developer developers director directors divers driver drivers editor electrician employee employees engineer engineering engineers facilitator"
    " finance firm group groups head headquarters hospital inspector landlord lawyer lawyers lead leads leadership legal licensee licensor management"
    " manager managers marketing member members ministry neighbours neighbors nurse nurses office officer operations operator operators ops owner owners"
    " panel participants parties partner partners party people pilot principal product provider regulator representative reseller resellers"
    " resident residents reviewer reviewers sales secretary seller seniors shareholders sponsor squad staff stakeholders steering student"
    " students subcontractor supervisor supplier suppliers support surveyor teacher teachers team teams technician tenant tenants tester testers"
    " treasurer trustees union user users vendor vendors volunteers workers working council buyer lessee lessor borrower lender employer licensee"
).split()
_GROUP = rf"(?:{'|'.join(sorted(set(GROUPS), key=len, reverse=True))})"
_DETERMINER = r"(?:the|our|my|your|his|her|their|its|each|every|both|all|an?|some|many|most|several|two|three|four|few)"
_GROUP_PHRASE = re.compile(
    rf"\b(?:{_DETERMINER}\s+)?(?P<head>(?:[A-Za-z][\w-]*\s+){{0,2}}?{_GROUP})(?P<tail>\s+(?:of|in|from|at)\s+(?:the\s+)?[A-Z\d]?[\w-]+(?:\s+[A-Z\d]\w*)?)?$",
    re.IGNORECASE,
)
_DEFINED_TERM = re.compile(r"\b[Tt]he\s+(?P<term>[A-Z][a-z]+(?:\s+[A-Z][a-z]+)?)$")
_NAMES = re.compile(rf"(?P<names>@?{NAME}(?:(?:,\s*(?:and\s+|&\s*)?|\s+and\s+|\s*&\s*|\s*/\s*)(?:{NAME}|I\b|me\b))*)$")
_PRONOUN = re.compile(r"\b(?P<pronoun>I|me|we|us|you|he|she|they|it|this|that|which|who|there)$", re.IGNORECASE)
_FILLER = re.compile(
    r"[\s,]*\b(?:also|both|then|now|just|already|still|so|again|therefore|hereby|currently|certainly|gladly|definitely|finally|all|each|really|only"
    r"|have|has|had|is|are|am|was|were|been|will|shall|'ve|'s|'re|'m|'d)$|['’](?:ve|s|re|m|d|ll)$",
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
    if match := _NAMES.search(words):
        found = _named(match["names"], people)
        if found:
            return found
    if match := _PRONOUN.search(words):
        return _pronoun(match["pronoun"].lower())
    if match := _DEFINED_TERM.search(words):
        return Agent("group", (match["term"],))
    if match := _GROUP_PHRASE.search(words):
        return Agent("group", (_group_name(match),))
    last = words.split()[-1] if words.split() else ""
    if last and people.is_known(last):
        return Agent("person", (people.full_name(last),))
    return NOBODY


def split_names(text: str) -> list[str]:
    return [part.strip(" @") for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*|\s*/\s*|\s*\+\s*", text) if part.strip(" @")]


def _named(text: str, people: People) -> Agent | None:
    parts = split_names(text)
    names = [people.full_name(part) for part in parts if part not in ("I", "me") and people.is_person(part)]
    if names:
        return Agent("person", tuple(dict.fromkeys(names)), me_too="I" in parts or "me" in parts)
    return None


def _pronoun(word: str) -> Agent:
    if word in ("i", "me"):
        return Agent("self")
    if word in ("we", "us"):
        return Agent("we")
    if word == "you":
        return Agent("you")
    return Agent("pronoun") if word in ("he", "she", "they", "who") else NOBODY


def _group_name(match: re.Match[str]) -> str:
    words = match["head"].split()
    while len(words) > 1 and words[0].lower() in ("that", "and", "but", "of", "for", "with", "by", "to", "so", "as", "then", "from", "is", "new"):
        words = words[1:]
    return " ".join(words) + (match["tail"] or "")
