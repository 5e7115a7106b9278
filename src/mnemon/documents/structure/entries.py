"""Lines that say when, and perhaps by whom, what stands below them was written: comments, days of a log, entries."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from mnemon.documents.structure.calendar_words import NO_YEAR
from mnemon.documents.structure.calendar_words import day as calendar_day
from mnemon.documents.structure.dates import Mention, read_dates
from mnemon.documents.structure.lines import UNFINISHED, Line

_LONGEST_HEAD = 100
# A line of prose that is as long as this and does not end has its end below.
_WRAPPED = 60
CLOCK = re.compile(
    r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?|\s?Uhr)?|\b\d{1,2}(?:\.\d{2})?\s?(?:[ap]m|Uhr)\b", re.IGNORECASE
)
WEEKDAY = re.compile(
    r"\b(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|mo|di|mi|do|fr|sa|so"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend)\b",
    re.IGNORECASE,
)
# "Comment 3", "Kommentar von", "commented": what makes a dated line with a name the head of a comment.
_COMMENTED = re.compile(
    r"\b(?:comment(?:ed|s)?|kommentar|kommentiert|reply|replied|antwort|antwortet|wrote|schrieb|schreibt|posted|added"
    r"|updated?|eintrag|notiz)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(r"\b(?:by|from|on|at|von|vom|am|um|den|the|nr)\b\.?|#?\b\d+\b|\([^()]*\)", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\((?P<name>[^\W\d_][^()\d]{1,30})\)")
_NAME_WORD = re.compile(r"@?[^\W\d_][\w.'’-]*")
_MOST_NAME_WORDS = 4
_AROUND = " \t-–—=*#[]():,.·|>_"
# After the date of an entry, before its words.
_ENTRY_GAP = re.compile(r"(?:\s{2,}|\t|\s*[-–—:|]\s+|\s*:\s*$)(?=\S|$)")
_LONGEST_DATE = 32


@dataclass(frozen=True, slots=True)
class EntryHead:
    """`begin` is where the words begin within the line; a head that fills its line has none."""

    day: date
    begin: int
    speaker: str | None = None


def entry_heads(lines: Sequence[Line], people: Sequence[str]) -> dict[int, EntryHead]:
    """By the start of their line."""
    heads = {line.start: head for line in lines if (head := _head(line.text))}
    wrapped = {line.start for before, line in pairwise(lines) if goes_on(before, line, heads)}
    found = [(line, heads[line.start]) for line in lines if line.start in heads and line.start not in wrapped]
    known = {part.lower() for name in people for part in (name, *name.split())}
    found = [(line, _with_known(line.text, head, known)) for line, head in found]
    comments = Counter(head.speaker for _, head in found if head.speaker)
    entries = sum(head.speaker is None for _, head in found)
    return {
        line.start: head
        for line, head in found
        if (_is_comment(line.text, head.speaker, comments, known) if head.speaker else entries > 1 or not head.begin)
    }


def goes_on(before: Line, line: Line, heads: Mapping[int, EntryHead]) -> bool:
    """A sentence that was wrapped may have a date where its next line begins: "in writing by / 24 April."."""
    if before.end + 1 != line.start or before.blank or before.start in heads:
        return False
    told = before.text.rstrip()
    if not any(map(str.isalnum, told)):
        # A line that is drawn across the page.
        return False
    return bool(UNFINISHED.search(told)) or (len(told) >= _WRAPPED and told[-1].isalnum())


def _is_comment(line: str, speaker: str, comments: Counter[str], known: set[str]) -> bool:
    if _COMMENTED.search(line) or all(word.strip(".@").lower() in known for word in speaker.split()):
        return True
    return comments[speaker] >= 2 and len(comments) >= 2


def _with_known(line: str, head: EntryHead, known: set[str]) -> EntryHead:
    """ "Di 11.08., Spätdienst (Ruslan)": whoever is known and stands in brackets wrote it."""
    told = _IN_BRACKETS.search(line) if head.speaker and head.speaker.lower() not in known else None
    return replace(head, speaker=told["name"]) if told and told["name"].lower() in known else head


def _head(line: str) -> EntryHead | None:
    stripped = line.strip()
    if not stripped or not any(map(str.isdigit, stripped[:_LONGEST_HEAD])):
        return None
    return _entry(line) or (_comment(stripped) if len(stripped) <= _LONGEST_HEAD else None)


def _entry(line: str) -> EntryHead | None:
    """A line that is a day, or that begins with one, well apart from its words."""
    opening = line[: _LONGEST_DATE + 12]
    mention = only_day(opening)
    if mention is None or WEEKDAY.sub("", opening[: mention.start]).strip(_AROUND):
        return None
    rest = line[mention.end :]
    if not rest.strip(_AROUND):
        return EntryHead(mention.period.first, 0)
    gap = _ENTRY_GAP.match(rest)
    return EntryHead(mention.period.first, mention.end + gap.end()) if gap else None


def _comment(line: str) -> EntryHead | None:
    """ "Comment 3 – K. Asante, 18.06.2026 16:45", "**anna-b** commented Feb 23"."""
    if line[-1] in "!?" or (line[-1] == "." and not line[-2:-1].isdigit()):
        return None
    mention = only_day(line)
    if mention is None or mention.lead in ("by", "before", "until", "till", "due"):
        return None
    rest = CLOCK.sub(" ", f"{line[: mention.start]} {line[mention.end :]}")
    rest = _FILLER.sub(" ", _COMMENTED.sub(" ", WEEKDAY.sub(" ", rest)))
    words = [word for word in re.split(r"[\s,;|·:*>\[\]–—]+", rest) if word.strip(_AROUND)]
    if not 1 <= len(words) <= _MOST_NAME_WORDS or not all(map(_NAME_WORD.fullmatch, words)):
        return None
    if not all(word.strip("@")[:1].isupper() for word in words) and len(words) > 1:
        return None
    return EntryHead(mention.period.first, 0, " ".join(words))


def only_day(text: str) -> Mention | None:
    """The first date of the text, if it is one day by its number; without its year it lies in the year `NO_YEAR`."""
    found = read_dates(CLOCK.sub(lambda clock: " " * len(clock[0]), text), date(NO_YEAR, 6, 1))
    if not found or found[0].period.first != found[0].period.last:
        return None
    mention = found[0]
    if not _NUMBERED_DAY.search(text, mention.start, mention.end):
        return None
    if abs(mention.period.first.year - NO_YEAR) <= 1:
        # Of two years about it, the one that has every day.
        return replace(mention, period=calendar_day(mention.period.first.replace(year=NO_YEAR)))
    return mention


_NUMBERED_DAY = re.compile(r"\d")
