"""How English writes dates, explicit and relative ones: patterns, each with its reading."""

import re
from datetime import date, timedelta

from mnemon.documents.structure import calendar_words as calendar
from mnemon.documents.structure.calendar_words import MONTHS, NUMBERS, ORDINALS, WEEKDAYS, DateDirection, DateRange
from mnemon.documents.structure.date_leads import DateReader, lead_before

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_FULL_WEEKDAY = "|".join(name for name in WEEKDAYS if name.endswith("day"))
_SHORT_WEEKDAY = "|".join(sorted((name for name in WEEKDAYS if not name.endswith("day")), key=len, reverse=True))
# "sat" and "sun" are other words too: a short name counts after a preposition, or before a comma or a number.
_SHORT = rf"(?:{_SHORT_WEEKDAY})\b\.?"
_WEEKDAY = (
    rf"(?P<weekday>(?:{_FULL_WEEKDAY})\b|(?<=\b(?:on|by|to) ){_SHORT}|(?<=\b(?:due|eod|cob|for) ){_SHORT}"
    rf"|(?<=\b(?:next|this|last|till) ){_SHORT}"
    rf"|(?:{_SHORT_WEEKDAY})\b(?=\s+(?:at\s+the\s+)?latest\b)"
    rf"|(?:(?<=, )|(?<=\()){_SHORT}(?=\W*\Z)"
    rf"|(?<=\buntil ){_SHORT}|(?<=\bbefore ){_SHORT}|(?:{_SHORT_WEEKDAY})\b(?=[.,]?\s+\d))"
)
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>(?:business|working)\s+day|day|week|wk|fortnight|month|quarter|year)s?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_THIS_AGE = r"(?:19|20)\d\d"
_YEAR = rf"(?P<year>{_THIS_AGE})"
_DAY_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
_FEAST = "|".join(
    re.escape(name).replace(r"\ ", r"\s+").replace("'", "['’]")
    for name in sorted((*calendar.FIXED_FEASTS, *calendar.EASTER_FEASTS), key=len, reverse=True)
)
# "Tue 9/18", "Ada, 9/18", "(9/18)".
_BEFORE_SHORT = re.compile(
    rf"(?:[,(]|\b(?:deadline|due|date|until|[ap]m|\d[ap]m)\W?|\b(?:{_FULL_WEEKDAY}|{_SHORT_WEEKDAY})\.?,?)\s*\Z",
    re.IGNORECASE,
)
# "9/18  flour is in" in a log.
_AFTER_SHORT = re.compile(r"\s{2,}|\s*[-–—:]|\s*$")
_END_OF = (
    r"(?:(?P<edge>the\s+end|end|the\s+start|start|the\s+beginning|beginning|mid"
    r"|the\s+middle)[\s-]+(?:of\s+)?)?"
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
    return calendar.day_of_year(month, number, today, direction)


def _month(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    number = MONTHS[match["month"].lower()]
    if match["year"]:
        return _edge(match, calendar.month(int(match["year"]), number))
    months = [calendar.month(today.year + step, number) for step in (-1, 0, 1)]
    return _edge(match, calendar.nearest(months, today, direction))


def _bare_month(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    """ "In June", "since June", "end of June"; "the June figures" say nothing about when."""
    if not match["edge"] and not lead_before(match):
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
        "tmrw": 1,
        "tmr": 1,
        "tmrow": 1,
        "tmw": 1,
        "yesterday": -1,
        "yday": -1,
        "yest": -1,
        "last night": -1,
        "the day after tomorrow": 2,
        "the day before yesterday": -2,
    }
    return calendar.day(today + timedelta(days=steps.get(word, 0)))


def _relative_unit(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    step = {"next": 1, "coming": 1, "following": 1, "last": -1, "past": -1, "previous": -1}
    return _edge(match, calendar.unit_around(_long(match["unit"]), today, step.get((match["which"] or "").lower(), 0)))


def _long(unit: str) -> str:
    return "week" if unit.lower() == "wk" else unit.lower()


def _weekend(_match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    """The Saturday and Sunday of this week."""
    last = calendar.week(today).last
    return DateRange(last - timedelta(days=1), last)


def _hours_ahead(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(today + timedelta(days=-(-int(match["count"]) // 24)))


def _feast(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(calendar.feast(re.sub(r"\s+", " ", match["feast"].lower().replace("’", "'")), today))


def _weekday_of_week(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    """ "Wednesday of next week", "next week Wednesday"."""
    number, weeks = WEEKDAYS[match["weekday"].lower().rstrip(".")], 0 if match["which"].lower() == "this" else 1
    return calendar.day(calendar.weekday_of_week(number, today, weeks))


def _weekday_and_week(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    """ "Sunday week": a week after the next Sunday."""
    coming = calendar.weekday_near(WEEKDAYS[match["weekday"].lower().rstrip(".")], today, "future")
    return calendar.day(coming + timedelta(weeks=1))


def _week_after_next(_match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.unit_around("week", today, 2)


def _week_with(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    """ "The week of 5 October"."""
    return calendar.week(_day_of_month(match, today, direction).first)


def _unit_is_out(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    unit = match["unit"].lower()
    return calendar.day(calendar.unit_around(unit, today, 0).last)


def _day_after(_match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(today + timedelta(days=1))


def _count_ahead(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    if match["unit"].lower() == "fortnight":
        return calendar.day(calendar.shifted(today, "week", 2 * _count(match)))
    return calendar.day(calendar.shifted(today, _unit(match), _count(match)))


def _count_ago(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(calendar.shifted(today, _unit(match).replace("fortnight", "week"), -_count(match)))


def _end_of_short(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    unit = {"d": "day", "w": "week", "m": "month", "q": "quarter", "y": "year"}[(match["letter"] or "d").lower()]
    return calendar.day(calendar.working_end(unit, calendar.unit_around(unit, today, 0)))


def _ordinal_day(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    word = match["day"].lower()
    return calendar.day_of_any_month(int(word) if word.isdigit() else _DAY_WORDS.index(word) + 1, today, direction)


def _without_year(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    """ "9/18", "by 3/4": the order that gives a date; of two, the one that lies nearer in the direction told."""
    opens = not match.string[: match.start()].strip() and _AFTER_SHORT.match(match.string, match.end())
    if not opens and not lead_before(match) and not _BEFORE_SHORT.search(match.string, 0, match.start()):
        raise ValueError("a fraction, or one of so many")
    first, second = int(match["first"]), int(match["second"])
    orders = [(month, day) for month, day in ((second, first), (first, second)) if month <= 12 and day <= 31]
    found = [calendar.day_of_year(month, day, today, direction) for month, day in orders]
    return calendar.nearest(found, today, direction)


def _week(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    return calendar.week_of_year(int(match["number"]), today, direction)


# Tried in this order; a later pattern does not look inside what an earlier one has read.
ENGLISH: tuple[tuple[str, DateReader], ...] = (
    (r"\b(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?!\d)", _iso),
    (r"\b(?P<first>\d{1,2})[./](?P<second>\d{1,2})[./](?P<year>(?:20)?\d\d)\b", _numeric),
    (r"(?<![\d/.,-])(?!24/7\b)(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\d/.,]*\d)(?!\s*(?:GB|TB|%|hours|h)\b)",
     _without_year),
    (rf"\bweek\s+(?:of|beginning|commencing|starting)\s+(?:monday,?\s+)?(?:the\s+)?{_DAY}(?:\s+of)?\s+{_MONTH}"
     rf"(?:,?\s+{_YEAR})?\b", _week_with),
    (rf"\b{_DAY}(?:\.(?=\s+\w{{3,9}}\.?\s+{_THIS_AGE}))?(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR})?\b", _day_of_month),
    (rf"\b{_MONTH}\s+{_DAY}\b(?!:|\s*(?:€|%|Euro|EUR|Uhr|Stück|Leute|people|of\b))(?:,?\s+{_YEAR})?", _day_of_month),
    (rf"\b{_END_OF}{_MONTH}\s+(?:of\s+)?{_YEAR}\b", _month),
    (
        rf"\b{_END_OF}(?:the\s+)?(?:(?P<letter>[QH])(?P<number>[1-4])|(?P<ordinal>first|second|third"
        r"|fourth)\s+quarter)"
        rf"(?:(?:\s+of)?[\s/]+{_YEAR})?\b",
        _quarter,
    ),
    (r"\b(?P<word>the day after tomorrow|the day before yesterday|tomorrow|tmrw|tmrow|tmr|tmw|yesterday|yday|yest"
        r"|last\s+night|tonight"
        r"|today"
     r"|this\s+(?:morning|afternoon|evening))\b", _relative_day),
    (rf"\b(?:by|before|until|till|bis|vor)\s+(?:zu\s+)?(?P<feast>{_FEAST})\b", _feast),
    # "Mon 21st"
    (rf"\b(?:{_FULL_WEEKDAY}|{_SHORT_WEEKDAY})\b\.?,?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)\b", _ordinal_day),
    (rf"\b{_WEEKDAY},?\s+(?:of\s+|in\s+)?(?:the\s+)?(?P<which>next|this|coming|following)\s+week\b",
     _weekday_of_week),
    (rf"\b(?P<which>next|this)\s+week,?\s+(?:on\s+)?{_WEEKDAY}", _weekday_of_week),
    (rf"\b{_WEEKDAY}\s+week\b(?!\s*\d)", _weekday_and_week),
    (rf"\b(?:(?P<which>next|last|this|coming)\s+)?{_WEEKDAY}", _weekday),
    (r"\b(?:the\s+)?week\s+after\s+next\b", _week_after_next),
    (r"\bthe\s+(?:following|next)\s+(?:morning|day|afternoon|evening)\b", _day_after),
    (r"\b(?:before\s+)?the\s+(?P<unit>week|month|quarter|year)(?:\s+is|['’]s)\s+(?:out|over|up)\b", _unit_is_out),
    (rf"\b{_END_OF}(?:the\s+|this\s+)?(?P<which>next|last|this|coming|following|past"
        r"|previous)\s+(?P<unit>week|wk|month|quarter|year)\b",
     _relative_unit),
    (r"\b(?P<edge>the\s+end|end|the\s+middle|middle|mid)\s+of\s+(?:(?P<which>the|this)\s+)?(?P<unit>day|week|month|quarter|year)\b",
     _relative_unit),
    (r"\b(?:EO(?P<letter>[DWMQY])|COB)\b", _end_of_short),
    (r"\b(?P<which>(?!))?(?P<unit>month|quarter|year)[\s-](?P<edge>end)\b", _relative_unit),
    (r"\b(?:the|this|over\s+the)\s+weekend\b", _weekend),
    (r"\b(?:within|in)\s+(?:the\s+next\s+)?(?P<count>24|36|48|72|96)\s+hours\b", _hours_ahead),
    # "Within 20 days of receipt" is counted from another day than this one.
    (rf"\b(?:within|in)\s+(?:the\s+next\s+)?{_COUNT}\s+{_UNIT}\b(?!\s+(?:a|per|before)\b|\s+(?:of|after)\s+"
     r"(?!today\b|(?:the|this)\s+(?:meeting|session|sitting|call)\b))", _count_ahead),
    (rf"\b(?:deadline|due|time\s+limit)\s*(?:is|:)?\s+(?:in\s+)?{_COUNT}\s+{_UNIT}\b", _count_ahead),
    (rf"\b{_COUNT}\s+{_UNIT}\s+(?:from\s+(?:now|today)|out)\b", _count_ahead),
    (rf"\b{_COUNT}\s+{_UNIT}\s+(?:ago|back)\b", _count_ago),
    (rf"\b{_END_OF}(?<![\w-])(?P<month>January|February|March|April|May|June|July|August|September|October"
        r"|November|December)"
     r"\b(?P<year>(?!))?", _bare_month),
    (rf"\b(?:the|of)\s+(?P<day>\d{{1,2}}(?=(?:st|nd|rd|th)\b)|{'|'.join(_DAY_WORDS[3:])})(?:st|nd|rd|th)?\b(?!-)",
     _ordinal_day),
    (r"\b(?:week|wk|cw)\.?\s*(?P<number>\d{2})\b", _week),
)  # fmt: skip


def _edge(match: re.Match[str], period: DateRange) -> DateRange:
    """ "End of July" is its last day, "mid-July" its fifteenth."""
    groups = match.groupdict()
    edge = (groups.get("edge") or "").lower()
    where: calendar.PeriodEdge = "end" if "end" in edge else "middle" if "mid" in edge else "start" if edge else None
    return calendar.edge_of(where, (groups.get("unit") or "").lower(), period)


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower()
    return int(word) if word.isdigit() else NUMBERS[word]


def _unit(match: re.Match[str]) -> str:
    return re.sub(r"(?:business|working)\s+day", "business day", _long(match["unit"]))
