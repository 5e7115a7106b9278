"""Finds who owes what a clause promises, asks for or assigns, in English and German."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mnemon.documents.structure.names import CAPITALISED, NAME, TITLE
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.parties import party_called
from mnemon.semantics.learned.placed_names import could_be_name, names_at_end, names_before_line
from mnemon.semantics.learned.sheets import value_beside
from mnemon.semantics.learned.verb_owners import doer_after_verb, named_beside_me
from mnemon.semantics.rules.actors import Cast
from mnemon.semantics.rules.agents import split_names
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.word_lists import words
from mnemon.semantics.semantic_event import CommitmentKind

_I = re.compile(
    r"\b(?:from me|by me|durch mich|von mir|bei mir|I|I'll|I’ll|I'm|I’m|we|we'll|we’ll|we're|ich|wir|lemme|let me)\b",
    re.IGNORECASE,
)
# "You'll have their comments by Wednesday", "Sie bekommen von uns": who speaks owes it.
_GIVES_YOU = re.compile(
    r"\byou(?:'ll|’ll| will)? (?:have|get|receive|hear)\b|\b(?:Sie|ihr|du) (?:bekomm|erh[aä]lt|krieg|hör)\w*",
    re.IGNORECASE,
)
_YOU = re.compile(r"\b(?:you|you'll|your|du|ihr|dir|dich|Sie|euch|Ihnen)\b")
_PRONOUN = re.compile(r"\W*(?:and |und |dann )?(?:he|she|er|sie)(?:'ll|’ll)?\b", re.IGNORECASE)
_HANDLE = re.compile(r"(?<!\w)@(?P<name>[\w.-]+(?: [^\W\d_a-z]\w+){0,2})")
_INITIALS = re.compile(r"[A-Z]\.|[A-Z]{2}|[A-Z]\.[A-Z]\.")
_NAMED = re.compile(rf"(?<![\w@])(?:{NAME}|(?:[A-Z]\. ?){CAPITALISED}|[A-Z]\.(?= [a-z])|[A-Z]{{2}}(?= to | will |:))")
# Whoever is spoken to stands between commas, or first.
_SPOKEN_TO = re.compile(
    rf"(?:^|[,.!?;:–-]\s+)\W*(?:(?i:hi|hey|and|also|then|so|ok|okay|und|dann|hallo|liebe[r]?),?\s+)*(?P<name>{NAME})\s*(?=,|\s(?:can|could|would|will|please|pls|bitte|kannst|könnte[ns]t?|magst)\b)"
)
_LABEL = re.compile(r"\W*(?P<names>[^:–—]{1,60}?)\s*(?::|\s[–—-])\s+(?=\S)")
_LACKS_SUBJECT = re.compile(r"\W*(?:(?:and|und|then|dann)\s+)?(?:to\s|[a-zäöüß]+t\s+(?:d(?:ie|as|en|er)|ein))")
_TITLE = re.compile(rf"{TITLE}\Z")
# What the clause is about, before its verb: "The House shall", "Pupils must", "Die Amtsleitungen melden".
_ENGLISH_SUBJECT = re.compile(
    r"\W*(?:(?:Upon|On|After|Before|Within|By|In|If|For|During|At|Until|Unless)\b[^,.]{2,60},\s+)?"
    r"(?:(?:[Tt]he|[Ee]ach|[Bb]oth|[Aa]ll|[Ee]very|[Aa]n?)\s+)?(?P<noun>(?:[\w'’&.-]+\s+){0,3}?[\w'’&.-]+)\s+"
    r"(?:shall|will|must|may not|is to|are to|has to|have to|agrees?|undertakes?|needs? to"
    r"|(?:were|was) (?:directed|asked|instructed)"
    r"|undertook|agreed|promised|offered|volunteered|to)\b"
)
# "The vendor delivers", "Finance checks the list".
_DOING_SUBJECT = re.compile(
    r"\W*(?:(?:[Tt]he|[Oo]ur|[Yy]our|[Aa]n?)\s+(?P<noun>(?:[\w'’&-]+\s+){0,2}?[\w'’&-]+)"
    r"|(?P<office>[A-Z][\w&-]+(?:\s[A-Z][\w&-]+)?))\s+[a-z]{2,}(?<!s)s\b"
)
_GERMAN_SUBJECT = re.compile(
    r"\W*(?:\(?\d+[.)]?\s+)?(?:(?:Der|Die|Das|Jede[rs]?|Alle|Beide|Unser[e]?)\s+)?"
    r"(?P<noun>(?:[a-zäöüß-]+\s+)?[A-ZÄÖÜ][\w-]+(?:\s(?:[A-ZÄÖÜ][\w-]+|&|de[rs]))*)\s+(?=[a-zäöüß]+\b)"
)
# "Toner ist zu bestellen", "Drucker dürfen nicht benutzt werden", "Gib mir Bescheid", "den Rest zahlen wir".
_NO_DOER = re.compile(
    r"\b(?:ist|sind)\b.*\b(?:zu \w+en|\w+zu\w+en)\b|\b(?:darf|dürfen|muss|müssen|soll|sollen|wird|werden)\b.*\bwerden\b"
    r"|\A\W*\w+ (?:mir|mich|uns|sich|in|am|im|bis)\b|\A\W*(?:Den|Dem|Einen|Einem|Zum|Zur|Ab)\b"
)
_DUTIES = re.compile(
    r"\b(?:Pflichten|Aufgaben|Leistungen|Duties|Obligations) (?:de[rs]|of(?: the)?) (?P<noun>\w+)", re.IGNORECASE
)
_BESIDE = re.compile(r"(?:[,(:–—|→-]|\b(?:by|von|durch|owner|wer))\s*\Z", re.IGNORECASE)
# A pronoun is nobody's name: who is meant has to be known.
_SAID_OF_SOMEBODY = re.compile(
    r"(?:I|we|you|he|she|they|it|ich|wir|du|ihr|er|sie|es|man)(?:['’]\w+)?(?:\s|\Z)", re.IGNORECASE
)
_OPEN = re.compile(r"\W*(?:offen|open|tbd|tbc|n/?a|none|nobody|keiner|niemand|unklar|\?)?\W*", re.IGNORECASE)
_NOBODY = words(
    "bis um ab an am im nach vor für zum zur mit den dem des dann danach dazu heute morgen nächste nächster nächstes"
    " diese dieser ende anfang mitte upon on by within until unless if when while during at after before since both"
    " neither it this that there which what es das dies man wer was wenn falls bitte please nach bei vor in auf"
)


@dataclass(frozen=True)
class OwnerSearch:
    """A clause, where it stands, and who may be meant in it."""

    revision: Revision
    cast: Cast
    place: int
    clause: str
    kind: CommitmentKind
    german: bool

    @property
    def unit(self) -> Unit:
        return self.revision.layout.units[self.place]


def owners_of(search: OwnerSearch) -> tuple[str, ...]:
    """Those of the row, the sheet or the label; those addressed or named; else who speaks."""
    for find in (
        _in_row, _in_sheet, _addressed, _speaking, _at_end, _after_verb, _labelled, _subject, _mentioned, _defined,
        _fallback,
    ):  # fmt: skip
        if found := [name for name in find(search) if _may_own(name)]:
            return tuple(dict.fromkeys(found))
    return ()


def _may_own(name: str) -> bool:
    return bool(name) and not _OPEN.fullmatch(name) and _SAID_OF_SOMEBODY.match(name) is None


def _at_end(search: OwnerSearch) -> Iterator[str]:
    if search.kind == "assignment":
        for name in names_at_end(search.revision, search.clause, search.german):
            yield _full(search, name)


def _after_verb(search: OwnerSearch) -> Iterator[str]:
    if search.kind != "request" and (doer := doer_after_verb(search.revision, search.clause, search.german)):
        yield doer


def _in_row(search: OwnerSearch) -> Iterator[str]:
    cells = search.unit.cells
    for name in split_names(cells.get("owner") or ""):
        yield _full(search, name)


def _in_sheet(search: OwnerSearch) -> Iterator[str]:
    for name in split_names(value_beside(search.revision.layout.units, search.place, "owner") or ""):
        yield _full(search, name)


def _addressed(search: OwnerSearch) -> Iterator[str]:
    """ "@ada", "Ada, could you", "Punkt zwei, Herr Blohm, schreiben Sie"; "you" is whoever listens."""
    if _GIVES_YOU.search(search.clause):
        return
    if match := _HANDLE.search(search.clause):
        yield _full(search, match["name"])
        return
    if search.kind != "request" and (
        not _YOU.search(search.clause) or _I.search(search.clause) or any(_subject_people(search))
    ):
        return
    before = search.revision.text[search.unit.start : search.unit.end].split(search.clause[:20])[0]
    for said in (search.clause, before[-80:] + " "):
        for match in _SPOKEN_TO.finditer(said):
            if _is_person(search, match["name"]) or could_be_name(search.revision, match["name"], search.german):
                yield _full(search, match["name"])
                return
    if search.kind == "request" and (named := next(_people_in(search, search.clause), None)) and search.german:
        yield named
    elif listener := _listener(search):
        yield listener


def _listener(search: OwnerSearch) -> str | None:
    """The one other who speaks, or who spoke last before; else whom the text is sent to."""
    units, speaker = search.revision.layout.units, search.unit.speaker
    if speaker is None:
        return search.revision.addressee
    for unit in (*reversed(units[: search.place]), *units[search.place :]):
        if unit.speaker and unit.speaker != speaker:
            return _full(search, unit.speaker)
    return search.revision.addressee


def _speaking(search: OwnerSearch) -> Iterator[str]:
    if not _I.search(search.clause) and not _GIVES_YOU.search(search.clause):
        return
    # "Ada and I will", "Ada promised that we": the one who is named first owes it.
    if beside := named_beside_me(search.revision, search.clause, search.german):
        yield beside
        return
    first = next(_people_in(search, search.clause[: _first_person(search.clause)]), None)
    if first and not search.german:
        yield first
    if speaker := _speaker(search):
        yield speaker


def _first_person(clause: str) -> int:
    match = _I.search(clause)
    return match.start() if match else 0


def _speaker(search: OwnerSearch) -> str | None:
    unit = search.unit
    if unit.speaker:
        return _full(search, unit.speaker)
    if unit.label and _is_person(search, unit.label):
        return _full(search, unit.label)
    return _full(search, search.revision.author) if search.revision.author else None


def _labelled(search: OwnerSearch) -> Iterator[str]:
    """ "Ada: order the paint", "Ada, Ben – order the paint"; also in the sentence before, of the same item."""
    match = _LABEL.match(search.unit.text)
    for label in (match["names"] if match else "", search.unit.label):
        names = [name for name in split_names(label) if _is_person(search, name)]
        if names:
            if not (own := list(_subject_people(search))):
                yield from (_full(search, name) for name in names)
            yield from own
            return
    if not search.unit.speaker and not any(_subject_people(search)):
        yield from (
            _full(search, name) for name in names_before_line(search.revision, search.unit.start, search.german)
        )


def _subject(search: OwnerSearch) -> Iterator[str]:
    yield from _subject_people(search)
    last = search.cast.last_person
    if _PRONOUN.match(search.clause) and last and could_be_name(search.revision, last, search.german):
        yield last


def _subject_people(search: OwnerSearch) -> Iterator[str]:
    """People whom the clause begins with, or a German one has right after its verb."""
    said = (search.unit.text if _LACKS_SUBJECT.match(search.clause) else search.clause).lstrip(" -–—•*(\"'")
    if (label := _LABEL.match(said)) and not _is_person(search, label["names"]) and ":" in label[0]:
        said = said[label.end() :]
    match = _NAMED.match(said)
    if match is None or not (_is_person(search, match[0]) or _acts_within(search, said, match)):
        return
    rest = said[match.end() :]
    # "Ada: …" was looked at; "Ada's list" is not Ada's promise.
    if rest.startswith(":") or (rest[:2] in ("'s", "’s") and not rest[2:].startswith(" going")):
        return
    yield _full(search, match[0])


def _acts_within(search: OwnerSearch, said: str, match: re.Match[str]) -> bool:
    """ "… from ops; Ivar gets it today": a capital within a sentence, and a verb after it."""
    within = not search.unit.text.lstrip(" -–—•*").startswith(said[:20])
    verb = re.match(r"\s+(?:will|to|has|is|hat|wird|soll|[a-zäöüß]+(?:s|t))\b", said[match.end() :])
    return within and verb is not None and could_be_name(search.revision, match[0], search.german)


def _mentioned(search: OwnerSearch) -> Iterator[str]:
    """ "Mount for the tunic, Leif, Mon 21 September", "to be measured by B. Lindgren": the last one so named."""
    found = list(_people_in(search, search.clause))
    if found:
        beside = list(_people_beside(search))
        yield beside[-1] if beside else found[0]


def _people_beside(search: OwnerSearch) -> Iterator[str]:
    for match in _NAMED.finditer(search.clause):
        if _BESIDE.search(search.clause[: match.start()]) and _is_person(search, match[0]):
            yield _full(search, match[0])


def _defined(search: OwnerSearch) -> Iterator[str]:
    """Groups, offices and the parties of a contract: "The Circle shall", "Teamleitungen haben"."""
    subject = _GERMAN_SUBJECT if search.german else _ENGLISH_SUBJECT
    if search.german and _NO_DOER.search(search.clause):
        return
    duties = _DUTIES.search(search.unit.heading)
    own = None if _LACKS_SUBJECT.match(search.clause) else subject.match(search.clause)
    for match in (own, subject.match(search.unit.text), duties):
        if match and match["noun"].split()[0].lower() not in _NOBODY:
            yield party_called(search.revision.text, match["noun"]) or match["noun"]
            return
    if not search.german and (match := _DOING_SUBJECT.match(search.clause)):
        noun = match["noun"] or match["office"]
        yield party_called(search.revision.text, noun) or noun


def _fallback(search: OwnerSearch) -> Iterator[str]:
    """In talk a promise without a subject is the speaker's; in a list it is of whom the item is about."""
    if search.kind == "request":
        return
    if search.unit.speaker:
        yield _full(search, search.unit.speaker)
    else:
        yield from _people_in(search, search.unit.text)


def _people_in(search: OwnerSearch, said: str) -> Iterator[str]:
    for match in _NAMED.finditer(said):
        if not _TITLE.match(match[0]) and _is_person(search, match[0]):
            yield _full(search, match[0])


def _is_person(search: OwnerSearch, name: str) -> bool:
    """Every German noun has a capital: there only who is known otherwise counts, or is called by a title."""
    people = search.revision.people
    if _TITLE.match(name.split()[0]) and len(name.split()) > 1:
        return True
    if _INITIALS.fullmatch(name):
        return people.by_initials(name.replace(".", "")) is not None
    return people.is_told(name) or (not search.german and people.is_known(name) and people.is_person(name))


def _full(search: OwnerSearch, name: str) -> str:
    if _INITIALS.fullmatch(name):
        return search.revision.people.by_initials(name.replace(".", "")) or search.revision.people.full_name(name)
    return search.revision.people.full_name(name)
