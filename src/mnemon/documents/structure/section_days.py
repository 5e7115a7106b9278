"""Headings that are or hold a day: they date what stands below them, until the next heading of the same rank."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from mnemon.documents.structure.calendar_words import NO_YEAR, in_its_year
from mnemon.documents.structure.day_marks import DayMark
from mnemon.documents.structure.entries import CLOCK, WEEKDAY, only_day
from mnemon.documents.structure.headings import heading_title
from mnemon.documents.structure.structure import Block, StructurePart

# "Meeting of 12 May", "Sitzung am 12.5.": what stands below such a heading happened then.
_OCCASION = re.compile(
    r"\b(?:meetings?|stand-?ups?|calls?|sessions?|sittings?|sync|retro(?:spective)?|reviews?|workshops?|visits?"
    r"|assembly|agm|huddle|check-?in|interview|conversation|debrief(?:ing)?|hearing|briefing|log|diary|entry|updates?"
    r"|notes?|addendum|\w*sitzung|\w*besprechung|\w*treffen|jour fixe|\w*versammlung|\w*gespräch|telefonat"
    r"|\w*runde|\w*besuch|\w*begehung|eintrag|\w*tagebuch|notiz(?:en)?|nachtrag)\b",
    re.IGNORECASE,
)
# Of one meeting, "Minutes of 12 May" is the point where those of the last one are agreed.
_MINUTES = re.compile(r"\b(?:minutes|\w*protokoll)\b", re.IGNORECASE)
# "Actions by 12 May", "Prices from 1 June": no day on which anything was said.
_OF_ANOTHER_TIME = frozenset(
    {"by", "before", "until", "till", "within", "due", "due by", "due on", "since", "after", "as of", "effective",
     "starting", "with effect from", "no later than", "not later than"}
)  # fmt: skip
_TO_COME = re.compile(
    r"\b(?:next|upcoming|coming|planned|agenda|invitation|deadline|nächste[nrs]?|kommende[nrs]?|geplant\w*|tagesordnung"
    r"|einladung|frist)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LONGEST = 100
# A line that only announces stands below every heading.
_LEAD, _DATED_LEAD = 99, 98


@dataclass(frozen=True, slots=True)
class _Head:
    start: int
    level: int
    day: date | None = None
    # Whether the day is all that it says, or the occasion's; any other may be what the heading is about.
    sure: bool = False


def section_marks(text: str, parts: Iterable[StructurePart], blocks: Sequence[Block]) -> list[DayMark]:
    """Where a section begins, and its day; none where it has none. One dated title alone dates the whole text."""
    levels = {block.start: max(block.level, 1) for block in blocks if block.kind == "heading"}
    heads = [_head(text, part, levels) for part in parts if part.kind in ("heading", "lead")]
    listed = {level for level in {head.level for head in heads} if _in_turn(heads, level)}
    dated = [head for head in heads if head.day and (head.sure or head.level in listed)]
    if not dated or dated == heads[:1]:
        return []
    return list(_marks(heads, dated))


def year_above(text: str, parts: Iterable[StructurePart], blocks: Sequence[Block]) -> int | None:
    """ "# Minutes 2026" says the year of the sections below it."""
    levels = {block.start: max(block.level, 1) for block in blocks if block.kind == "heading"}
    above: list[tuple[int, str]] = []
    for part in parts:
        level = levels.get(part.start)
        if part.kind != "heading" or level is None:
            continue
        if part.day:
            years = {int(year[0]) for height, title in above if height < level for year in _YEAR.finditer(title)}
            return years.pop() if len(years) == 1 else None
        above.append((level, text[part.start : part.end][:_LONGEST]))
    return None


def in_their_years(parts: Sequence[StructurePart], within: int | None = None) -> Iterator[StructurePart]:
    """ "Tue 10 Nov 2026", and then "Wed 11 Nov": the year goes on; where no day has one, all may lie within a year."""
    middle = date(within, 7, 1) if within else None
    for part, day in zip(parts, _carried([part.day for part in parts], middle), strict=True):
        yield part if day == part.day else replace(part, day=day)


def _carried(days: Sequence[date | None], otherwise: date | None = None) -> Iterator[date | None]:
    """Without its year a day lies nearest to the one before it, or to the first that tells its own."""
    known = next((day for day in days if day and day.year != NO_YEAR), otherwise)
    for day in days:
        found = in_its_year(day, known) if day and known else day
        known = found if found and found.year != NO_YEAR else known
        yield found


def said_days(parts: Sequence[StructurePart], written: date | None) -> list[date | None]:
    """For each part the day on which it was said. Nobody has written on a day to come, so that such a line is of a
    plan; but a message has its stamp, and minutes of several days may be dated by the first of them."""
    days = [in_its_year(part.day, written) if part.day else None for part in parts]
    goes_on = written is not None and written == next((day for day in days if day), None)
    return [
        None if day and written and day > written and not part.speaker and not goes_on else day
        for part, day in zip(parts, days, strict=True)
    ]


def _head(text: str, part: StructurePart, levels: dict[int, int]) -> _Head:
    level, title = levels.get(part.start, _LEAD), heading_title(text[part.start : part.end])
    mention = only_day(title) if len(title) <= _LONGEST else None
    if mention is None or mention.lead in _OF_ANOTHER_TIME or _TO_COME.search(title) or only_day(title[mention.end :]):
        return _Head(part.start, level)
    beside = WEEKDAY.sub(" ", CLOCK.sub(" ", f"{title[: mention.start]} {title[mention.end :]}"))
    sure = not any(map(str.isalnum, beside)) or _OCCASION.search(beside) is not None
    if mention.lead == "from" and not sure:
        return _Head(part.start, level)
    if level == _LEAD:
        if not sure and not _MINUTES.search(beside):
            return _Head(part.start, level)
        level = _DATED_LEAD
    return _Head(part.start, level, mention.period.first, sure)


def _in_turn(heads: Sequence[_Head], level: int) -> bool:
    """Several headings of one rank with a day each, one later than the other: sections of a log."""
    days = [day for day in _carried([head.day for head in heads if head.level == level]) if day]
    return len(set(days)) > 1 and days in (sorted(days), sorted(days, reverse=True))


def _marks(heads: Sequence[_Head], dated: Sequence[_Head]) -> Iterator[DayMark]:
    above: list[tuple[int, date]] = []
    starts = {head.start for head in dated}
    for head in heads:
        above = [one for one in above if one[0] < head.level]
        if head.start in starts and head.day:
            above.append((head.level, head.day))
        yield head.start, above[-1][1] if above else None
