"""What extraction reads: one immutable text, and what is known about where it came from."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from mnemon.documents.structure.reading import read_structure
from mnemon.documents.structure.structure import Hints, Structure, TextKind
from mnemon.semantics.rules.layout import Layout, layout_of
from mnemon.semantics.rules.people import People

SourceType = TextKind


# Behind an article, or a preposition that has one in it.
_GERMAN_NOUN = re.compile(
    r"\b(?:[Ee]ine[nmrs]?|[Kk]eine[nmrs]?|[AaIi]m|[Ii]ns|pro|je)\s+(?P<whole>(?P<first>\w+)(?:-\w+)*)"
)


@dataclass(frozen=True)
class RevisionChunk:
    """`[start, end)` of the revision's text."""

    start: int
    end: int
    chunk_id: str | None = None


@dataclass(frozen=True)
class Revision:
    """Read once, however many chunks ask: layout and people are found on first use."""

    revision_id: str
    text: str
    type: SourceType = "doc"
    written_at: datetime | None = None
    timezone: str = "UTC"
    title: str = ""
    sender: str | None = None
    participants: tuple[str, ...] = ()
    # The author's day, where it is another than that of `written_at`.
    written_on: date | None = None
    # As it was read when the revision was stored; a text from elsewhere is read on first use.
    structure: Structure | None = None

    @cached_property
    def layout(self) -> Layout:
        return layout_of(self.text, self._structure, self._written or self.today)

    @cached_property
    def _structure(self) -> Structure:
        return self.structure or read_structure(self.text, hints=Hints(self.type, self.participants))

    @cached_property
    def people(self) -> People:
        speakers = tuple(unit.speaker for unit in self.layout.units if unit.speaker)
        given = (*self.participants, *((self.sender,) if self.sender else ()))
        return People.known_from(self.text, (*given, *self.layout.preamble.people, *speakers))

    @cached_property
    def named_in_words(self) -> frozenset[str]:
        """Those whom its sentences name, and not only rows of a table."""
        said = " ".join(unit.text for unit in self.layout.units if unit.form != "row")
        return frozenset(name for name in self.people.names if name in said)

    @cached_property
    def german_nouns(self) -> frozenset[str]:
        """ "Bei einer Panne", "im Umkreis": nobody is one of several, or a place."""
        return frozenset(
            word for found in _GERMAN_NOUN.finditer(self.text) for word in (found["first"], found["whole"])
        )

    @cached_property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @cached_property
    def today(self) -> date | None:
        """The day that "tomorrow" is counted from, on the author's calendar."""
        if self.written_on:
            return self.written_on
        headed, written = self._structure.preamble.written_on, self._written
        # Notes of a visit are typed in the evening or sent the next morning: the day of their head is meant.
        return headed if written is None or headed == written - timedelta(days=1) else written

    @cached_property
    def _written(self) -> date | None:
        return self.written_at.astimezone(self.zone).date() if self.written_at else None

    @cached_property
    def written_until(self) -> datetime | None:
        """The last day that the text puts above what was said on it: minutes and chats go over many."""
        last = max((unit.day for unit in self.layout.units if unit.day), default=None)
        return datetime.combine(last, time(), self.zone) if last else None

    def day_at(self, position: int) -> date | None:
        """The day on which what stands there was said: a chat goes over many."""
        units = self.layout.units
        place = bisect_right(units, position, key=lambda unit: unit.start) - 1
        return (units[place].day if place >= 0 else None) or self.today

    @property
    def author(self) -> str | None:
        """Who "I" is where no speaker is named."""
        return self.sender or self.layout.preamble.author

    @property
    def addressee(self) -> str | None:
        """Who "you" is: who is greeted, or the only one it is sent to, or the one other person of a conversation."""
        author = self.people.full_name(self.author) if self.author else None
        preamble = self.layout.preamble
        for given in (preamble.greeted, preamble.recipients, self.participants):
            others = {name for each in given if (name := self.people.full_name(each)) != author}
            if len(others) == 1:
                return others.pop()
        return None

    def whole(self) -> Sequence[RevisionChunk]:
        return (RevisionChunk(0, len(self.text)),)
