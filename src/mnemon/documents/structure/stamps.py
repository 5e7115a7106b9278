"""Reads the day that a chat's time stamps and date lines give, so that "tonight" is the night it was said."""

import re
from collections.abc import Iterable
from datetime import date

from mnemon.documents.structure.calendar_words import NO_YEAR
from mnemon.documents.structure.dates import read_dates
from mnemon.documents.structure.entries import only_day

_NUMBERS = re.compile(r"(\d{1,4})[-./](\d{1,2})(?:[-./](\d{1,4})\b|\.(?!\d)|(?=,?\s+\d{1,2}[:.]\d{2}))")
# A line that is nothing but a day, as chat exports set between two days.
_AROUND = " \t-–—=*#[]()"
_LONGEST_DAY_LINE = 80
_CLOCK = re.compile(
    r"(?:\b|(?<=\d)T)\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?[ap]\.?m\b\.?|Z|[+-]\d{2}:?\d{2})?|\b\d{1,2} ?[ap]\.?m\b\.?",
    re.IGNORECASE,
)
# What else may stand beside the day that a session of a talk begins with: its number, its hour, the weekday.
_BESIDE_DAY = re.compile(
    r"\b(?:(?:session|conversation|chat|part|day|meeting|call|stand-?up)(?:\s*#?\d{1,4})?|dated?|time|on|at|held|from|utc"
    r"|started?|am|vom|\w+day|\w+tag|mittwoch|sonnabend|mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)\b|\W",
    re.IGNORECASE,
)
_WEEKDAY_FIRST = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend"
    r"|mon|tues?|wed|thur?s?|fri|sat|sun|mo|di|mi|do|fr|sa|so)\b",
    re.IGNORECASE,
)
# "== 11 Nov ==", "--- Wed 11 Nov", "[11.11.]": drawn by hand, as nobody writes a message.
_DRAWN = re.compile(r"\s*(?:[=\-–—*_#~]{2,}|[#*\[])\s*[^\s=*#\]–—-].*")
_LONG_AGO = date(1000, 1, 1)


def days_come_first(stamps: Iterable[str]) -> bool:
    """14/05 or 05/14: one stamp that can only be read one way settles it for all; else as most of the world writes."""
    return not any(
        int(match[2]) > 12 >= int(match[1])
        for stamp in stamps
        if (match := _NUMBERS.search(stamp)) and len(match[1]) <= 2
    )


def stamped_day(stamp: str, day_first: bool) -> date | None:
    match = _NUMBERS.search(stamp)
    if match is None:
        return _written_day(stamp) or _day_of_no_year(stamp)
    first, second, third = (int(part or NO_YEAR) for part in match.groups())
    try:
        if match[3] is None:
            return date(NO_YEAR, second, first) if day_first else date(NO_YEAR, first, second)
        if len(match[1]) == 4:
            return date(first, second, third)
        year = third + 2000 if third < 100 else third
        return date(year, second, first) if day_first else date(year, first, second)
    except ValueError:
        return None


def day_line(line: str, alone: bool = False) -> date | None:
    """ "Thursday, 14 May 2026" by itself, with its year; also "Session 3, 1:56 pm on 8 May, 2023". Between blank lines
    "Thursday, 14 May" is one too, and drawn by hand "== 14 May ==" anywhere."""
    words = line.strip(_AROUND)
    if len(words) < 4 or len(words) > _LONGEST_DAY_LINE or not any(one.isdigit() for one in words):
        return None
    bare = (alone and _WEEKDAY_FIRST.match(words)) or _DRAWN.fullmatch(line)
    return _written_day(words) or (_day_of_no_year(words) if bare else None)


def _day_of_no_year(words: str) -> date | None:
    mention = only_day(words)
    if mention is None:
        return None
    plain = _CLOCK.sub(" ", words[: mention.start] + " " + words[mention.end :])
    return None if _BESIDE_DAY.sub("", plain) else mention.period.first


def _written_day(words: str) -> date | None:
    """The one day that the words name, where they say nothing else but when."""
    plain = _CLOCK.sub(lambda clock: " " * len(clock[0]), words)
    mentions = [each for each in read_dates(plain, _LONG_AGO) if each.period.first.year > 1100]
    if len(mentions) != 1:
        return None
    beside = plain[: mentions[0].start] + " " + plain[mentions[0].end :]
    period = mentions[0].period
    return period.first if not _BESIDE_DAY.sub("", beside) and period.first == period.last else None
