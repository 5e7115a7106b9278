"""Finds whoever a few words mention and who could owe something: people, firms, groups, the parties of a contract."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from mnemon.documents.structure.names import CAPITALISED, NAME, PARTICLE
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.parties import party_called
from mnemon.semantics.learned.placed_names import could_be_name
from mnemon.semantics.rules.agents import GROUPS, is_celebration
from mnemon.semantics.rules.people import FIRM_WORDS, NOT_NAMES, People

# Those whom the document's fields name; a name that is only written so; a firm; a group or an office; a party.
MentionKind = Literal["listed", "voice", "named", "titled", "firm", "group", "party", "thing", "noun"]

_CALLED = r"(?:Frau|Fr\.|Herrn?|Hr\.|Mr\.?|Mrs\.?|Ms\.?|Mme\.?|Dr\.|Prof\.)"
_TITLED = re.compile(rf"(?<!\w){_CALLED}\s+(?:(?:Dr\.|Prof\.)\s+)*(?P<last>{NAME})")
_FIRM = re.compile(
    rf"\b(?:Firma|Fa\.)\s+(?P<called>[^\W\d_a-zäöüß][\w-]+(?:\s*(?:&|und)\s*{CAPITALISED})?)"
    r"|(?P<kin>(?:[A-ZÄÖÜ][\w.-]*\s+){1,3}(?:&|und|and)\s+(?:Partner|Söhne|Sons|Töchter|Daughters?|Co\b\.?|Cie\b\.?))"
    rf"|(?P<firm>(?!The\s|Die\s|Der\s|Das\s)(?:[A-ZÄÖÜ][\w&.-]*\s+){{1,3}}(?:&\s+\w+\s+)?(?=[A-Z])(?i:{'|'.join(sorted(FIRM_WORDS))}))\b(?!\s+(?:shall|will|must)\b)"
)
_WRITTEN = re.compile(
    rf"(?<![\w@])(?:(?:[A-Z]\.\s?)+{CAPITALISED}|{CAPITALISED}(?:[ -](?:{PARTICLE} )?{CAPITALISED}){{0,3}}"
    r"(?: [A-HJ-Z]\b\.?)?)"
)
_HANDLE = re.compile(r"(?<!\w)@(?P<name>[\w.-]*\w(?: [^\W\d_a-z]\w+){0,2})")
# "AB", "A.B."; one letter only before what somebody does: "J writes".
_INITIALS = re.compile(
    r"(?<![\w.])(?:(?:[A-Z]\.(?:\s?[A-Z]\.)?|[A-Z]{2,3})(?![\w.])"
    r"|[B-HJ-Z](?= (?:will|shall|to|is to|must|has to|[a-z]{2,}(?<!s)s)\b))"
)
_SPOKEN_TO = re.compile(r"\A\W*(?P<name>[^\W\d_]+)(?=,|\s+(?:can|could|would|will|please|pls|bitte|kannst|könntest)\b)")
_OFFICES = "|".join(sorted(GROUPS, key=len, reverse=True))
_GROUP = re.compile(
    r"\b(?:(?:the|our|your|their|each|both|all|every|an?)\s+(?P<some>(?:[a-z][\w-]*\s+){0,2}?"
    rf"(?:{_OFFICES})(?:\s+(?:{_OFFICES}))?)|(?P<bare>(?:{_OFFICES})(?:\s+(?:{_OFFICES}))?))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_NOUN = re.compile(r"[A-ZÄÖÜ][\wäöüß-]{2,}")
_SMALL_LEAST = 3
_PIECE = re.compile(rf"\S+(?:\s+(?!{PARTICLE}\b)\S+)*")


@dataclass(frozen=True)
class OwnerMention:
    """`[start, end)` of the words that were looked at, and the full name of whoever is meant."""

    start: int
    end: int
    name: str
    kind: MentionKind


def mentions_in(revision: Revision, said: str, german: bool) -> list[OwnerMention]:
    """In the order of the words; where two readings overlap, the first kind of them counts."""
    taken: list[OwnerMention] = []
    for found in _all(revision, said, german):
        if not any(one.start < found.end and found.start < one.end for one in taken):
            taken.append(found)
    return sorted(taken, key=lambda one: one.start)


def kind_of(revision: Revision, name: str) -> MentionKind:
    """Of somebody who is known to the document."""
    listed = (*revision.participants, revision.sender or "", *revision.layout.preamble.people)
    return "listed" if name in _full_names(revision.people, tuple(listed)) else "voice"


def _all(revision: Revision, said: str, german: bool) -> Iterator[OwnerMention]:
    people = revision.people
    for match in _HANDLE.finditer(said):
        yield _somebody(revision, match.start(), match.end(), match["name"])
    for match in _NOUN.finditer(said):
        if not people.is_told(match[0]) and (party := party_called(revision.text, match[0], revision.participants)):
            yield OwnerMention(match.start(), match.end(), party, "party")
    for match in _FIRM.finditer(said):
        yield OwnerMention(match.start(), match.end(), match["called"] or match["kin"] or match["firm"], "firm")
    for match in _TITLED.finditer(said):
        yield _titled(revision, match)
    for match in _WRITTEN.finditer(said):
        yield from _parts(revision, match, german)
    for match in _INITIALS.finditer(said):
        if name := people.by_initials(match[0].replace(".", "").replace(" ", "")):
            yield OwnerMention(match.start(), match.end(), name, kind_of(revision, name))
    # "tom can you"; all names are small where nothing has a capital.
    small = _WORD.finditer(said) if said == said.lower() else filter(None, [_SPOKEN_TO.match(said)])
    for match in small:
        if len(match[0]) >= _SMALL_LEAST and match[0] not in NOT_NAMES and _is_first_name(people, match[0]):
            yield _somebody(revision, match.start(), match.end(), match[0])
    for match in _GROUP.finditer(said) if not german else ():
        if not is_celebration(group := match["some"] or match["bare"]):
            yield OwnerMention(match.start(), match.end(), group, "group")


def _titled(revision: Revision, match: re.Match[str]) -> OwnerMention:
    """ "Fr. Halonen" is Frau Halonen; "Mr Okafor" is Ben Okafor where he is known."""
    name = revision.people.full_name(match["last"])
    if revision.people.is_told(name):
        return OwnerMention(match.start(), match.end(), name, kind_of(revision, name))
    called = re.sub(r"\AFr\.", "Frau", re.sub(r"\A(?:Hr\.|Herrn)", "Herr", " ".join(match[0].split())))
    return OwnerMention(match.start(), match.end(), called, "titled")


def _parts(revision: Revision, match: re.Match[str], german: bool) -> Iterator[OwnerMention]:
    """ "Hallo Katja", "Thanks Ben Okafor": all of it, else the longest end of it that is somebody."""
    people, words = revision.people, list(re.finditer(r"\S+", match[0]))
    for first in range(len(words)):
        for last in range(len(words), first, -1):
            start, end = match.start() + words[first].start(), match.start() + words[last - 1].end()
            name = match.string[start:end]
            if people.is_told(name):
                yield _somebody(revision, start, end, name)
                return
    if could_be_name(revision, match[0], german):
        yield OwnerMention(match.start(), match.end(), people.full_name(match[0]), "named")
        return
    # "Ab 1. April Chiamaka Obi von Jürgen Pohl": of what stands between small words the end that is a name.
    for piece in _PIECE.finditer(match[0]):
        parts = list(re.finditer(r"\S+", piece[0]))
        for first in range(len(parts) - 1):
            start = piece.start() + parts[first].start()
            name = match[0][start : piece.end()]
            if could_be_name(revision, name, german):
                yield OwnerMention(match.start() + start, match.start() + piece.end(), people.full_name(name), "named")
                break


def _somebody(revision: Revision, start: int, end: int, called: str) -> OwnerMention:
    people = revision.people
    name = people.full_name(called)
    return OwnerMention(start, end, name, kind_of(revision, name) if people.is_told(name) else "named")


def _is_first_name(people: People, word: str) -> bool:
    return any(name.lower().split()[0] == word for name in people.told if " " in name or name.islower())


@lru_cache(maxsize=64)
def _full_names(people: People, names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(people.full_name(name) for name in names if name)
