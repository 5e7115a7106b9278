"""Groups, offices and parties that a clause is about: "The Circle shall", "Teamleitungen haben", "by the Buyer"."""

import re
from collections.abc import Iterator

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.gloss import english
from mnemon.semantics.learned.offices import office_holder
from mnemon.semantics.learned.owner_mentions import MentionKind, OwnerMention, kind_of
from mnemon.semantics.learned.parties import party_called
from mnemon.semantics.rules.agents import GROUPS
from mnemon.semantics.rules.people import is_quality
from mnemon.semantics.rules.word_lists import words

# What the clause is about, before its verb: "The House shall", "Pupils must", "Die Amtsleitungen melden".
_ENGLISH = re.compile(
    r"\W*(?:(?:Upon|On|After|Before|Within|By|In|If|For|During|At|Until|Unless|When|Once)\b[^,.]{2,60},\s+)?"
    r"(?:(?:[Tt]he|[Ee]ach|[Bb]oth|[Aa]ll|[Ee]very|[Aa]n?|[Oo]ur|[Yy]our|[Tt]heir)\s+)?(?P<noun>(?:[\w'’&.-]+\s+){0,3}?[\w'’&.-]+)\s+"
    r"(?:shall|will|must|may not|is to|are to|has to|have to|agrees?|undertakes?|needs? to"
    r"|(?:were|was) (?:directed|asked|instructed)"
    r"|undertook|agreed|promised|offered|volunteered|to)\b"
)
# "The vendor delivers", "Finance checks the list".
_ENGLISH_DOING = re.compile(
    r"\W*(?:(?:[Tt]he|[Oo]ur|[Yy]our|[Tt]heir|[Aa]n?)\s+(?P<noun>(?:[\w'’&-]+\s+){0,2}?[\w'’&-]+)"
    r"|(?P<office>[A-Z][\w&-]+(?:\s[A-Z][\w&-]+)?))\s+[a-z]{2,}(?<!s)s\b"
)
_GERMAN = re.compile(
    r"\W*(?:\(?\d+[.)]?\s+)?(?:(?:Der|Die|Das|Jede[rs]?|Alle|Beide|Unser[e]?|Ihre?)\s+)?"
    r"(?P<noun>(?:[a-zäöüß-]+\s+)?[A-ZÄÖÜ][\w-]+(?:\s(?:[A-ZÄÖÜ][\w-]+|&|de[rs]))*)\s+(?=[a-zäöüß]+\b)"
)
_GERMAN_AFTER_VERB = re.compile(
    r"\b(?:[a-zäöüß]{2,}t|wird|soll|muss|kann|hat|haben)\s+(?:sich\s+)?(?:der|die|das|unsere?|Ihre?)\s+"
    r"(?P<noun>[A-ZÄÖÜ][\w-]+)"
)
_BY = (
    re.compile(r"\bby\s+(?:the|our|each)\s+(?P<noun>[\w&-]+)"),
    re.compile(r"\b(?:von|durch|obliegt|liegt bei|Sache)\s+(?:de[rms]|den|die|das)\s+(?P<noun>[A-ZÄÖÜ][\w-]+)"),
)
_DUTIES = re.compile(
    r"\b(?:Pflichten|Aufgaben|Leistungen|Duties|Obligations) (?:de[rs]|of(?: the)?) (?P<noun>\w+)", re.IGNORECASE
)
_NOBODY = words(
    "bis um ab an am im nach vor für zum zur mit den dem des dann danach dazu heute morgen nächste nächster nächstes"
    " diese dieser ende anfang mitte upon on by within until unless if when while during at after before since both"
    " neither it this that there which what es das dies man wer was wenn falls bitte please nach bei vor in auf i we"
    " you he she they ich wir du ihr er sie sobald once that ein eine einen einem einer den dem kein keine keinen"
)

_JOINED = re.compile(r"\s(?:and|und)\s")
# Right behind a command: "Schick du", "Bring mir", "Kleb sie".
_TO_WHOM = words("du mir uns dir euch ihm ihr sie es bitte mal doch noch ihnen ihn den dem der das die")


def subject_groups(revision: Revision, clause: str, german: bool) -> Iterator[tuple[OwnerMention, str]]:
    """Each with the place where it stands in the clause, and the sign of how it was found."""
    patterns = (
        (("subject", _GERMAN), ("turned", _GERMAN_AFTER_VERB)) if german
        else (("subject", _ENGLISH), ("doing", _ENGLISH_DOING))
    )  # fmt: skip
    for sign, pattern in (*patterns, ("by", _BY[german])):
        match = pattern.match(clause) if sign in ("subject", "doing") else pattern.search(clause)
        if match and (found := _called(revision, match)):
            yield found, f"group_{sign}"


def duties_of(revision: Revision, heading: str) -> str | None:
    """Whose duties the heading announces."""
    match = _DUTIES.search(heading)
    return party_called(revision.text, match["noun"], revision.participants) or match["noun"] if match else None


def _called(revision: Revision, match: re.Match[str]) -> OwnerMention | None:
    place = "noun" if match["noun"] else "office"
    noun = match[place]
    if noun.split()[0].lower() in _NOBODY or revision.people.is_told(noun) or not noun[-1].isalpha():
        return None
    # "Chinonso and Siobhán" are two.
    if _JOINED.search(noun) or (match.re is _GERMAN and _commands(match)):
        return None
    # "Reservieren kann man": written small elsewhere, it is a verb.
    if match.re is _GERMAN and noun.lower() in revision.people.common_words:
        return None
    # "Ready to ship", "Planned to print": the insured shall, but what has no article is no noun.
    if is_quality(noun) and not re.search(r"\w", match.string[match.start() : match.start(place)]):
        return None
    if holder := office_holder(revision.text, noun, tuple(revision.people.told)):
        return OwnerMention(*match.span(place), holder, kind_of(revision, holder))
    party = party_called(revision.text, noun, revision.participants)
    name = party or revision.people.full_name(noun)
    return OwnerMention(*match.span(place), name, "party" if party else _kind_of_noun(noun))


def _commands(match: re.Match[str]) -> bool:
    """ "Bestell du bitte", "Kleb sie": a verb that begins the sentence, and no noun."""
    behind = match.string[match.end("noun") :].split(maxsplit=1)
    return match.start("noun") == len(match.string) - len(match.string.lstrip(" \"'(-–*•")) and (
        behind[:1] != [] and behind[0].strip(",.") in _TO_WHOM
    )


def _kind_of_noun(noun: str) -> MentionKind:
    """A word for people who act, or for a thing, where the language says so; else it may be either."""
    last = noun.split()[-1]
    meaning = (english(last) or "").split()
    if last.lower() in GROUPS or any(word in GROUPS for word in meaning):
        return "group"
    return "thing" if meaning else "noun"
