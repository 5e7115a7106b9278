"""What speaks for each one who may owe what a clause promises, asks for or assigns: who it is and where it stands."""

import re
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.gloss import is_word
from mnemon.semantics.learned.message_heads import NamedLines, named_lines
from mnemon.semantics.learned.offices import office_holder
from mnemon.semantics.learned.owner_mentions import OwnerMention, kind_of, mentions_in
from mnemon.semantics.learned.owner_subjects import duties_of, subject_groups
from mnemon.semantics.learned.owner_words import after_sign, before_sign, form_of, is_denied
from mnemon.semantics.learned.placed_names import could_be_name, names_before_line
from mnemon.semantics.rules.actors import Cast
from mnemon.semantics.rules.agents import split_names
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.mood import plain
from mnemon.semantics.semantic_event import CommitmentKind

_UNITS_BEFORE = 3
_ONLY_BEFORE = ("named", "back", "nearest_before", "heading")
_SPOKEN_TO = frozenset(f"{before}:{after}" for before in ("first", "greeted", "sentence") for after in ("comma", "can"))
_OPEN = re.compile(
    r"\W*(?:(?:noch )?offen|open|tb[dca]|n/?a|none|nobody|unassigned|not assigned|keiner|niemand|unklar|\?)?\W*",
    re.IGNORECASE,
)
# The address of a list or an office: whoever writes there asks all of them.
_SHARED_ADDRESS = re.compile(
    r"<?(?:(?:[\w.+]*[-_.])?(?:dev|devel|users?|lists?|discuss(?:ion)?|announce|all|everyone|everybody|team|staff|members"
    r"|board|committee|commits|group|office|info|contact|hello|support|sales|admin|alle|verteiler|verein|vorstand|buero|büro|kontakt"
    r"|post|mitglieder|kollegium)|[\w.+-]+(?=@(?:lists?|groups?|listen?)\.))@[\w.-]+>?",
    re.IGNORECASE,
)
# "By the end of the fifth", "the 30th".
_COUNTS = re.compile(
    r"\d\S*|end|start|middle|rest|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\w+(?:ieth|teenth)",
    re.IGNORECASE,
)
_SAID_OF_SOMEBODY = re.compile(
    r"(?:I|me|we|you|he|she|they|it|ich|wir|du|ihr|er|sie|es|man"
    r"|all|alle|everyone|everybody|jeder|both|beide)(?:['’]\w+)?\Z",
    re.IGNORECASE,
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
    start: int

    @property
    def unit(self) -> Unit:
        return self.revision.layout.units[self.place]


def owner_signs(search: OwnerSearch) -> dict[str, frozenset[str]]:
    """Everybody who may be meant, each with what speaks for it, in the order they were met."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, sign in _signs(search):
        if may_own(name):
            found[name].add(sign)
    if search.german:
        found = {name: signs for name, signs in found.items() if not _is_noun_before(name, signs)}
    form = "row" if search.unit.form == "row" else form_of(search.clause, search.kind)
    return {name: frozenset(_crossed(form, signs | _standing(search, name))) for name, signs in found.items()}


def _is_noun_before(name: str, signs: Set[str]) -> bool:
    """Every German noun has a capital: of those before the sentence, one that nobody calls by a title is no person."""
    return " " not in name and "named" in signs and all(sign.startswith(_ONLY_BEFORE) for sign in signs)


def may_own(name: str) -> bool:
    """A pronoun is nobody's name, and neither is "open", "the fifth", or the address of a list."""
    if not name.strip() or any(one.fullmatch(name) for one in (_OPEN, _SHARED_ADDRESS, _COUNTS)):
        return False
    return _SAID_OF_SOMEBODY.match(name.split()[-1]) is None


def is_open(told: str | None) -> bool:
    """ "tbd" in the column of owners: nobody yet."""
    return told is not None and any(map(str.isalnum, told)) and _OPEN.fullmatch(told) is not None


def _crossed(form: str, signs: set[str]) -> Iterator[str]:
    for sign in signs:
        yield sign
        yield f"{form}&{sign}"


def _standing(search: OwnerSearch, name: str) -> set[str]:
    revision, signs = search.revision, set[str]()
    if revision.people.is_told(name):
        signs.add(kind_of(revision, name))
        return signs
    if revision.people.only_opens(name):
        signs.add("only_opens")
    if is_word(name.split()[0]):
        signs.add("word")
    return signs


def _signs(search: OwnerSearch) -> Iterator[tuple[str, str]]:
    yield from _by_place(search)
    yield from _in_words(search)
    yield from _by_voice(search)
    yield from _before(search)


def _by_place(search: OwnerSearch) -> Iterator[tuple[str, str]]:
    revision, unit, people = search.revision, search.unit, search.revision.people
    for name in split_names(unit.label):
        if people.is_told(name) or could_be_name(revision, name, search.german):
            yield people.full_name(name), "label"
        elif holder := office_holder(revision.text, name, tuple(people.told)) or _by_letters(revision, name):
            yield holder, "label"
    for name in names_before_line(revision, unit.start, search.german):
        yield people.full_name(name), "line"
    for one in mentions_in(revision, plain(unit.heading), search.german):
        yield one.name, "heading"
    if party := duties_of(revision, unit.heading):
        yield party, "duties"


def _by_letters(revision: Revision, label: str) -> str | None:
    """ "R: defect ticket" in somebody's notes."""
    letters = label.replace(".", "").replace(" ", "")
    return revision.people.by_initials(letters) if letters.isupper() and len(letters) <= 3 else None


def _in_words(search: OwnerSearch) -> Iterator[tuple[str, str]]:
    said = plain(search.unit.text)
    begin = max(0, search.start - search.unit.start)
    end = begin + len(search.clause)
    own = [one for one in mentions_in(search.revision, said, search.german) if not is_denied(said[: one.start])]
    inside = [one for one in own if begin <= one.start < end]
    for one, sign in subject_groups(search.revision, search.clause, search.german):
        yield one.name, one.kind
        yield one.name, sign
        yield from _around(one, search.clause, one.start, one.end)
    for count, one in enumerate(inside):
        yield one.name, one.kind
        yield one.name, "in"
        yield one.name, "nth0" if count == 0 else "nth1"
        if count == len(inside) - 1:
            yield one.name, "last"
        yield from _around(one, said[begin:end], one.start - begin, one.end - begin)
    for one in own:
        if one.start < begin or one.start >= end:
            yield one.name, one.kind
            side = "left" if one.start < begin else "right"
            yield one.name, side
            yield from ((name, f"{side}:{sign}") for name, sign in _around(one, said, one.start, one.end))


def _around(one: OwnerMention, said: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    before, after = before_sign(said[:start]), after_sign(said, end)
    yield one.name, f"before:{before}"
    yield one.name, f"after:{after}"
    yield one.name, f"{before}:{after}"


def _by_voice(search: OwnerSearch) -> Iterator[tuple[str, str]]:
    """Who speaks or writes here, who listens, who signs."""
    revision, unit = search.revision, search.unit
    full = revision.people.full_name
    lines = named_lines(revision.text, revision.people, revision.author)
    voices = list(_voices(search, lines))
    for place, (name, sign) in enumerate(voices):
        yield name, sign
        yield name, "self" if name == voices[0][0] else f"voice{min(place, 2)}"
    if signed := lines.signed_below(search.start):
        yield signed, "signs"
    if revision.addressee:
        yield revision.addressee, "addressee"
    if listener := _spoke_before(search, unit.speaker or lines.head_above(search.start)):
        yield listener, "spoke_before"
    if before := lines.head_before(search.start):
        yield before, "head_before"
    later = (one.speaker for one in revision.layout.units[search.place + 1 : search.place + 6])
    if answers := next((name for name in later if name and name != unit.speaker), None):
        yield full(answers), "speaks_next"
    for name in revision.layout.preamble.greeted:
        yield full(name), "greeted"
    for name in lines.hailed_above(search.start):
        yield name, "hailed"
    listed = {full(name) for name in revision.participants}
    if len(listed) == 2 and voices and voices[0][0] in listed:
        yield (listed - {voices[0][0]}).pop(), "other_of_two"


def _voices(search: OwnerSearch, lines: NamedLines) -> Iterator[tuple[str, str]]:
    """Those whose words these may be, the likeliest first."""
    revision, unit = search.revision, search.unit
    full = revision.people.full_name
    speaker = full(unit.speaker) if unit.speaker else None
    sure = speaker is not None and kind_of(revision, speaker) == "listed"
    if speaker and sure:
        yield speaker, "speaks"
    for name in (*split_names(unit.label), *names_before_line(revision, unit.start, search.german)):
        if revision.people.is_told(name) and kind_of(revision, full(name)) == "listed":
            yield full(name), "labelled"
    if head := lines.head_above(search.start):
        yield head, "head"
    if speaker and not sure:
        yield speaker, "speaks_unlisted"
    if revision.author:
        yield full(revision.author), "author"


def _spoke_before(search: OwnerSearch, speaker: str | None) -> str | None:
    for unit in reversed(search.revision.layout.units[max(0, search.place - 12) : search.place]):
        if unit.speaker and unit.speaker != speaker:
            return search.revision.people.full_name(unit.speaker)
    return None


def _before(search: OwnerSearch) -> Iterator[tuple[str, str]]:
    """Those of whom the sentences just before speak; the nearest ones first."""
    units, nearest = search.revision.layout.units, True
    for back in range(1, _UNITS_BEFORE + 1):
        if search.place - back < 0:
            return
        unit = units[search.place - back]
        found = mentions_in(search.revision, plain(unit.text), search.german)
        for count, one in enumerate(found):
            yield one.name, one.kind
            yield one.name, f"back{back}"
            yield one.name, f"back{back}:{'first' if count == 0 else 'other'}"
            if any(sign in _SPOKEN_TO for _, sign in _around(one, unit.text, one.start, one.end)):
                yield one.name, "spoken_to_before"
            if count == len(found) - 1 and nearest:
                yield one.name, "nearest_before"
        nearest = nearest and not found
