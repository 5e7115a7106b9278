"""Cron rules: five fields and a time zone, and the next moment they name."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

SHORTHANDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
MONTHS = {
    name: n
    for n, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)
}
DAYS = {name: n for n, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
PART = re.compile(r"^(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\d+))?$")
# Long enough for 29 February around a century that skips one.
HORIZON = timedelta(days=366 * 9)
HOUR = timedelta(hours=1)
# An hour in which the clock is moved begins or ends by no more than this from where it would.
MOST_MOVED = timedelta(hours=5)


@dataclass(frozen=True)
class Cron:
    """A parsed rule. When both day fields are given, either may match, as in every cron."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def next_after(self, moment: datetime, zone: ZoneInfo) -> datetime:
        """The first moment after this one, in UTC.

        A time that the clock skips in spring comes at the same distance from midnight; one that it shows twice in
        autumn comes once, unless the rule runs in every hour, which then has one hour more.
        """
        day = moment.astimezone(zone).date() - timedelta(days=1)
        end = day + HORIZON
        while day < end:
            if self._matches(day) and (first := self._first_after(moment, day, zone)):
                return first
            day += timedelta(days=1)
        raise ValueError("The cron rule names no day that exists.")

    def _matches(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return in_month and in_week
        return in_month or in_week

    def _first_after(self, moment: datetime, day: date, zone: ZoneInfo) -> datetime | None:
        """The first of a day's moments after this one."""
        moved = _offset(day - timedelta(days=1), zone) != _offset(day + timedelta(days=2), zone)
        folds = (0, 1) if moved and len(self.hours) == 24 else (0,)
        slack = MOST_MOVED if moved else HOUR
        first: datetime | None = None
        for hour in sorted(self.hours):
            begins = datetime.combine(day, time(hour), zone).astimezone(UTC)
            if begins + slack < moment or (first is not None and begins - slack > first):
                continue
            for minute in self.minutes:
                for fold in folds:
                    one = datetime.combine(day, time(hour, minute, fold=fold), zone).astimezone(UTC)
                    if one > moment and (first is None or one < first):
                        first = one
        return first


def _offset(day: date, zone: ZoneInfo) -> timedelta | None:
    return datetime.combine(day, time(), zone).utcoffset()


def parse_cron(rule: str) -> Cron:
    """Read `minute hour day month weekday`: lists, ranges, steps, names of months and days, or a shorthand."""
    fields = SHORTHANDS.get(rule, rule).lower().split()
    if len(fields) != 5:
        raise ValueError(f"{rule!r} is not a cron rule: give minute, hour, day, month and weekday, or @daily.")
    weekdays = _numbers(fields[4], 0, 7, DAYS)
    cron = Cron(
        minutes=_numbers(fields[0], 0, 59),
        hours=_numbers(fields[1], 0, 23),
        days=_numbers(fields[2], 1, 31),
        months=_numbers(fields[3], 1, 12, MONTHS),
        weekdays=frozenset(day % 7 for day in weekdays),
        any_day=fields[2].startswith("*"),
        any_weekday=fields[4].startswith("*"),
    )
    cron.next_after(datetime.now(UTC), ZoneInfo("UTC"))
    return cron


def _numbers(text: str, least: int, most: int, names: dict[str, int] | None = None) -> frozenset[int]:
    chosen: set[int] = set()
    for part in text.split(","):
        match = PART.match(part)
        if match is None:
            raise ValueError(f"{part!r} is not a number, range or step from {least} to {most}.")
        star, first, last, step = match.groups()
        start = least if star else _number(first, names)
        stop = _number(last, names) if last else most if star or step else start
        if not least <= start <= stop <= most or step == "0":
            raise ValueError(f"{part!r} is not within {least} to {most}.")
        chosen.update(range(start, stop + 1, int(step or 1)))
    return frozenset(chosen)


def _number(text: str, names: dict[str, int] | None) -> int:
    if text.isdecimal():
        return int(text)
    if names and text[:3] in names:
        return names[text[:3]]
    raise ValueError(f"{text!r} is not a number.")
