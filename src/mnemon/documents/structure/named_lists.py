"""Names that stand alone above a list, as in notes of a stand-up: whoever is named says its items, or does them."""

import re
from collections.abc import Callable, Sequence

from mnemon.documents.structure.lines import BULLET, Line
from mnemon.documents.structure.names import NAME
from mnemon.documents.structure.sections import section_of

_ALONE = re.compile(rf"[ \t*_#]*(?P<name>@?{NAME}|@[a-z][\w.-]+)(?:[ \t]*\([^()]{{1,30}}\))?[*_]*:?[*_]*[ \t]*$")
# "Stand-up, Monday": what tells at the head of a text that people speak in turn.
_IN_TURN = re.compile(
    r"\b(?:stand-?ups?|daily|dailies|scrum|check-?ins?|round(?: table)?|who (?:does|did) what|\w*runde"
    r"|wer macht was)\b",
    re.IGNORECASE,
)
# How people tell of their own work, without saying "I".
_OF_OWN = re.compile(
    r"(?:I|I['’](?:m|ll|ve)|will|won['’]?t|can['’]?t|cannot|did|done|finished|working on|works? on|blocked|to-?do|today"
    r"|yesterday|tomorrow|still|waiting|sent|asked|called|fixed|wrote|met|on leave|off|away|ich|heute|gestern|morgen"
    r"|mache?|habe|bin|kann|muss|noch|warte|blockiert|erledigt|fertig|urlaub|krank|geschickt|angerufen)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST = 2
_HEAD_LINES = 3


def named_lists(
    lines: Sequence[Line], people: Sequence[str] = (), is_label: Callable[[str], bool] = lambda name: False
) -> dict[int, str]:
    """By the start of the line that a name fills. Topics stand above lists too: only names of people who are known, or
    several where the text tells that people speak in turn, or their items do."""
    known = {part.lower() for name in people for part in (name, *name.split())}
    found = [(at, name) for at in range(len(lines)) if (name := _name_above(lines, at)) and not is_label(name)]
    if len({name for _, name in found}) < _FEWEST:
        return {}
    if all(_is_known(name, known) for _, name in found):
        return {lines[at].start: name.lstrip("@") for at, name in found}
    small = {word for line in lines for word in _WORD.findall(line.text) if word.islower()}
    found = [(at, name) for at, name in found if name[0] == "@" or not set(_WORD.findall(name.lower())) & small]
    several = len({name for _, name in found}) >= _FEWEST
    return {lines[at].start: name.lstrip("@") for at, name in found} if several and _speak_in_turn(lines, found) else {}


def _name_above(lines: Sequence[Line], at: int) -> str | None:
    match = _ALONE.match(lines[at].text)
    below = next((line for line in lines[at + 1 : at + 3] if not line.blank), None)
    if match is None or below is None or not BULLET.match(below.text) or section_of(match["name"]) is not None:
        return None
    return match["name"]


def _is_known(name: str, known: set[str]) -> bool:
    return all(word.lower() in known for word in name.lstrip("@").split())


def _speak_in_turn(lines: Sequence[Line], found: Sequence[tuple[int, str]]) -> bool:
    head = [line.text for line in lines if not line.blank][:_HEAD_LINES]
    return any(map(_IN_TURN.search, head)) or sum(_tells_own(lines, at) for at, _ in found) * 2 >= len(found)


def _tells_own(lines: Sequence[Line], at: int) -> bool:
    """Whether an item of the list right below begins as people tell of their own work."""
    for line in lines[at + 1 :]:
        mark = BULLET.match(line.text)
        if mark and _OF_OWN.match(line.text, mark.end()):
            return True
        if not mark and not line.blank and not line.text[:1].isspace():
            return False
    return False
