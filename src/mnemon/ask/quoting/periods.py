"""The time that a question names: a day, a month, last week, since May; without a year, the last that has been."""

import re
from dataclasses import dataclass
from datetime import date

from mnemon.documents.structure.dates import Mention, read_dates

_OPEN_END = ("since", "from", "after", "seit", "ab", "nach")
_OPEN_START = ("until", "till", "before", "by", "bis", "vor")
_LEAD = re.compile(
    r"(?:^|\W)(since|from|after|seit|ab|nach|until|till|before|by|bis|vor)\s+(?:the\s+|dem\s+|der\s+)?$", re.IGNORECASE
)


@dataclass(frozen=True)
class AskedPeriod:
    """From the first to the last day, one of which may be open; `words` of the question name it."""

    first: date | None
    last: date | None
    words: str
    # Only the month or day was said: any year may be meant.
    any_year: bool = False

    def holds(self, day: date) -> bool:
        if self.any_year and self.first and self.last:
            return (self.first.month, self.first.day) <= (day.month, day.day) <= (self.last.month, self.last.day)
        return (self.first is None or day >= self.first) and (self.last is None or day <= self.last)


def period_of(question: str, today: date) -> AskedPeriod | None:
    """The first time that the question names; None where it names none."""
    found = [one for one in read_dates(question, today, "past") if not _is_clock(question, one)]
    if not found:
        return None
    mention = found[0]
    first, last = mention.period.first, mention.period.last
    words = question[mention.start : mention.end]
    said_year = re.search(r"\d{4}", words) is not None
    relative = re.search(
        r"\b(?:last|next|this|ago|today|yesterday|letzte\w*|nächste\w*|diese\w*|heute|gestern)\b", words, re.IGNORECASE
    )
    if not said_year and not relative and first > today:
        first, last = _a_year_before(first), _a_year_before(last)
    lead = _LEAD.search(question[: mention.start])
    said = (mention.lead or (lead[1] if lead else "")).lower()
    if said in _OPEN_END:
        return AskedPeriod(first, None, f"{said} {words}")
    if said in _OPEN_START:
        return AskedPeriod(None, last, f"{said} {words}")
    return AskedPeriod(first, last, words, any_year=not said_year and not relative)


def _is_clock(question: str, mention: Mention) -> bool:
    return re.fullmatch(r"\d{1,2}[:.]\d\d", question[mention.start : mention.end]) is not None


def _a_year_before(day: date) -> date:
    try:
        return day.replace(year=day.year - 1)
    except ValueError:
        return day.replace(year=day.year - 1, day=28)
