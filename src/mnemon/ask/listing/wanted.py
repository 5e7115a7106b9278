"""Reads a question as a list of events that is asked for: of which kind, from when to when, of whom."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mnemon.ask.quoting.hearing import WORD
from mnemon.ask.quoting.needs import FILLERS
from mnemon.ask.quoting.periods import AskedPeriod, period_of
from mnemon.semantics.inputs import EventStatus
from mnemon.semantics.semantic_event import Category

_I = re.IGNORECASE
_DECIDED = re.compile(r"\b(?:decid\w+|decisions?|agreed|agreements?|beschlossen|beschlüsse\w*|beschluss|entschied\w*|"
                      r"entscheidung\w*|vereinbart)\b", _I)  # fmt: skip
_CHANGED = re.compile(r"\b(?:chang(?:e|es|ed|ing)|is new|geändert|änderung\w*|verändert|neu)\b", _I)
_OPEN = re.compile(
    r"\b(?:(?:still )?open|outstanding|left to do|to-?dos?|action items?|open (?:tasks?|points?|items?)|tasks?|"
    r"offen\w*|ausstehend\w*|aufgaben?)\b|\bstill (?:has|have|need) to\b|\b(?:does|do) .+ still (?:have|need) to do\b|"
    r"\b(?:muss|müssen) .+ noch (?:tun|machen|erledigen)\b", _I,
)  # fmt: skip
# When something is to be done, not when it was said.
_LATE = r"overdue|past due|überfällig\w*"
_OVERDUE = re.compile(rf"\b(?:{_LATE})\b", _I)
_DUE = re.compile(rf"\b(?:{_LATE}|due|deadlines?|fällig\w*|(?:abgabe)?fristen?|abgabetermine?)\b", _I)
_LISTS = re.compile(
    rf"^\W*(?:what|which|list|show|give|any|(?:are|is) there|was|welche\w*|nenne|zeige?|gib|gibt es|{_DUE.pattern})\b",
    _I,
)
# As a time, the day of what is called so.
_MEETING = re.compile(
    r"\b(?:since|after|seit|nach) (?:the|our|der|dem|unserer|unserem) (?:last|latest|previous|letzten|jüngsten|"
    r"vorigen) (?:meetings?|calls?|stand-?ups?|syncs?|sitzung|besprechung|treffen|meeting|termin)\b", _I,
)  # fmt: skip
# What may stand beside the kind, the time and the person, and asks about nothing else.
_ASIDE = frozenset(
    """still open left outstanding new changed change changes made taken been things thing points point items item tasks
    task todo todos action list decisions decision decide decides decided agree agreed agreements meeting project team
    everything anything
    noch offen offene offenen neu geändert sachen punkte aufgaben aufgabe beschlüsse entscheidungen getroffen gefasst
    tun erledigen machen beschlossen entschieden vereinbart sich""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class WantedEvents:
    """All events of these kinds within these limits."""

    categories: Sequence[Category]
    status: EventStatus | None
    # A word of the name of whoever takes part.
    person: str | None
    period: AskedPeriod | None
    # The period begins with the last meeting, whose day the library knows.
    since_meeting: bool = False
    # The period is when they are due; where nothing is due in it, it may be this time of the year before.
    by_due: bool = False
    year_before: AskedPeriod | None = None

    def understood(self) -> dict[str, str]:
        """The limits, as a person reads them."""
        told = {"kind": " and ".join(_PLURALS[one] for one in self.categories)}
        if self.status:
            told["state"] = self.status
        if self.person:
            told["person"] = self.person
        if self.by_due:
            told["due"] = f"due {_span(self.period)}" if self.period else "due on any day"
        elif self.period:
            told["time"] = _span(self.period)
        return told


_PLURALS = {Category.DECISION: "decisions", Category.CHANGE: "changes", Category.COMMITMENT: "commitments"}


def wanted_events(question: str, today: date) -> WantedEvents | None:
    """None where more is asked than kind, time and person say: such a question is about a matter.

    "What did we decide?", with nothing beside it, asks for all of them.
    """
    kind = _kind(question) if _LISTS.match(question) else None
    if kind is None:
        return None
    categories, status = kind
    meeting = _MEETING.search(question)
    rest = _DUE.sub(" ", question.replace(meeting[0], " ") if meeting else question)
    by_due = bool(_DUE.search(question))
    periods = [] if meeting else _periods(question, today, by_due)
    if periods:
        rest = re.sub(re.escape(periods[0].words), " ", rest, flags=_I)
        rest = re.sub(re.escape(periods[0].words.partition(" ")[2] or periods[0].words), " ", rest, flags=_I)
    names = [word for word in _beside(rest) if word.lower() not in _ASIDE]
    if len(names) > 2 or not all(word[0].isupper() for word in names):
        return None
    person = names[-1].removesuffix("'s").removesuffix("’s") if names else None
    period, before = (*periods, None, None)[:2]
    return WantedEvents(categories, status, person, period, meeting is not None, by_due, before)


def _periods(question: str, today: date, by_due: bool) -> list[AskedPeriod]:
    """The time that is meant; of what is due the next such time, and then that of a year before."""
    past = period_of(question, today)
    if not by_due:
        return [past] if past else []
    if _OVERDUE.search(question) and past is None:
        return [AskedPeriod(None, today - timedelta(days=1), "")]
    ahead = period_of(question, today, "future")
    return [one for one in (ahead, past if past != ahead and _is_year_before(past, ahead) else None) if one]


def _is_year_before(past: AskedPeriod | None, ahead: AskedPeriod | None) -> bool:
    """Not last Friday, where the coming one is meant."""
    days = [one and (one.last or one.first) for one in (past, ahead)]
    return bool(days[0] and days[1] and days[1] - days[0] > timedelta(days=300))


def _kind(question: str) -> tuple[Sequence[Category], EventStatus | None] | None:
    if _OPEN.search(question) or _DUE.search(question):
        return (Category.COMMITMENT,), "open"
    if _CHANGED.search(question):
        return (Category.CHANGE, Category.DECISION), None
    if _DECIDED.search(question):
        return (Category.DECISION, Category.CHANGE), None
    return None


def _beside(question: str) -> list[str]:
    """Words that neither ask nor bind."""
    return [found[0] for found in WORD.finditer(question) if found[0].lower() not in FILLERS and len(found[0]) > 1]


def _span(period: AskedPeriod) -> str:
    first, last = (one and f"{one.day} {one:%B %Y}" for one in (period.first, period.last))
    if first and last:
        return first if first == last else f"{first} to {last}"
    return f"from {first} on" if first else f"until {last}"
