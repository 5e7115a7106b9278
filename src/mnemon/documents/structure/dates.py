"""The reader of dates: explicit and relative ones, English and German, resolved against the day of writing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time

from mnemon.documents.structure.calendar_words import (
    EASTER_FEASTS,
    FIXED_FEASTS,
    MONTHS,
    WEEKDAYS,
    DateDirection,
    DateRange,
    day,
)
from mnemon.documents.structure.date_leads import lead_before
from mnemon.documents.structure.english_dates import ENGLISH
from mnemon.documents.structure.german_dates import GERMAN


@dataclass(frozen=True)
class Mention:
    """A date in the text: where it stands, the days it covers, and the words right before it."""

    start: int
    end: int
    period: DateRange
    lead: str
    # Only an hour is told, of today.
    is_hour: bool = False


_READERS = tuple((re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in (*ENGLISH, *GERMAN))
# "By two", "before five-forty", "by 1030", "bis acht": where nothing is counted.
_HOUR_NAME = (
    r"(?:(?:half\s+past\s+|halb\s+)?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|eins|zwei|drei|vier"
    r"|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)(?:-(?:fifteen|twenty|thirty|forty|fifty)(?:-five)?)?"
    r"|(?:0\d|1[0-8]|2[1-3])(?:00|15|30|45)h?)(?=\s*(?:[.,;!?)]|$)|\s+(?:or|and|today|sharp|oder|und|heute)\b)"
)
# "By noon", "bis Feierabend": today, or the day that stands beside it.
_HOUR = re.compile(
    r"\b(?:EOD|COB|close of (?:business|play)|end of (?:the )?(?:day|shift)|noon|midday|lunch(?:time)?|midnight"
    rf"|(?:(?<=\bby )|(?<=\bbefore )|(?<=\buntil )|(?<=\btill )|(?<=\bbis )|(?<=\bvor )){_HOUR_NAME}"
    r"|\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b\.?|\d{1,2}[:.]\d\d(?:\s?Uhr)?|\d{1,2}\s?Uhr(?:\s\d\d)?"
    r"|(?:vor|nach)?mittags?|abend|mitternacht|feierabend|dienstschluss|dienstende|schichtende|schichtwechsel|früh)\b",
    re.IGNORECASE,
)
_WEEKDAY_ALONE = re.compile(
    rf"(?:\w+\s+)?(?:{'|'.join(WEEKDAYS)}|\w+tag|mittwoch|sonnabend|mo|di|mi|do|fr|sa|so)\.?", re.IGNORECASE
)
_TELLS_UNTIL = frozenset({"by", "before", "until", "till", "no later than", "not later than", "due", "due by"})
_BETWEEN = re.compile(r"[\s,(]*(?:(?:on|the|of|den|dem|am|at|um|gegen)\s+)*")
# "Tomorrow before lunch", "Freitag bis 12 Uhr".
_BEFORE_HOUR = re.compile(r"[\s,(]*(?:(?:by|before|until|till|at|um|vor|bis|gegen|spätestens|dem|the|zum)\s+)*")
# "may" is a month only where it is written as one.
_MODAL_MAY = re.compile(r"\bmay$")
_FEASTS = "|".join(name.split("'")[0] for name in (*FIXED_FEASTS, *EASTER_FEASTS))
_MAYBE_DATED = re.compile(
    rf"\d|\b(?:{'|'.join(MONTHS)}|{'|'.join(WEEKDAYS)}|day|week|month|quarter|year|today|tonight|tomorrow|tmr|tmw"
    rf"|wk|fortnight|weekend|{_FEASTS}"
    rf"|(?:by|before|until|till|bis|vor) {_HOUR_NAME}"
    r"|yesterday|yday|yest|morning|afternoon|evening|night|EO[DWMQY]|COB|close of|end of|noon|midday|lunch|midnight"
    r"|heut|morgen|übermorgen|gestern|vorgestern|woche|kalenderwoche|monat|quartal|jahr|tage?n?\b|mittag|abend"
    r"|mitternacht|feierabend|dienst|schicht|nächst|kommend|ende\b|montag|mittwoch|donnerstag|freitag|samstag|sonn"
    r"|(?:bis|am|vor|ab|the) (?:mo|di|mi|do|fr|sa|so|\w+th)\b)",
    re.IGNORECASE,
)


# Whatever is resolved against this day has no year of its own.
_LONG_AGO = date(1000, 1, 1)
# With dots the day comes first wherever days are written so.
_TWO_READINGS = re.compile(r"(?:0?\d|1[012])/(?:0?\d|1[012])/\d+.*", re.DOTALL)


def read_dates(text: str, today: date, direction: DateDirection = "nearest") -> list[Mention]:
    """Every date that the text mentions, in order. A date without a year is taken in the given direction."""
    if not _MAYBE_DATED.search(text):
        return []
    found: list[Mention] = []
    for mention in _all_mentions(text, today, direction):
        if all(mention.end <= other.start or mention.start >= other.end for other in found):
            found.append(mention)
    return _joined(text, sorted(found, key=lambda mention: mention.start), today)


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
            yield Mention(match.start(), match.end(), period, lead_before(match) or _own_lead(match[0]))


def _own_lead(words: str) -> str:
    first = words.split(maxsplit=1)[0].lower()
    own = {
        "within": "within",
        "in": "in",
        "by": "by",
        "before": "before",
        "until": "until",
        "vor": "before",
        "deadline": "due",
        "due": "due",
        "frist": "due",
        "fällig": "due",
        "binnen": "within",
        "innerhalb": "within",
        "bis": "by",
        "ab": "from",
    }
    return own.get(first, "")


def _joined(text: str, mentions: list[Mention], today: date) -> list[Mention]:
    """ "By Friday, 20 March" is one day, and so is "EOD Thursday"; an hour alone is a deadline of today."""
    hours = [
        Mention(match.start(), match.end(), day(today), lead_before(match), is_hour=True)
        for match in _HOUR.finditer(text)
        if all(match.end() <= each.start or match.start() >= each.end for each in mentions)
    ]
    joined: list[Mention] = []
    for mention in sorted((*mentions, *hours), key=lambda one: one.start):
        last = joined[-1] if joined else None
        between = _BEFORE_HOUR if mention.is_hour else _BETWEEN
        if last is None or not between.fullmatch(text, last.end, mention.start):
            joined.append(mention)
        elif mention.is_hour and not last.is_hour:
            joined[-1] = replace(last, end=mention.end, lead=last.lead or mention.lead)
        elif last.is_hour or _yields(text, last, mention):
            joined[-1] = replace(mention, start=last.start, lead=last.lead or mention.lead)
        else:
            joined.append(mention)
    return [each for each in joined if not each.is_hour or each.lead in _TELLS_UNTIL]


def _yields(text: str, mention: Mention, behind: Mention) -> bool:
    """A weekday or the end of the day gives way to the date right after it; in "swap Monday the Friday" none does."""
    if _WEEKDAY_ALONE.fullmatch(text, behind.start, behind.end):
        return _HOUR.fullmatch(text, mention.start, mention.end) is not None
    return any(form.fullmatch(text, mention.start, mention.end) for form in (_WEEKDAY_ALONE, _HOUR))
