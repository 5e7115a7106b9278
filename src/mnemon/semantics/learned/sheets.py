"""Label-value sheets: whose task it is and until when stand on lines of their own beside it."""

import re
from collections.abc import Sequence
from typing import Literal

from mnemon.documents.structure.sections import Section
from mnemon.semantics.rules.layout import Unit

SheetValue = Literal["owner", "due"]
_LABELS: dict[SheetValue, re.Pattern[str]] = {
    "owner": re.compile(
        r"\W*(?:owner|who|responsible|assignee|assigned to|lead|wer|verantwortlich(?:e[rn]?)?|zuständig(?:e[rn]?)?"
        r"|bearbeiter(?:in)?)\s*:\s*(?P<value>[^\n,;(]+)",
        re.IGNORECASE,
    ),
    "due": re.compile(
        r"\W*(?:due(?: date)?|deadline|by(?: when)?|when|until|bis(?: wann)?|frist|fällig(?: am)?|termin|wann)\s*:\s*"
        r"(?P<value>[^\n]+)",
        re.IGNORECASE,
    ),
}
_TASK = re.compile(r"\W*(?:action|task|to-?do|what|aufgabe|maßnahme|was|auftrag)\s*(?:\d+\s*)?:", re.IGNORECASE)
_LABELLED = re.compile(r"\W*[\w ]{2,24}:")
_PART_BORDER = re.compile(r"\n|(?<=[.;])\s+")
_ACTIONS = Section.ACTIONS
_REACH = 3


def value_beside(units: Sequence[Unit], place: int, kind: SheetValue) -> str | None:
    """In the unit itself, below it, or above it up to where another task begins."""
    pattern = _LABELS[kind]
    if own := _inside(units[place].text, pattern):
        return own
    for unit in units[place + 1 : place + 1 + _REACH]:
        if _TASK.match(unit.text) or not _LABELLED.match(unit.text):
            break
        if match := pattern.match(unit.text):
            return match["value"]
    return _above(units, place, pattern) if _comes_first(units, pattern) else None


def _inside(text: str, pattern: re.Pattern[str]) -> str | None:
    """At the head of the unit, of a line of it, or behind the task: "Rotate the keys. Owner: Ifeoma"."""
    found = (match for part in _PART_BORDER.split(text) if (match := pattern.match(part)))
    return next((match["value"] for match in found), None)


def _above(units: Sequence[Unit], place: int, pattern: re.Pattern[str]) -> str | None:
    for unit in reversed(units[max(0, place - _REACH) : place]):
        if match := pattern.match(unit.text):
            return match["value"]
        if _TASK.match(unit.text) or not _LABELLED.match(unit.text):
            return None
    return None


def _comes_first(units: Sequence[Unit], pattern: re.Pattern[str]) -> bool:
    """Sheets that name whose it is before what it is: nothing of the kind stands right below the first task."""
    first = next((at for at, unit in enumerate(units) if _TASK.match(unit.text) or unit.section is _ACTIONS), None)
    return first is not None and any(pattern.match(unit.text) for unit in units[max(0, first - _REACH) : first])
