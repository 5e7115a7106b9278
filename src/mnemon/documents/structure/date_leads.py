"""The words right before a date, which tell a deadline from a beginning; German ones by their English meaning."""

import re
from collections.abc import Callable
from datetime import date

from mnemon.documents.structure.calendar_words import DateDirection, DateRange

DateReader = Callable[[re.Match[str], date, DateDirection], DateRange]

_ENGLISH = (
    r"no later than|not later than|at the latest|with effect from|as of|effective|starting|by|before|until|till|within"
    r"|due(?:\s+(?:on|by))?|from|since|after|on|in|for|for the|of|at|to|next to"
)
_GERMAN = {
    "bis": "by", "spätestens": "by", "vor": "before", "binnen": "within", "innerhalb": "within", "ab": "from",
    "seit": "since", "nach": "after", "vom": "of", "von": "of", "am": "on", "im": "in", "zum": "on", "um": "at",
    "für": "for", "fällig": "due", "frist": "due", "termin": "due", "noch": "by", "auf": "to",
}  # fmt: skip
_LEAD = re.compile(
    rf"\b(?:(?P<english>{_ENGLISH})\s+(?:the\s+|about\s+|around\s+)?"
    rf"|(?P<german>{'|'.join(_GERMAN)})[\s:]+(?:(?:zu[mr]|am|bis|noch|den|dem|der|die|das|von|einschließlich|incl\.)\s+)*)$",
    re.IGNORECASE,
)
_REACH = 30


def lead_before(match: re.Match[str]) -> str:
    found = _LEAD.search(match.string[max(0, match.start() - _REACH) : match.start()])
    if found is None:
        return ""
    if found["german"]:
        return _GERMAN[found["german"].lower()]
    return re.sub(r"\s+", " ", found["english"].lower())
