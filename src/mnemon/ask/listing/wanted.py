"""Reads a question as a list of events that is asked for: of which kind, from when to when, of whom."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mnemon.ask.frames import ENGLISH, Frames
from mnemon.ask.quoting.hearing import WORD
from mnemon.ask.quoting.needs import FILLERS
from mnemon.ask.quoting.periods import AskedPeriod, period_of
from mnemon.semantics.inputs import EventStatus
from mnemon.semantics.search.occasions import asked_for, without_kind
from mnemon.semantics.semantic_event import Category

_I = re.IGNORECASE
_CHANGED = re.compile(r"\b(?:chang(?:e|es|ed|ing)|is new|geändert|änderung\w*|verändert|neu)\b", _I)
_OPEN = re.compile(
    r"\b(?:(?:still )?open|outstanding|left to do|to-?dos?|action items?|open (?:tasks?|points?|items?)|tasks?|"
    r"offen\w*|ausstehend\w*|aufgaben?)\b|\bstill (?:has|have|need) to\b|\b(?:does|do) .+ (?:have|need) to do\b|"
    r"\b(?:must|should) .+ do\b|\bsupposed to do\b|\b(?:muss|müssen|soll|sollen) .+ (?:tun|machen|erledigen)\b", _I,
)  # fmt: skip
# Only what is not done yet; somebody's tasks without such a word are all that they took on.
_STILL = re.compile(r"\b(?:still|open|outstanding|left|noch|offen\w*|ausstehend\w*)\b", _I)
_TASKS = r"(?:tasks?|to-?dos?|action items?|duties|aufgaben?|pflichten)"
# "Emre's tasks", "Emres Aufgaben".
_WHOSE = re.compile(
    rf"\b(?:(?P<who>[^\W\d_][\w-]*)['’]s?\s+(?={_TASKS}\b)|(?P<wessen>(?-i:[A-ZÄÖÜ])[\w-]+)s\s+(?=(?:aufgaben?|pflichten)\b))",
    _I,
)
# When something is to be done, not when it was said.
_LATE = r"overdue|past due|überfällig\w*"
_OVERDUE = re.compile(rf"\b(?:{_LATE})\b", _I)
_DUE = re.compile(rf"\b(?:{_LATE}|due|deadlines?|fällig\w*|(?:abgabe)?fristen?|abgabetermine?)\b", _I)
_LISTS = re.compile(
    rf"^\W*(?:what|which|list|show|give|any|(?:are|is) there|was|welche\w*|nenne|zeige?|gib|gibt es|{_TASKS}"
    rf"|{_DUE.pattern})\b"
    rf"|^\W*(?:[^\W\d_][\w-]*\s+)?{_WHOSE.pattern}{_TASKS}\W*$",
    _I,
)
# As a time, the day of what is called so.
_MEETING = re.compile(
    r"\b(?:since|after|seit|nach) (?:the|our|der|dem|unserer|unserem) (?:last|latest|previous|letzten|jüngsten|"
    r"vorigen) (?:meetings?|calls?|stand-?ups?|syncs?|sitzung|besprechung|treffen|meeting|termin)\b", _I,
)  # fmt: skip
# What may stand beside the kind, the time and the person, and asks about nothing else.
_ASIDE = frozenset(
    """still open left outstanding new changed change changes made taken been things thing points point items item todo
    todos action list meeting project team everything anything raise raised named mention mentioned flag flagged see
    sees supposed
    noch offen offene offenen neu geändert sachen punkte getroffen gefasst tun erledigen machen sich genannt nennt sieht
    gemeldet angesprochen erwähnt""".split()  # noqa: SIM905
)
# Whoever does what the verb says, also where the name is written small; "about the price" is a matter.
_SUBJECT = re.compile(
    r"\b(?:did|do|does|has|have|had|must|will|hat|haben|hatte|muss|soll|wird)\s+(?:the\s+|our\s+|die\s+|der\s+|das\s+)?"
    r"([^\W\d_][\w-]+)\b", _I,
)  # fmt: skip
_TASKS_OF = re.compile(rf"\b([^\W\d_][\w-]+)\s+{_TASKS}\W*$", _I)
_JOINED = re.compile(r",|\b(?:and|or|und|oder)\b", _I)
# What is decided is often told as a change.
_LISTED: dict[Category, Sequence[Category]] = {
    Category.DECISION: (Category.DECISION, Category.CHANGE),
    Category.COMMITMENT: (Category.COMMITMENT,),
    Category.QUALITY_RISK: (Category.QUALITY_RISK,),
    Category.FEEDBACK: (Category.FEEDBACK,),
}


@dataclass(frozen=True)
class WantedEvents:
    """All events of these kinds within these limits."""

    categories: Sequence[Category]
    status: EventStatus | None
    # Names of those who take part, any of them; of a commitment, who owes it.
    people: Sequence[str]
    period: AskedPeriod | None
    # The period begins with the last meeting, whose day the library knows.
    since_meeting: bool = False
    # The period is when they are due; where nothing is due in it, it may be this time of the year before.
    by_due: bool = False
    year_before: AskedPeriod | None = None

    def understood(self, frames: Frames = ENGLISH) -> dict[str, str]:
        """The limits, as a person reads them."""
        told = {"kind": frames.joined([frames.say(one.value) for one in self.categories])}
        if self.status:
            told["state"] = frames.say(self.status)
        if self.people:
            told["person"] = f" {frames.say('or')} ".join(self.people)
        span = frames.span(self.period.first, self.period.last) if self.period else ""
        if self.by_due:
            told["due"] = frames.say("due", time=span) if span else frames.say("due_any")
        elif span:
            told["time"] = span
        return told


def wanted_events(question: str, today: date) -> WantedEvents | None:
    """None where more is asked than kind, time and person say: such a question is about a matter.

    "What did we decide?", with nothing beside it, asks for all of them.
    """
    if not _LISTS.match(question):
        return None
    question = _WHOSE.sub(lambda found: f"{found['who'] or found['wessen']} ", question)
    kind = _kind(question)
    if kind is None:
        return None
    categories, status = kind
    meeting = _MEETING.search(question)
    rest = _DUE.sub(" ", question.replace(meeting[0], " ") if meeting else question)
    by_due = bool(_DUE.search(question)) or (status == "open" and _is_ahead(question, today))
    periods = [] if meeting else _periods(question, today, by_due)
    if periods:
        rest = re.sub(re.escape(periods[0].words), " ", rest, flags=_I)
        rest = re.sub(re.escape(periods[0].words.partition(" ")[2] or periods[0].words), " ", rest, flags=_I)
    people = _people(without_kind(rest), question)
    if people is None:
        return None
    if people and not by_due and not _STILL.search(question):
        status = None
    period, before = (*periods, None, None)[:2]
    return WantedEvents(categories, status, people, period, meeting is not None, by_due, before)


def _periods(question: str, today: date, by_due: bool) -> list[AskedPeriod]:
    """The time that is meant; of what is due the next such time, and then that of a year before."""
    past = period_of(question, today)
    if not by_due:
        return [past] if past else []
    if _OVERDUE.search(question) and past is None:
        return [AskedPeriod(None, today - timedelta(days=1), "")]
    ahead = period_of(question, today, "future")
    return [one for one in (ahead, past if past != ahead and _is_year_before(past, ahead) else None) if one]


def _is_ahead(question: str, today: date) -> bool:
    """What is open "this week" or "by Friday" is due then; what is open "since May" was said then."""
    period = period_of(question, today, "future")
    return period is not None and not period.any_year and period.last is not None and period.last >= today


def _is_year_before(past: AskedPeriod | None, ahead: AskedPeriod | None) -> bool:
    """Not last Friday, where the coming one is meant."""
    days = [one and (one.last or one.first) for one in (past, ahead)]
    return bool(days[0] and days[1] and days[1] - days[0] > timedelta(days=300))


def _kind(question: str) -> tuple[Sequence[Category], EventStatus | None] | None:
    if _OPEN.search(question) or _DUE.search(question):
        return (Category.COMMITMENT,), "open"
    if _CHANGED.search(question):
        return (Category.CHANGE, Category.DECISION), None
    asked = asked_for(question)
    return (_LISTED[asked[0]], None) if asked and asked[0] in _LISTED else None


def _people(rest: str, question: str) -> list[str] | None:
    """Who is named in what is left of a question; None where anything else is."""
    found = [word for word in WORD.finditer(rest) if _tells(word[0])]
    if not all(word[0][0].isupper() for word in found):
        subject = _SUBJECT.search(question) or _TASKS_OF.search(question)
        return [found[0][0]] if len(found) == 1 and subject and subject[1] == found[0][0] else None
    names: list[str] = []
    for number, word in enumerate(found):
        name = word[0].removesuffix("'s").removesuffix("’s")
        if number and f"{found[number - 1][0]} {word[0]}" in question:
            names[-1] += f" {name}"
        elif number and not _JOINED.search(rest, found[number - 1].end(), word.start()):
            return None
        else:
            names.append(name)
    return names


def _tells(word: str) -> bool:
    """Not what asks, binds or stands beside."""
    return len(word) > 1 and word.lower() not in FILLERS and word.lower() not in _ASIDE
