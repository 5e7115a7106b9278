"""Gives a semantic event its times: when it happened, and for commitments when it is due."""

import re
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from mnemon.documents.structure.calendar_words import DateDirection
from mnemon.documents.structure.dates import Mention, read_dates
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.semantic_event import Category

DEADLINE_LEADS = frozenset(
    {"by", "before", "until", "till", "within", "no later than", "not later than", "due", "due on", "due by"}
)
_NO_DEADLINE = frozenset({"from", "since", "after", "as of", "with effect from", "effective", "starting", "of"})
_REPEATED = re.compile(
    r"\b(?:(?:each|every)\s+(?:other\s+|second\s+)?(?:day|week|month|quarter|year|time|invoice|order|delivery|request|case"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|morning|evening|spring|summer|autumn|winter)"
    r"|(?:\d|two|three|four|five|six|seven|several)\s+(?:times|days|mornings|afternoons|evenings|nights|hours)\s+(?:an?|per|each|every)"
    r"\s+(?:day|week|month|quarter|year)|(?:once|twice)\s+an?\s+(?:day|week|month|quarter|year)|(?:ein|zwei)mal\s+(?:im|pro|am)\s+(?:tag|woche|monat|quartal|jahr)"
    r"|on\s+(?:mon|tues|wednes|thurs|fri|satur|sun)days|monthly|weekly|daily|annually|quarterly"
    r"|jede[nrs]?\s+(?:zweiten\s+)?(?:\w+tag|mittwoch|tag|woche|monat|quartal|jahr|morgen|abend)"
    r"|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s|(?:monat|wöchent|täg|jähr)lich)\b",
    re.IGNORECASE,
)
# What is counted from this day has no year of its own.
_LONG_AGO = date(1000, 1, 1)
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
_ON = re.compile(r"\b(?:on|last|this|next|since|by|until|from|of)\s+\Z", re.IGNORECASE)
# A word right behind that goes on with the weekday's name, other than one that begins a clause or says when.
_NOUN = re.compile(
    r"[ -](?!(?:a|an|and|are|as|at|because|but|by|for|from|had|has|he|i|if|in|is|it|morning|afternoon|evening|night"
    r"|noon|of|on|or|our|she|since|so|that|the|their|they|this|to|until|was|we|were|when|while|will|with|you)\b)[a-z]"
)
_EACH_TIME = re.compile(
    r"\W*(?:every|each|any|all|whenever|whoever|anyone|anybody|if|in case of|jede[rsnm]?|alle|wer|wenn|falls|sobald"
    r"|bei jede[rmn])\b",
    re.IGNORECASE,
)
_COUNTED = frozenset({"within", "in"})
_THAT_DAY = re.compile(r"\b(?:on the|an dem|an jenem)\s+\Z", re.IGNORECASE)
_DAY_NAME = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend)",
    re.IGNORECASE,
)
_GONE_BY = re.compile(
    r"\b(?:last|yesterday|ago|previous|past|letzte\w*|vorige\w*|vergangene\w*|gestern|vorgestern)\b", re.IGNORECASE
)
_WRITTEN_UP = timedelta(days=14)
# Decisions are told so soon; a day without a year that would lie further back is to come.
_TOLD_SOON = timedelta(days=60)
_YEAR = re.compile(r"\d{4}|\b(?:last|letzte\w*|vorige\w*|ago)\b", re.IGNORECASE)
_NOW = re.compile(
    r"\b(?:now|instead|moved to|pushed to|shifted to|new date|jetzt|nun|neu(?:er Termin)?|verschoben auf"
    r"|stattdessen)\b",
    re.IGNORECASE,
)
_LOOKS_BACK = frozenset(
    {Category.EXECUTION, Category.COLLABORATION, Category.FEEDBACK, Category.DECISION, Category.QUALITY_RISK}
)


def dates_in(text: str, today: date | None, direction: DateDirection) -> list[Mention]:
    """What the text dates; where nobody knows when it was written, the days that it names with their year."""
    if today is not None:
        return read_dates(text, today, direction)
    return [each for each in read_dates(text, _LONG_AGO, direction) if each.period.first.year > _LONG_AGO.year + 10]


def due_of(clause: str, today: date | None, *, stated: bool = False) -> date | None:
    """The last day that keeps the promise. A duty that comes round again has no single one. A column or a line of that
    name states it, whenever that was."""
    if _REPEATED.search(clause):
        return None
    mentions = [
        each
        for each in dates_in(clause, today, "future")
        if each.lead not in _NO_DEADLINE and (stated or _may_be_due(clause, each, today))
    ]
    if not mentions:
        return None
    if (moved := _NOW.search(clause)) and (later := [each for each in mentions if each.start >= moved.end()]):
        # "Was planned for 14 November, now 21 November": the day that holds is the one told last.
        return later[0].period.last
    # "Before 6 pm 26/6": an hour by itself is of today only where no day is named.
    named = [each for each in mentions if not each.is_hour] or mentions
    best = next((each for each in named if each.lead in DEADLINE_LEADS), named[-1])
    return best.period.last


def _may_be_due(text: str, mention: Mention, today: date | None) -> bool:
    """Nobody promises anything for a day gone by, other than in minutes that are written up later. "On the Wednesday"
    is one of another week, of which was spoken before; "each accident is told within a day" counts from that one."""
    if mention.lead in _COUNTED and _EACH_TIME.match(text):
        return False
    if _THAT_DAY.search(text, 0, mention.start) and _DAY_NAME.fullmatch(text, mention.start, mention.end):
        return False
    first, last = mention.period.first, mention.period.last
    if today is None or last >= today or mention.lead in DEADLINE_LEADS:
        return True
    return first == last and today - last <= _WRITTEN_UP and not _GONE_BY.search(text, mention.start, mention.end)


def event_time_of(clause: str, category: Category, today: date | None, zone: ZoneInfo) -> datetime | None:
    """The beginning of the day or period that the clause names, on the author's clock."""
    if category is Category.COMMITMENT or _REPEATED.search(clause):
        return None
    direction: DateDirection = "past" if category in _LOOKS_BACK else "nearest"
    mentions = [each for each in dates_in(clause, today, direction) if not _is_any_weekday(clause, each)]
    if category in _LOOKS_BACK and today:
        # "We decided to launch on 10 June": what was done is done by the day that tells of it.
        mentions = [each for each in mentions if each.period.first <= today]
    if category is Category.DECISION and today:
        # "Not this year" says for how long; "the cut-over is on 21 November", in March, is no day of last year.
        mentions = [
            each
            for each in mentions
            if each.period.last <= today
            and (today - each.period.last <= _TOLD_SOON or _YEAR.search(clause, each.start, each.end))
        ]
    chosen = _when(mentions, category)
    return beginning_of(chosen.period.first, zone) if chosen else None


def beginning_of(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone)


def _when(mentions: list[Mention], category: Category) -> Mention | None:
    """In "moved from 13 June to 27 June" the dates are what changed, not when."""
    if category is Category.CHANGE:
        first = next((n for n, (one, other) in enumerate(pairwise(mentions)) if _is_moved(one, other)), None)
        mentions = mentions if first is None else mentions[:first] + mentions[first + 2 :]
    passing = {"of", "since", "before", "until", "till", "to", "for", "by", "within"}
    if category not in (Category.CHANGE, Category.STAKEHOLDER):
        passing |= {"from", "after", "as of", "starting"}
    return next((each for each in mentions if each.lead not in passing), None)


def _is_moved(one: Mention, other: Mention) -> bool:
    """Also with more behind: "from Tuesday to Thursday, from January on"."""
    return one.lead == "from" and other.lead != "from"


def _is_any_weekday(text: str, mention: Mention) -> bool:
    """ "Saturday opening", "no Saturday opening any more": what is done on such days. "On Saturday", "last Saturday"
    and a heading "Saturday" are one day."""
    if mention.lead or not _WEEKDAY.fullmatch(text, mention.start, mention.end):
        return False
    before, after = _ON.search(text, 0, mention.start), _NOUN.match(text, mention.end)
    return after is not None and (before is None or before.end() != mention.start)


def said_on(unit: Unit, revision: Revision) -> datetime | None:
    """The day that the text itself puts beside its words: a stamp, the heading, the head of the letter."""
    day = unit.day or _headed(unit.heading, revision.today) or revision.layout.preamble.written_on
    return beginning_of(day, revision.zone) if day else None


def _headed(heading: str, today: date | None) -> date | None:
    """ "Timeline (11 February)": the one day that a heading names."""
    mentions = read_dates(heading, today, "past") if heading and today else []
    if len(mentions) != 1 or mentions[0].lead in DEADLINE_LEADS or _is_any_weekday(heading, mentions[0]):
        return None
    period = mentions[0].period
    return period.first if period.first == period.last and today and period.first <= today else None
