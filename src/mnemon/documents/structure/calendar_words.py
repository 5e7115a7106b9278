"""Arithmetic of the calendar as people speak of it: weeks, months, quarters, weekdays."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

DateDirection = Literal["past", "future", "nearest"]
PeriodEdge = Literal["start", "middle", "end"] | None
# The year of a day of which no year is told; a leap year, so that it has every day.
NO_YEAR = 4
_JUST_PASSED = timedelta(days=90)

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan", "januar", "jänner"),
            ("february", "feb", "februar"),
            ("march", "mar", "märz"),
            ("april", "apr"),
            ("may", "mai"),
            ("june", "jun", "juni"),
            ("july", "jul", "juli"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct", "oktober", "okt"),
            ("november", "nov"),
            ("december", "dec", "dezember", "dez"),
        ),
        start=1,
    )
    for name in names
}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            ("monday", "mon"),
            ("tuesday", "tues", "tue"),
            ("wednesday", "weds", "wed"),
            ("thursday", "thurs", "thur", "thu"),
            ("friday", "fri"),
            ("saturday", "sat"),
            ("sunday", "sun"),
        )
    )
    for name in names
}
NUMBERS = {
    name: number
    for number, name in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
} | {"a": 1, "an": 1, "fourteen": 14, "twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90}
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


@dataclass(frozen=True)
class DateRange:
    """From the first to the last day, both included."""

    first: date
    last: date


def day(on: date) -> DateRange:
    return DateRange(on, on)


def week(on: date) -> DateRange:
    monday = on - timedelta(days=on.weekday())
    return DateRange(monday, monday + timedelta(days=6))


def month(year: int, number: int) -> DateRange:
    """`number` may run over the ends of the year."""
    year, number = year + (number - 1) // 12, (number - 1) % 12 + 1
    return DateRange(date(year, number, 1), date(year, number, monthrange(year, number)[1]))


def quarter(year: int, number: int) -> DateRange:
    first = (number - 1) * 3 + 1
    return DateRange(month(year, first).first, month(year, first + 2).last)


def half(year: int, number: int) -> DateRange:
    return DateRange(quarter(year, number * 2 - 1).first, quarter(year, number * 2).last)


def year(number: int) -> DateRange:
    return DateRange(date(number, 1, 1), date(number, 12, 31))


def easter(number: int) -> date:
    """Easter Sunday of a year, as Gauss reckoned it and others mended."""
    a, b, c = number % 19, number // 100, number % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return date(number, f // 31, f % 31 + 1)


# Days that have a name: by their date, or so many days from Easter Sunday.
FIXED_FEASTS = {
    "new year": (1, 1), "new year's day": (1, 1), "neujahr": (1, 1), "epiphany": (1, 6), "dreikönig": (1, 6),
    "valentine's day": (2, 14), "valentinstag": (2, 14), "st patrick's day": (3, 17), "st. patrick's day": (3, 17),
    "may day": (5, 1), "tag der arbeit": (5, 1), "maifeiertag": (5, 1), "canada day": (7, 1),
    "independence day": (7, 4), "mariä himmelfahrt": (8, 15), "michaelmas": (9, 29),
    "tag der deutschen einheit": (10, 3), "reformationstag": (10, 31), "halloween": (10, 31),
    "all saints": (11, 1), "allerheiligen": (11, 1), "martinmas": (11, 11), "martini": (11, 11), "nikolaus": (12, 6),
    "christmas eve": (12, 24), "heiligabend": (12, 24), "heilig abend": (12, 24), "christmas": (12, 25),
    "xmas": (12, 25), "weihnachten": (12, 25), "boxing day": (12, 26), "new year's eve": (12, 31),
    "silvester": (12, 31),
}  # fmt: skip
EASTER_FEASTS = {
    "rosenmontag": -48, "shrove tuesday": -47, "ash wednesday": -46, "aschermittwoch": -46, "palm sunday": -7,
    "palmsonntag": -7, "maundy thursday": -3, "gründonnerstag": -3, "good friday": -2, "karfreitag": -2, "easter": 0,
    "ostern": 0, "easter monday": 1, "ostermontag": 1, "ascension day": 39, "christi himmelfahrt": 39,
    "himmelfahrt": 39, "whitsun": 49, "pentecost": 49, "pfingsten": 49, "whit monday": 50, "pfingstmontag": 50,
    "corpus christi": 60, "fronleichnam": 60,
}  # fmt: skip


def feast(name: str, today: date) -> date:
    """The next day of that name."""
    for year in (today.year, today.year + 1):
        on = date(year, *FIXED_FEASTS[name]) if name in FIXED_FEASTS else _after_easter(year, EASTER_FEASTS[name])
        if on >= today:
            break
    return on


def _after_easter(year: int, days: int) -> date:
    return easter(year) + timedelta(days=days)


def unit_around(unit: str, today: date, step: int) -> DateRange:
    """This week is step 0, last month is step -1, next quarter is step 1."""
    if unit == "week":
        return week(today + timedelta(weeks=step))
    if unit == "month":
        return month(today.year, today.month + step)
    if unit == "quarter":
        first = month(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * step).first
        return DateRange(first, month(first.year, first.month + 2).last)
    if unit == "year":
        return year(today.year + step)
    return day(today + timedelta(days=step))


def shifted(today: date, unit: str, count: int) -> date:
    """So many units from today; a month ends where its shorter neighbour does."""
    if unit == "day":
        return today + timedelta(days=count)
    if unit == "week":
        return today + timedelta(weeks=count)
    if unit == "business day":
        return _business_days(today, count)
    target = month(today.year, today.month + count * {"month": 1, "quarter": 3, "year": 12}[unit])
    return min(target.first.replace(day=1) + timedelta(days=today.day - 1), target.last)


def weekday_near(number: int, today: date, direction: DateDirection) -> date:
    """Never today itself: who means today says so."""
    ahead = (number - today.weekday() - 1) % 7 + 1
    behind = (today.weekday() - number - 1) % 7 + 1
    if direction == "past" or (direction == "nearest" and behind < ahead):
        return today - timedelta(days=behind)
    return today + timedelta(days=ahead)


def weekday_of_week(number: int, today: date, weeks: int) -> date:
    """Of this week, of the next one, or so many weeks from now."""
    return week(today).first + timedelta(weeks=weeks, days=number)


def nearest(periods: list[DateRange], today: date, direction: DateDirection) -> DateRange:
    """Of the same day or month in several years, the one that is meant. Minutes of March speak of April too."""
    if direction == "future":
        ahead = [period for period in periods if period.last >= today]
        periods = ahead or periods
    return min(periods, key=lambda period: abs((period.first - today).days))


def day_of_year(number: int, day_number: int, today: date, direction: DateDirection) -> DateRange:
    """The day of that month, in the year that is meant."""
    if day_number == 29 and number == 2:
        return day(date(today.year, number, day_number))
    years = (today.year - 1, today.year, today.year + 1)
    found = nearest([day(date(each, number, day_number)) for each in years], today, direction)
    before = date(found.first.year - 1, number, day_number)
    # Minutes are written up later, and logs go back: who means a day next spring tells its year.
    return day(before) if direction == "future" and today - before <= _JUST_PASSED else found


def in_its_year(on: date, today: date | None) -> date | None:
    """A day of which the text tells no year, in the year that is nearest to the day of writing."""
    if on.year != NO_YEAR:
        return on
    return day_of_year(on.month, on.day, today, "nearest").first if today else None


def day_of_any_month(number: int, today: date, direction: DateDirection) -> DateRange:
    """ "The 15th", of the month that is meant."""
    months = [month(today.year, today.month + step) for step in (-1, 0, 1, 2)]
    days = [each.first.replace(day=number) for each in months if 0 < number <= each.last.day]
    if not days:
        raise ValueError(f"no month has a day {number}")
    return nearest([day(each) for each in days], today, direction)


def week_of_year(number: int, today: date, direction: DateDirection) -> DateRange:
    """The calendar week as ISO counts it."""
    found = [week(date.fromisocalendar(today.year + step, number, 1)) for step in (-1, 0, 1)]
    return nearest(found, today, direction)


def edge_of(edge: PeriodEdge, unit: str, period: DateRange) -> DateRange:
    """The last day, the first one, or the one in the middle: of a month the fifteenth."""
    if edge == "end":
        return day(working_end(unit, period))
    if edge == "start":
        return day(period.first)
    if edge == "middle":
        is_month = period.first.day == 1 and (period.last - period.first).days < 31
        return day(period.first + (timedelta(days=14) if is_month else (period.last - period.first) / 2))
    return period


def working_end(unit: str, period: DateRange) -> date:
    """A week ends on its Friday for whoever promises something by its end."""
    return period.first + timedelta(days=4) if unit == "week" else period.last


def _business_days(today: date, count: int) -> date:
    step = timedelta(days=1 if count >= 0 else -1)
    left = abs(count)
    while left:
        today += step
        left -= today.weekday() < 5
    return today
