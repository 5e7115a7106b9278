"""How German writes dates, explicit and relative ones: patterns, each with its reading."""

import re
from datetime import date, timedelta

from mnemon.documents.structure import calendar_words as calendar
from mnemon.documents.structure.calendar_words import MONTHS, DateDirection, DateRange
from mnemon.documents.structure.date_leads import DateReader

_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            ("montag", "mo"),
            ("dienstag", "di"),
            ("mittwoch", "mi"),
            ("donnerstag", "do"),
            ("freitag", "fr"),
            ("samstag", "sonnabend", "sa"),
            ("sonntag", "so"),
        )
    )
    for name in names
}
GERMAN_NUMBERS = {
    "ein": 1, "eine": 1, "einer": 1, "einem": 1, "eines": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6,
    "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12, "vierzehn": 14,
}  # fmt: skip
_UNITS = {"tag": "day", "werktag": "business day", "arbeitstag": "business day", "woche": "week", "monat": "month",
          "quartal": "quarter", "jahr": "year"}  # fmt: skip
_STEPS = {
    "nächst": 1,
    "kommend": 1,
    "folgend": 1,
    "übernächst": 2,
    "letzt": -1,
    "vorig": -1,
    "vergangen": -1,
    "dies": 0,
}
_DAYS = {"heute": 0, "heut": 0, "morgen": 1, "übermorgen": 2, "gestern": -1, "vorgestern": -2}
_EDGES: dict[str, calendar.PeriodEdge] = {"ende": "end", "mitte": "middle", "anfang": "start", "beginn": "start"}

_LONG = "|".join(name for name in _WEEKDAYS if len(name) > 2)
_SHORT = "Mo|Di|Mi|Do|Fr|Sa|So"
_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_YEAR = r"(?:\s+(?P<year>(?:19|20)\d\d))?"
_EDGE = rf"(?:(?P<edge>{'|'.join(_EDGES)})\s+)?(?:de[rs]\s+|in\s+)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(GERMAN_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>werktag|arbeitstag|tag|woche|monat|quartal|jahr)(?:e?[ns]|e)?\b"
_WHICH = rf"(?P<which>{'|'.join(_STEPS)})e?[mnrs]?\s+"


def _day_of_month(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    month, number = MONTHS[match["month"].lower()], int(match["day"])
    if match["year"]:
        return calendar.day(date(int(match["year"]), month, number))
    return calendar.day_of_year(month, number, today, direction)


def _dotted(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    return calendar.day_of_year(int(match["month"]), int(match["day"]), today, direction)


def _month(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    number = MONTHS[match["month"].lower()]
    years = [int(match["year"])] if match["year"] else [today.year + step for step in (-1, 0, 1)]
    return _edge(match, calendar.nearest([calendar.month(year, number) for year in years], today, direction))


def _weekday(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    number, which = _WEEKDAYS[match["weekday"].lower()], (match["which"] or "").lower()
    if which == "übernächst":
        return calendar.day(calendar.weekday_near(number, today, "future") + timedelta(weeks=1))
    if which and (step := _STEPS[which]):
        return calendar.day(calendar.week(today + timedelta(weeks=step)).first + timedelta(days=number))
    return calendar.day(calendar.weekday_near(number, today, "future" if which else direction))


def _weekday_of_week(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    """ "Mittwoch nächster Woche", "nächste Woche Mittwoch"."""
    number = _WEEKDAYS[match["weekday"].lower()]
    return calendar.day(calendar.weekday_of_week(number, today, _STEPS[match["which"].lower()]))


def _week_with(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    """ "Die Woche vom 5. Oktober"."""
    named = match["month"].lower()
    month = int(named) if named.isdigit() else MONTHS[named]
    return calendar.week(calendar.day_of_year(month, int(match["day"]), today, direction).first)


def _relative_day(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(today + timedelta(days=_DAYS[match["word"].lower()]))


def _relative_unit(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    unit = _UNITS[match["unit"].lower()]
    step = _STEPS[match["which"].lower()] if match["which"] else 0
    return calendar.edge_of(_edge_word(match), unit, calendar.unit_around(unit, today, step))


def _end_of_unit(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    unit = _UNITS[match["unit"].lower()]
    return calendar.edge_of("end", unit, calendar.unit_around(unit, today, 0))


def _weekend(_match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return DateRange(calendar.week(today).first + timedelta(days=5), calendar.week(today).last)


def _week(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    found = calendar.week_of_year(int(match["number"] or match["before"]), today, direction)
    return calendar.edge_of(_edge_word(match), "week", found)


def _quarter(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    years = [int(match["year"])] if match["year"] else [today.year + step for step in (-1, 0, 1)]
    quarters = [calendar.quarter(year, int(match["number"])) for year in years]
    return _edge(match, calendar.nearest(quarters, today, direction))


def _ahead(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(calendar.shifted(today, _UNITS[match["unit"].lower()], _count(match)))


def _ago(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(calendar.shifted(today, _UNITS[match["unit"].lower()], -_count(match)))


def _day_alone(match: re.Match[str], today: date, direction: DateDirection) -> DateRange:
    return calendar.day_of_any_month(int(match["day"]), today, direction)


def _hours_ahead(match: re.Match[str], today: date, _direction: DateDirection) -> DateRange:
    return calendar.day(today + timedelta(days=-(-int(match["count"]) // 24)))


def _edge_word(match: re.Match[str]) -> calendar.PeriodEdge:
    return _EDGES[match["edge"].lower()] if match["edge"] else None


def _edge(match: re.Match[str], period: DateRange) -> DateRange:
    return calendar.edge_of(_edge_word(match), "", period)


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower()
    return int(word) if word.isdigit() else GERMAN_NUMBERS[word]


# Tried in this order, after the English ones that look the same.
GERMAN: tuple[tuple[str, DateReader], ...] = (
    (rf"\bWoche\s+(?:vom|ab(?:\s+dem)?)\s+(?:montag,?\s+(?:dem\s+)?)?(?P<day>\d{{1,2}})\.\s?"
     rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))}|1[012]|0?[1-9])\b\.?", _week_with),
    (rf"\b(?P<day>\d{{1,2}})\.\s?{_MONTH}{_YEAR}", _day_of_month),
    (r"(?<![\d.,/-])(?P<day>\d{1,2})\.(?P<month>1[012]|0?[1-9])\.(?!\d)", _dotted),
    (rf"\b{_EDGE}(?:KW|Kalenderwoche)\.?\s*(?P<number>\d{{1,2}})\b(?P<before>(?!))?", _week),
    (rf"\b{_EDGE}(?P<before>\d{{1,2}})\.\s?(?:KW|Kalenderwoche)\b(?P<number>(?!))?", _week),
    (rf"\b{_EDGE}(?P<number>[1-4])\.\s?Quartals?\b{_YEAR}", _quarter),
    (rf"\b(?P<edge>{'|'.join(_EDGES)})\s+{_MONTH}{_YEAR}", _month),
    (rf"\b(?:im|bis|seit|ab)\s+(?P<edge>(?!))?(?P<month>januar|februar|märz|mai|juni|juli|oktober|dezember)\b{_YEAR}",
     _month),
    (rf"\b(?P<weekday>{_LONG})\s+(?:in\s+)?(?:der\s+)?{_WHICH}woche\b", _weekday_of_week),
    (rf"\b{_WHICH}woche,?\s+(?:am\s+)?(?P<weekday>{_LONG})\b", _weekday_of_week),
    (rf"\b(?:{_WHICH})?(?P<weekday>(?:{_LONG})\b|(?<=\b(?:bis|vor) )(?-i:{_SHORT})\b|(?<=\b(?:am|ab) )(?-i:{_SHORT})\b"
     rf"|(?-i:{_SHORT})\b(?=[.,]?\s+\d{{1,2}}\.))", _weekday),
    (r"\b(?P<word>übermorgen|vorgestern|gestern|heute|heut|(?<!am )(?<!guten )(?<!jeden )(?-i:morgen)(?!s)"
     r"|(?:(?<=^)|(?<=[.!?:] ))(?-i:Morgen)(?=\s+\w))\b", _relative_day),
    (rf"\b(?:(?P<edge>{'|'.join(_EDGES)})\s+)?{_WHICH}{_UNIT}", _relative_unit),
    (rf"\b(?P<edge>{'|'.join(_EDGES)})\s+de[rs]\s+(?P<which>(?!))?{_UNIT}", _relative_unit),
    (r"\b(?P<unit>monat|jahr|quartal)e?sende\b", _end_of_unit),
    (r"\b(?:am\s+|bis\s+zum\s+)?wochenende\b", _weekend),
    (rf"\b(?:in|binnen|innerhalb(?:\s+von)?)\s+(?:den\s+nächsten\s+|der\s+nächsten\s+)?{_COUNT}\s+{_UNIT}"
     r"(?!\s+(?:nach|ab)\b)", _ahead),
    (rf"\b(?:frist|fällig)\s*(?:ist|sind|beträgt|:)?\s+(?:in\s+)?{_COUNT}\s+{_UNIT}", _ahead),
    (r"\b(?:in|binnen|innerhalb(?:\s+von)?)\s+(?P<count>24|36|48|72|96)\s+stunden\b", _hours_ahead),
    (rf"\bvor\s+{_COUNT}\s+{_UNIT}", _ago),
    (r"\b(?:am|zum|vom|bis)\s+(?P<day>\d{1,2})\.(?=\s|$|[,;)?!.])(?!\s\w+\.?\s?\d)", _day_alone),
)  # fmt: skip
