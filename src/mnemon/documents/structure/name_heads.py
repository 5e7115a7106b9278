"""Lines that are a name above somebody's items, as the notes of a stand-up have them."""

import re
from collections.abc import Sequence

from mnemon.documents.structure.lines import Line, item_mark
from mnemon.documents.structure.names import CAPITALISED
from mnemon.documents.structure.sections import section_of

_NAME = re.compile(rf"(?P<name>{CAPITALISED}(?: {CAPITALISED}){{0,2}}):?")
_WORD = re.compile(r"[^\W\d_]+")
# What such notes call themselves, and what somebody says there of their own work.
_ROUND = re.compile(r"\b(?:stand-?ups?|daily|scrum|check-?in|round|runde|updates?)\b", re.IGNORECASE)
_OWN_WORK = re.compile(
    r"\s*\S\s+(?:will|i|i'll|ich|to-?do|blocked|blocker|blockiert|hängt an)\b(?!\s+be\b)", re.IGNORECASE
)
_FEWEST = 2


def name_heads(lines: Sequence[Line], people: Sequence[str]) -> dict[int, str]:
    """By the start of their line. Topics look the same: that they are people must be known, or be told by what such
    notes are, or by what the items say."""
    found = {line.start: name for at, line in enumerate(lines) if (name := _name_above(lines, at))}
    if len(set(found.values())) < _FEWEST:
        return {}
    small = {word for line in lines for word in _WORD.findall(line.text) if word.islower()}
    found = {start: name for start, name in found.items() if name.split()[0].lower() not in small}
    known = {part for name in people for part in (name, name.split()[0])}
    if sum(name in known for name in found.values()) * 2 >= len(found) >= _FEWEST:
        return found
    title = next((line.text for line in lines if not line.blank), "")
    own = sum(_OWN_WORK.match(line.text) is not None for line in lines)
    return found if len(found) >= _FEWEST and (_ROUND.search(title) or own >= _FEWEST) else {}


def _name_above(lines: Sequence[Line], at: int) -> str | None:
    line = lines[at]
    if line.indent or at + 1 == len(lines) or not item_mark(lines[at + 1].text) or item_mark(line.text):
        return None
    match = _NAME.fullmatch(line.text.strip())
    return match["name"] if match and section_of(match["name"]) is None else None
