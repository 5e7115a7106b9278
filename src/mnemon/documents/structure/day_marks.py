"""Lines that tell the day of what stands below them, and more: heads of mails in a thread, entries of a diary."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from mnemon.documents.structure.entries import goes_on, only_day
from mnemon.documents.structure.lines import Line
from mnemon.documents.structure.structure import StructurePart

# None: from there on no day is told.
DayMark = tuple[int, date | None]

_SENDER = re.compile(r"[ \t*]*(?:from|von)\*{0,2}[ \t]*:\*{0,2}[ \t]*\S", re.IGNORECASE)
_SENT = re.compile(r"[ \t*]*(?:date|sent|datum|gesendet)\*{0,2}[ \t]*:\*{0,2}[ \t]*(?=\S)", re.IGNORECASE)
_MAIL_HEAD = 6
_WEEKDAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?|mo|di|mi|do|fr|sa|so"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend)"
)
# "Mon 13 April. Rain from 8.", "05 Oct, Mon. Beans are in", "Di 16.06., Dauerregen".
_BEFORE_DAY = re.compile(rf"[\s*#]*(?:{_WEEKDAY}\b[.,]?\s*)?", re.IGNORECASE)
_BEHIND_DAY = re.compile(
    rf"(?:,?\s*\(?{_WEEKDAY}\b\)?)?\s*(?:[.,;:|–—*-]|$|(?:[01]\d|2[0-3]):?[0-5]\d\b)", re.IGNORECASE
)
_LONGEST_OPENING = 40
_FEWEST = 2


def with_days(parts: Iterable[StructurePart], marks: Sequence[DayMark]) -> Iterator[StructurePart]:
    """Parts whose day nothing nearer tells have that of the last mark above them."""
    for part in parts:
        place = bisect_right(marks, part.start, key=lambda mark: mark[0]) - 1
        yield replace(part, day=marks[place][1]) if part.day is None and place >= 0 else part


def day_marks(lines: Sequence[Line]) -> Sequence[DayMark]:
    """Where a day begins, in the order of the text; without its year it lies in the year `NO_YEAR`."""
    return list(_mails(lines)) or _diary(lines)


def _mails(lines: Sequence[Line]) -> Iterator[DayMark]:
    """ "From: Ada, Mon 12.10.2026", or "Date:" among the lines right below "From:"."""
    for at, line in enumerate(lines):
        if not _SENDER.match(line.text):
            continue
        if mention := only_day(line.text):
            yield line.start, mention.period.first
            continue
        for below in lines[at + 1 : at + _MAIL_HEAD]:
            if below.blank:
                break
            if (sent := _SENT.match(below.text)) and (mention := only_day(below.text[sent.end() :])):
                yield line.start, mention.period.first
                break


def _diary(lines: Sequence[Line]) -> Sequence[DayMark]:
    """Lines that open with a day, of which each is as late as the one above it, or none is."""
    opened = [
        (line.start, day)
        for before, line in pairwise((Line(0, 0, ""), *lines))
        if (day := _opening_day(line.text)) and not goes_on(before, line, {})
    ]
    places = [(day.month, day.day) for _, day in opened]
    in_order = places == sorted(places) or places == sorted(places, reverse=True)
    return opened if len(set(places)) >= _FEWEST and in_order else []


def _opening_day(line: str) -> date | None:
    mention = only_day(line[:_LONGEST_OPENING])
    if mention is None or not _BEFORE_DAY.fullmatch(line, 0, mention.start):
        return None
    return mention.period.first if _BEHIND_DAY.match(line, mention.end) or line[mention.end - 1] == "." else None
