"""Days that a commitment calls by a name, where the text tells elsewhere which day that is: "for the next meeting"."""

import re
from datetime import date

from mnemon.documents.structure.calendar_words import MONTHS, NUMBERS, shifted
from mnemon.documents.structure.dates import read_dates
from mnemon.documents.structure.german_dates import GERMAN_NUMBERS
from mnemon.semantics.extract.revision import Revision

_MEETING = r"(?:meeting|sitting|session|assembly|sitzung|treffen|besprechung|versammlung|zusammenkunft)"
_MONTH = "|".join(sorted((name for name in MONTHS if len(name) > 2), key=len, reverse=True))
_THAT_MEETING = re.compile(
    rf"\b(?:next|following|nächste[nrs]?|kommende[nrs]?|(?P<month>{_MONTH}))[\s-]+(?:\w+\s+)?{_MEETING}\b",
    re.IGNORECASE,
)
# What the text says of it, on its line or the one below.
_ANNOUNCED = re.compile(
    rf"\b(?:(?:next|nächste[rs]?)\s+(?:\w+\s+)?{_MEETING}|(?:meets?|met|convenes?|trifft\s+sich|tagt)\b[^.\n]{{0,40}}?"
    r"\b(?:again|next|wieder|erneut))\b[^\n]*(?:\n+[^\n]{1,80})?",
    re.IGNORECASE,
)
_COUNTS = NUMBERS | GERMAN_NUMBERS
_UNITS = {"da": "day", "ta": "day", "we": "week", "wo": "week", "mo": "month"}
# Only with an article: "before shearing" and "before each lecture" tell no day.
_BEFORE_EVENT = re.compile(
    rf"\b(?:(?P<count>\d{{1,2}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})\s+"
    r"(?P<unit>days?|weeks?|months?|tage?|wochen?|monate?)\s+)?"
    r"(?:(?:before|ahead\s+of|in\s+time\s+for|same\s+day\s+as)\s+(?:the|our)"
    r"|vor\s+(?:dem|der|den|unsere[mrn]?)|vor[mn]|(?:bis|spätestens)\s+zu[mr]|am\s+(?:gleichen|selben)\s+tag\s+wie\s+d\w\w)"
    r"\s+(?:(?:first|next|last|final|new|ersten?|nächsten?|letzten?|neuen?)\s+)?(?P<name>[\w-]{4,})",
    re.IGNORECASE,
)
_REACH = 60


def day_of_meeting(revision: Revision, clause: str, today: date) -> date | None:
    meant = _THAT_MEETING.search(clause)
    if meant is None:
        return None
    month = MONTHS[meant["month"].lower()] if meant["month"] else None
    for told in _ANNOUNCED.finditer(revision.text):
        for mention in read_dates(told[0], today, "future"):
            day = mention.period.first
            if day == mention.period.last and day > today and month in (None, day.month):
                return day
    return None


def day_of_event(revision: Revision, clause: str, place: int, today: date) -> date | None:
    """ "Two weeks before the closure", where another sentence says "closure from 4 May"."""
    asked = _BEFORE_EVENT.search(clause)
    if asked is None:
        return None
    day = _day_of(revision, asked["name"], place, today)
    if day is None or asked["count"] is None:
        return day
    count = asked["count"].lower()
    return shifted(day, _UNITS[asked["unit"][:2].lower()], -(int(count) if count.isdigit() else _COUNTS[count]))


def _day_of(revision: Revision, name: str, place: int, today: date) -> date | None:
    """The day to come that stands nearest to that word, in the sentence that has both and lies nearest."""
    units = revision.layout.units
    word = re.compile(re.escape(name), re.IGNORECASE)
    for at in sorted(range(len(units)), key=lambda one: abs(one - place)):
        if at == place or units[at].form == "row" or not (found := word.search(units[at].text)):
            continue
        mentions = [
            each
            for each in read_dates(units[at].text, today, "future")
            if each.period.first >= today
            and not each.is_hour
            and min(abs(each.start - found.end()), abs(found.start() - each.end)) <= _REACH
        ]
        if mentions:
            return min(mentions, key=lambda one: abs(one.start - found.end())).period.first
    return None
