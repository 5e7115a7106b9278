"""The days that two events name, to see whether they speak of the same one."""

import re
from functools import lru_cache

from mnemon.documents.structure.calendar_words import MONTHS
from mnemon.semantics.link.placed import Placed

_MONTH_NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<month>{_MONTH_NAMES})\b"
    rf"|\b(?P<first_month>{_MONTH_NAMES})\.?\s+(?P<second_day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
    r"|\b(?P<plain_day>\d{1,2})\.(?P<number>0?[1-9]|1[0-2])\.(?!\d\d?\b(?!\d))",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def days_named(text: str) -> frozenset[tuple[int, int]]:
    """Days of a month, however they are written: "9 November", "Nov 9th", "9.11."."""
    found = set()
    for match in _DAY.finditer(text):
        month = match["month"] or match["first_month"]
        number = MONTHS.get(month.lower().rstrip(".")) if month else int(match["number"])
        if number:
            found.add((int(match["day"] or match["second_day"] or match["plain_day"]), number))
    return frozenset(found)


def due_day(placed: Placed) -> frozenset[tuple[int, int]]:
    due = placed.event.due
    return frozenset({(due.day, due.month)}) if due else frozenset()
