"""The reader of dates: explicit and relative ones in English text resolved against the day it was written."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from mnemon.documents.structure import calendar_words as calendar
from mnemon.documents.structure.calendar_words import MONTHS, NUMBERS, ORDINALS, WEEKDAYS, DateDirection, DateRange


@dataclass(frozen=True)
class Mention:
    """A date in the text: where it stands, the days it covers, and the words right before it."""

    start: int
    end: int
    period: DateRange
    lead: str


DateReader = Callable[[re.Match[str], date, DateDirection], DateRange]

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_FULL_WEEKDAY = "|".join(name for name in WEEKDAYS if name.endswith("day"))
_SHORT_WEEKDAY = "|".join(sorted((name for name in WEEKDAYS if not name.endswith("day")), key=len, reverse=True))
# "sat" and "sun" are other words too: a short name counts after a preposition, or before a comma or a number.
_WEEKDAY = (
    rf"(?P<weekday>(?:{_FULL_WEEKDAY})\b|(?<=\b(?:on|by) )(?:{_SHORT_WEEKDAY})\b\.?|(?<=\b(?:next|this"
    rf"|last) )(?:{_SHORT_WEEKDAY})\b\.?"
    rf"|(?:{_SHORT_WEEKDAY})\b(?=[.,]?\s+\d))"
)
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>(?:business|working)\s+day|day|week|month|quarter|year)s?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_THIS_AGE = r"(?:19|20)\d\d"
_YEAR = rf"(?P<year>{_THIS_AGE})"
_END_OF = (
    r"(?:(?P<edge>the\s+end|end|the\s+start|start|the\s+beginning|beginning|mid"
    r"|the\s+middle)[\s-]+(?:of\s+)?)?"
)
_LEAD = re.compile(
    r"\b(no later than|not later than|at the latest|with effect from|as of|effective|starting|by|before"
    r"|until|till|within"
    r"|due(?:\s+(?:on|by))?|from|since|after|on|in|for|for the|of|at|to|next to)\s+(?:the\s+)?$",
    re.IGNORECASE,
)


def _iso(match: re.Match[str], _today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(date(int(match["year"]), int(match["number"]), int(match["day"])))


def _numeric(match: re.Match[str], _today: date, _direction: DateDirection) -> DateRange:
    """Day first, as most of the world writes, unless only the other order is a date."""
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    year += 2000 if year < 100 else 0
    return calendar.day(date(year, second, first) if second <= 12 else date(year, first, second))


def _day_of_month(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    month, number = MONTHS[match["month"].lower()], int(match["day"])
    if match["year"]:
        return calendar.day(date(int(match["year"]), month, number))
    if number == 29 and month == 2:
        return calendar.day(date(today.year, month, number))
    return calendar.nearest(
        [calendar.day(date(today.year + step, month, number)) for step in (-1, 0, 1)], today, direction
    )


def _month(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    number = MONTHS[match["month"].lower()]
    if match["year"]:
        return _edge(match, calendar.month(int(match["year"]), number))
    months = [calendar.month(today.year + step, number) for step in (-1, 0, 1)]
    return _edge(match, calendar.nearest(months, today, direction))


def _bare_month(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    """ "In June", "since June", "end of June"; "the June figures" say nothing about when."""
    if not match["edge"] and not _lead(match):
        raise ValueError("a month without a preposition is part of a name")
    return _month(match, today, direction)


def _quarter(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    number = ORDINALS[match["ordinal"].lower()] if match["ordinal"] else int(match["number"])
    build = calendar.half if (match["letter"] or "").lower() == "h" else calendar.quarter
    if match["year"]:
        return _edge(match, build(int(match["year"]), number))
    return _edge(match, calendar.nearest([build(today.year + step, number) for step in (-1, 0, 1)], today, direction))


def _weekday(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    number, which = WEEKDAYS[match["weekday"].lower().rstrip(".")], (match["which"] or "").lower()
    if which in ("next", "last"):
        step = 1 if which == "next" else -1
        return calendar.day(calendar.week(today + timedelta(weeks=step)).first + timedelta(days=number))
    if which == "this":
        direction = "future"
    return calendar.day(calendar.weekday_near(number, today, direction))


def _relative_day(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    word = re.sub(r"\s+", " ", match["word"].lower())
    steps = {
        "tomorrow": 1,
        "yesterday": -1,
        "last night": -1,
        "the day after tomorrow": 2,
        "the day before yesterday": -2,
    }
    return calendar.day(today + timedelta(days=steps.get(word, 0)))


def _relative_unit(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    step = {"next": 1, "coming": 1, "following": 1, "last": -1, "past": -1, "previous": -1}
    return _edge(match, calendar.unit_around(match["unit"].lower(), today, step.get((match["which"] or "").lower(), 0)))


def _count_ahead(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(calendar.shifted(today, _unit(match), _count(match)))


def _count_ago(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(calendar.shifted(today, _unit(match), -_count(match)))


def _end_of_short(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    unit = {"d": "day", "w": "week", "m": "month", "q": "quarter", "y": "year"}[(match["letter"] or "d").lower()]
    return calendar.day(_working_end(unit, calendar.unit_around(unit, today, 0)))


def _ordinal_day(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    number = int(match["day"])
    months = [calendar.month(today.year, today.month + step) for step in (-1, 0, 1, 2)]
    days = [month.first.replace(day=number) for month in months if number <= month.last.day]
    return calendar.nearest([calendar.day(each) for each in days], today, direction)


# Tried in this order; a later pattern does not look inside what an earlier one has read.
_PATTERNS: tuple[tuple[str, DateReader], ...] = (
    (r"\b(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?!\d)", _iso),
    (r"\b(?P<first>\d{1,2})[./](?P<second>\d{1,2})[./](?P<year>(?:20)?\d\d)\b", _numeric),
    (rf"\b{_DAY}(?:\.(?=\s+\w{{3,9}}\.?\s+{_THIS_AGE}))?(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR})?\b", _day_of_month),
    (rf"\b{_MONTH}\s+{_DAY}\b(?!:)(?:,?\s+{_YEAR})?", _day_of_month),
    (rf"\b{_END_OF}{_MONTH}\s+(?:of\s+)?{_YEAR}\b", _month),
    (
        rf"\b{_END_OF}(?:the\s+)?(?:(?P<letter>[QH])(?P<number>[1-4])|(?P<ordinal>first|second|third"
        r"|fourth)\s+quarter)"
        rf"(?:(?:\s+of)?[\s/]+{_YEAR})?\b",
        _quarter,
    ),
    (r"\b(?P<word>the day after tomorrow|the day before yesterday|tomorrow|yesterday|last\s+night|tonight"
        r"|today"
     r"|this\s+(?:morning|afternoon|evening))\b", _relative_day),
    (rf"\b(?:(?P<which>next|last|this|coming)\s+)?{_WEEKDAY}", _weekday),
    (rf"\b{_END_OF}(?:the\s+|this\s+)?(?P<which>next|last|this|coming|following|past"
        r"|previous)\s+(?P<unit>week|month|quarter|year)\b",
     _relative_unit),
    (r"\b(?P<edge>the\s+end|end)\s+of\s+(?:(?P<which>the|this)\s+)?(?P<unit>day|week|month|quarter|year)\b",
     _relative_unit),
    (r"\b(?:EO(?P<letter>[DWMQY])|COB)\b", _end_of_short),
    (rf"\b(?:within|in)\s+(?:the\s+next\s+)?{_COUNT}\s+{_UNIT}\b(?!\s+(?:a|per|of\s+the))", _count_ahead),
    (rf"\b{_COUNT}\s+{_UNIT}\s+(?:from\s+(?:now|today)|out)\b", _count_ahead),
    (rf"\b{_COUNT}\s+{_UNIT}\s+(?:ago|back)\b", _count_ago),
    (rf"\b{_END_OF}(?<![\w-])(?P<month>January|February|March|April|May|June|July|August|September|October"
        r"|November|December)"
     r"\b(?P<year>(?!))?", _bare_month),
    (r"\b(?:the|of)\s+(?P<day>\d{1,2})(?:st|nd|rd|th)\b", _ordinal_day),
)  # fmt: skip
_READERS = tuple((re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in _PATTERNS)
# "may" is a month only where it is written as one.
_MODAL_MAY = re.compile(r"\bmay$")
_MAYBE_DATED = re.compile(
    rf"\d|\b(?:{'|'.join(MONTHS)}|{'|'.join(WEEKDAYS)}|day|week|month|quarter|year|today|tonight|tomorrow"
    r"|yesterday|morning"
    r"|afternoon|evening|night|EO[DWMQY]|COB)",
    re.IGNORECASE,
)


# Whatever is resolved against this day has no year of its own.
_LONG_AGO = date(1000, 1, 1)
_TWO_READINGS = re.compile(r"(?:0?\d|1[012])[/.](?:0?\d|1[012])[/.]\d+.*", re.DOTALL)


def read_dates(text: str, today: date, direction: DateDirection = "nearest") -> list[Mention]:
    """Every date that the text mentions, in order. A date without a year is taken in the given direction."""
    if not _MAYBE_DATED.search(text):
        return []
    found: list[Mention] = []
    for mention in _all_mentions(text, today, direction):
        if all(mention.end <= other.start or mention.start >= other.end for other in found):
            found.append(mention)
    return sorted(found, key=lambda mention: mention.start)


def whole_day(text: str) -> date | None:
    """The first day that the text names with its year, in a way that can be read as one day only."""
    for mention in read_dates(text, _LONG_AGO):
        first, last = mention.period.first, mention.period.last
        if first == last and first.year > _LONG_AGO.year + 10 and not _TWO_READINGS.fullmatch(text, mention.start):
            return first
    return None


def midnight(day: date | None) -> datetime | None:
    """The beginning of a day of which no time zone is told."""
    return datetime.combine(day, time(), UTC) if day else None


def _all_mentions(text: str, today: date, direction: DateDirection) -> Iterator[Mention]:
    for pattern, reader in _READERS:
        for match in pattern.finditer(text):
            if _MODAL_MAY.search(match[0]):
                continue
            try:
                period = reader(match, today, direction)
            except (ValueError, OverflowError):
                continue
            yield Mention(match.start(), match.end(), period, _lead(match) or _own_lead(match[0]))


def _lead(match: re.Match[str]) -> str:
    """The preposition before a date, which tells a deadline from a beginning."""
    found = _LEAD.search(match.string[max(0, match.start() - 24) : match.start()])
    return found[1].lower() if found else ""


def _own_lead(words: str) -> str:
    first = words.split(maxsplit=1)[0].lower()
    return first if first in ("within", "in") else ""


def _edge(match: re.Match[str], period: DateRange) -> DateRange:
    """ "End of July" is its last day, "mid-July" its fifteenth."""
    edge = (match.groupdict().get("edge") or "").lower()
    if "end" in edge:
        unit = (match.groupdict().get("unit") or "").lower()
        return calendar.day(_working_end(unit, period))
    if "start" in edge or "beginning" in edge:
        return calendar.day(period.first)
    if "mid" in edge:
        return calendar.day(period.first + (period.last - period.first) / 2)
    return period


def _working_end(unit: str, period: DateRange) -> date:
    """A week ends on its Friday for whoever promises something by its end."""
    return period.first + timedelta(days=4) if unit == "week" else period.last


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower()
    return int(word) if word.isdigit() else NUMBERS[word]


def _unit(match: re.Match[str]) -> str:
    return re.sub(r"(?:business|working)\s+day", "business day", match["unit"].lower())
