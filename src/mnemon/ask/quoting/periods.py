"""The time that a question names: a day, a month, last week, since May; without a year, the last that has been, or the
next where what is to come is asked for."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from mnemon.ask.frames import Frames
from mnemon.documents.structure.calendar_words import MONTHS, DateDirection
from mnemon.documents.structure.dates import Mention, read_dates

_I = re.IGNORECASE
_OPEN_END = ("since", "from", "after", "seit", "ab", "nach")
_OPEN_START = ("until", "till", "by", "bis", "no later than", "not later than")
_BEFORE = ("before", "vor")
_LEAD = re.compile(
    r"(?:^|\W)(since|from|after|seit|ab|nach|until|till|before|by|bis|vor)\s+(?:the\s+|dem\s+|der\s+)?$", _I
)
_BETWEEN, _AND = re.compile(r"\b(?:between|zwischen)\W+(?:dem\s+|the\s+)?$", _I), re.compile(r"\W+(?:and|und)\W+", _I)
_MONTH_NAMED = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b", _I)
# They count from today, whatever the year.
_RELATIVE = re.compile(
    r"\b(?:last|next|this|ago|today|yesterday|letzte\w*|nächste\w*|diese\w*|heute|gestern)\b|^\D*$"
    r"|\d\s+(?:days?|weeks?|months?|tagen?|wochen?|monaten?)\b", _I,
)  # fmt: skip
# All days until then, not that day.
_AHEAD = re.compile(
    r"\b(?:within|binnen|innerhalb|next|nächsten|kommenden)\b.*\b(?:days|weeks|months|tagen?|wochen|monaten?)\b", _I
)


@dataclass(frozen=True)
class AskedPeriod:
    """From the first to the last day, one of which may be open; `words` of the question name it."""

    first: date | None
    last: date | None
    words: str
    # Only the month or day was said: any year may be meant.
    any_year: bool = False

    @property
    def is_dated(self) -> bool:
        """A day or month of the calendar, with both ends; not "Fridays" or "this year"."""
        return bool(self.first and self.last) and bool(re.search(r"\d", self.words) or _MONTH_NAMED.search(self.words))

    def told(self, frames: Frames) -> str:
        """As it was asked where any year may be meant, else from day to day."""
        return self.words if self.any_year else frames.span(self.first, self.last)

    def moments(self) -> tuple[datetime | None, datetime | None]:
        """Its first and last moment, of a time zone that nobody told."""
        first = datetime.combine(self.first, time.min, UTC) if self.first else None
        return first, datetime.combine(self.last, time.max, UTC) if self.last else None

    def holds(self, day: date) -> bool:
        if self.any_year and self.first and self.last:
            return (self.first.month, self.first.day) <= (day.month, day.day) <= (self.last.month, self.last.day)
        return (self.first is None or day >= self.first) and (self.last is None or day <= self.last)


def names_time_of(text: str, period: AskedPeriod, written: date) -> bool:
    """Whether a text that was written on this day names a day or span that meets the period."""
    if period.words.lower() in text.lower():
        return True
    found = [one.period for one in read_dates(text, written)]
    return any(period.holds(day) for one in found for day in (one.first, one.last))


def period_of(question: str, today: date, direction: DateDirection = "past") -> AskedPeriod | None:
    """The first time that the question names; None where it names none."""
    found = [one for one in read_dates(question, today, direction) if not _is_clock(question, one)]
    if not found:
        return None
    mention = _between(question, found)
    first, last = mention.period.first, mention.period.last
    words = question[mention.start : mention.end]
    said_year = re.search(r"\d{4}", words) is not None
    any_year = not said_year and (bool(_MONTH_NAMED.search(words)) or not _RELATIVE.search(words))
    if direction == "past" and any_year and first > today:
        first, last = _a_year_before(first), _a_year_before(last)
    if first > today and _AHEAD.search(words):
        return AskedPeriod(today, last, words)
    lead = _LEAD.search(question[: mention.start])
    said = (mention.lead.removeprefix("due ") or (lead[1] if lead else "")).lower()
    if said in _OPEN_END:
        return AskedPeriod(first, None, f"{said} {words}")
    if said in (*_OPEN_START, *_BEFORE):
        return AskedPeriod(None, first - timedelta(days=1) if said in _BEFORE else last, f"{said} {words}")
    return AskedPeriod(first, last, words, any_year=any_year)


def _between(question: str, found: list[Mention]) -> Mention:
    """The first time; "between 3 May and 10 May" is one that reaches from the one to the other."""
    first = found[0]
    if len(found) < 2 or not _BETWEEN.search(question[: first.start]):
        return first
    second = found[1]
    if not _AND.fullmatch(question, first.end, second.start) or second.period.last < first.period.first:
        return first
    period = type(first.period)(first.period.first, second.period.last)
    return Mention(first.start, second.end, period, "")


def _is_clock(question: str, mention: Mention) -> bool:
    return re.fullmatch(r"\d{1,2}[:.]\d\d", question[mention.start : mention.end]) is not None


def _a_year_before(day: date) -> date:
    try:
        return day.replace(year=day.year - 1)
    except ValueError:
        return day.replace(year=day.year - 1, day=28)
