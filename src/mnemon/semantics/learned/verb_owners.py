"""Whoever the verb names as doing it where that is not the first word: passives, and German clauses turned round."""

import re

from mnemon.documents.structure.names import NAME
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.parties import party_called
from mnemon.semantics.learned.placed_names import could_be_name

_TITLED = r"(?:(?:Frau|Herrn?|Mr\.?|Mrs\.?|Ms\.?|Dr\.?|Prof\.?)\s+)?"
# "To be supplied by the Charterer", "wird von Frau Adeyemi organisiert", "obliegt der Mieterin".
_PASSIVE = (
    re.compile(
        rf"\b(?:be|is|are|been|gets?)\s+(?:\w+ly\s+)?\w+(?:ed|en|t|ne|de|wn)\b[^.;]{{0,40}}?\bby\s+"
        rf"(?:(?:the|our|each)\s+(?P<term>[\w&-]+)|(?P<name>{_TITLED}(?:[A-Z]\.\s?)?{NAME}))"
    ),
    re.compile(
        rf"\b(?:(?:wird|werden)\b.{{0,60}}?\b(?:von|durch)|obliegt|liegt bei|übernimmt|übernehmen|ist Sache)\s+"
        rf"(?:(?:de[rms]|den|die|das)\s+(?P<term>[A-ZÄÖÜ][\w-]+)|(?P<name>{_TITLED}{NAME}))"
    ),
)
# "Bis Freitag reicht Linnea die Zahlen nach", "um den Schlüssel kümmert sich Tomás".
_TURNED = re.compile(
    r"^\W*(?:Bis|Um|Am|Ab|Im|In|Nach|Vor|Für|Zum|Zur|Bei|Beim|Mit|Den|Die|Das|Dem|Nächste\w*|Diese\w*|Heute|Morgen|Danach"
    r"|Dann|Dazu|Außerdem|Inzwischen|Ende|Anfang|Mitte)\b.{0,80}?\b(?:[a-zäöüß]+t|wird|soll|muss|will|kann)\s+(?:sich\s+)?"
    rf"(?P<name>{_TITLED}{NAME})"
)
# "Mateo and I": a name beside whoever speaks.
_BESIDE_ME = re.compile(rf"\W*(?P<name>{NAME})\s+(?:and|&|und)\s+(?:I|ich|me)\b")


def doer_after_verb(revision: Revision, clause: str, german: bool) -> str | None:
    """A person or a party of the contract; what only looks like one is nobody."""
    match = _PASSIVE[german].search(clause)
    if match and match["term"]:
        party = party_called(revision.text, match["term"])
        return party or (match["term"] if german or match["term"][0].isupper() else None)
    if match is None and german:
        match = _TURNED.match(clause)
    if match and _named(revision, match["name"], german):
        return revision.people.full_name(match["name"])
    return None


def named_beside_me(revision: Revision, clause: str, german: bool) -> str | None:
    match = _BESIDE_ME.match(clause)
    return revision.people.full_name(match["name"]) if match and _named(revision, match["name"], german) else None


def _named(revision: Revision, name: str, german: bool) -> bool:
    return re.match(_TITLED + r"\S", name) is not None and (
        name.split()[0].rstrip(".") in ("Frau", "Herr", "Herrn", "Mr", "Mrs", "Ms", "Dr", "Prof")
        or could_be_name(revision, name, german)
    )
