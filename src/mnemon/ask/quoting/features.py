"""What is known of each statement with regard to a question, as numbers that a judgement can weigh."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property

from mnemon.ask.quoting import things, turning
from mnemon.ask.quoting.hearing import Hearing, folded, words_in
from mnemon.ask.quoting.needs import Need
from mnemon.ask.quoting.outlines import cells_of, is_blank
from mnemon.ask.quoting.periods import AskedPeriod, names_time_of, period_of
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.surroundings import StatementSource, Stretch
from mnemon.ask.quoting.told import ToldEvent, ToldEvents
from mnemon.ask.wording import says
from mnemon.search.terms import Term, rarity
from mnemon.semantics.search.occasions import asked_for
from mnemon.semantics.semantic_event import Category

# A word of like meaning counts so much of the word itself.
ALIKE = 0.6
# A word that no source has says little against a paraphrase, unless it is a name.
UNHEARD = 0.6
# In a small collection every word is common: rarity is reckoned as among so many texts at least.
MANY = 200
# What stands before a colon within so many characters may be a label.
LABEL = 60
_HARD = ("who", "when", "where", "how_many", "how_long", "how_much", "why")

# What is decided is often told as a change.
_TOLD_AS = {one: (one.value,) for one in Category} | {Category.DECISION: ("Decision", "Change")}

# What settles how something is done.
_SETTLES = (Category.DECISION, Category.CHANGE)

StatementValues = dict[str, float]


@dataclass(frozen=True)
class CandidateStatement:
    """A statement that may answer, where it stands, and what is known of it."""

    statement: Statement
    origin: StatementSource
    # Of the passage that it stands in or beside.
    passage_score: float
    values: StatementValues = field(default_factory=dict)
    events: Sequence[ToldEvent] = ()
    # The words of the question, by number, that it says or that stand over it.
    covers: frozenset[int] = frozenset()
    said: frozenset[int] = frozenset()
    # Those too that stand just before it, or that its text is about.
    around: frozenset[int] = frozenset()
    score: float = 0.0
    # The day on which it was said, where the text tells: by a stamp, or by a heading above.
    said_on: date | None = None

    @property
    def key(self) -> tuple[object, int, int]:
        return self.origin.doc_version_id, self.statement.start, self.statement.end

    @property
    def replaced(self) -> bool:
        return any(one.status == "superseded" for one in self.events)

    @property
    def day(self) -> datetime | None:
        if self.said_on is not None:
            return datetime(self.said_on.year, self.said_on.month, self.said_on.day, tzinfo=UTC)
        return self.origin.written_at

    def known(self, **more: float) -> "CandidateStatement":
        return replace(self, values=self.values | more)


class Weighing:
    """Measures statements for one question."""

    def __init__(
        self, need: Need, terms: Sequence[Term], texts: int, people: Sequence[str] = (), *, as_words: bool = False
    ) -> None:
        self.need = need
        self.as_words = as_words
        self.people = frozenset(folded(word) for name in people for word in words_in(name) if len(word) > 2)
        self.hearing = Hearing(need.words)
        self.weights = [_weight(number, word, need, terms, texts) for number, word in enumerate(need.words)]
        self.total = sum(self.weights) or 1.0
        self.unknown = frozenset(
            number for number, word in enumerate(need.words)
            if any(says(word.lower(), term.lexeme) and not term.texts for term in terms)
        )  # fmt: skip
        self.full = [_weight(number, word, need, terms, texts, unheard=1.0) for number, word in enumerate(need.words)]
        self.asked_people = frozenset(folded(need.words[number]) for number in need.names) & self.people
        self.asked_event = asked_for(need.question)
        self.period = period_of(need.question, datetime.now(UTC).date())
        # Statements of other times, which a question for what was decided or promised then leaves out.
        self.of_other_times = 0

    @cached_property
    def timed(self) -> bool:
        return bool(things.TIME.search(things.ANY_SUCH_DAY.sub(" ", self.need.question)))

    @cached_property
    def asks_now(self) -> bool:
        return not self.need.past and bool(turning.ASKS_NOW.search(self.need.question))

    @cached_property
    def asks_settled(self) -> bool:
        return not self.need.past and bool(turning.ASKS_SETTLED.search(self.need.question))

    @cached_property
    def bound_to(self) -> AskedPeriod | None:
        """The time that limits what may answer: of a question for events, the day or month that it names."""
        asked = self.asked_event is not None and not self.as_words
        return self.period if asked and self.period and self.period.is_dated else None

    def share(self, numbers: frozenset[int] | set[int]) -> float:
        return sum(self.weights[number] for number in numbers) / self.total

    def candidates(self, stretches: Sequence[Stretch], told: ToldEvents) -> list[CandidateStatement]:
        found: list[CandidateStatement] = []
        memories = sum(stretch.origin.memory is not None for stretch in stretches)
        for number, stretch in enumerate(stretches):
            # Memories come after all passages and are ranked among themselves.
            rank = number if stretch.origin.memory is None else number - (len(stretches) - memories)
            title = self._heard(f"{stretch.origin.title} {stretch.origin.opening}")
            for one in stretch.statements:
                if not one.text.strip() or things.GREETING.fullmatch(one.text):
                    continue
                said_on = stretch.day_at(one.start)
                measured = self.measured(one, stretch.origin, *_standing(stretch, one), rank, title, told, said_on)
                if self._is_of_other_time(measured):
                    self.of_other_times += 1
                else:
                    found.append(measured)
        return self._compared(found)

    def measured(
        self,
        one: Statement,
        origin: StatementSource,
        score: float,
        inside: bool,
        rank: int,
        title: frozenset[int],
        told: ToldEvents,
        said_on: date | None = None,
    ) -> CandidateStatement:
        need = self.need
        events = told.of(origin.doc_version_id, one.start, one.end)
        people = " ".join(event.people for event in events)
        text = one.text if things.END_OF.search(need.question) else things.END_OF.sub(" ", one.text)
        own, alike = self.hearing.heard_in(f"{text} {one.speaker or ''} {people} {self._told_by(events)}")
        heads = self._heard(" ".join((*one.headings, one.lead, *one.columns)))
        near = self._heard(f"{one.asked} {one.before}")
        asked = self._heard(one.asked) if one.asked else frozenset[int]()
        wide = own | alike | heads | near | title
        names = need.names or frozenset()
        by_name = sum(self.weights[number] for number in names) or 1.0
        first_heading = self._heard(one.headings[-1]) if one.headings else frozenset[int]()
        values: StatementValues = {
            "own": self.share(own) + ALIKE * self.share(alike),
            "heads": self.share(heads - own - alike),
            "near": self.share(near - own - alike - heads),
            "title": self.share(title - own - alike - heads - near),
            "missing": self.share(frozenset(range(len(need.words))) - wide),
            "unheard": sum(self.full[number] for number in self.unknown - wide) / (sum(self.full) or 1.0),
            "names_missing": sum(self.weights[number] for number in names - wide) / by_name if names else 0.0,
            "unknown_name": float(bool((names & self.unknown) - wide)),
            "numbers_missing": _numbers_missing(need, one, origin),
            "matter": self._matter(wide),
            "passage": score,
            "inside": float(inside),
            "rank": 1 / (1 + rank),
            "reply": self.share(asked - own) if one.asked else 0.0,
            "replies": float(bool(one.asked)),
            "section": self.share(first_heading) if one.place == 0 else 0.6 * self.share(first_heading),
        }
        values["in_time"] = self._in_time(one, said_on or (origin.written_at and origin.written_at.date()), events)
        values |= self._kind(one) | self._shape(one) | self._people(one, people, events) | self._events(events)
        covers = own | alike | heads
        return CandidateStatement(one, origin, score, values, events, covers, own, wide, said_on=said_on)

    def _told_by(self, events: Sequence[ToldEvent]) -> str:
        """What a statement says by telling of an event of the kind that is asked for: that it is one, and when."""
        wanted = [one for one in events if self._asks_for(one)]
        if not wanted or self.asked_event is None:
            return ""
        return " ".join(
            (self.asked_event[1], *(f"{one.happened_at:%d %B %Y}".lstrip("0") for one in wanted if not one.undated))
        )

    def _asks_for(self, event: ToldEvent) -> bool:
        """Whether it is of the kind that is asked for; a promise must be owed by one of those who are named."""
        if self.asked_event is None or event.category not in _TOLD_AS[self.asked_event[0]]:
            return False
        return not self._is_owed_by_others([event])

    def _is_owed_by_others(self, events: Sequence[ToldEvent]) -> bool:
        """Where it is asked what somebody promised: whether only promises of others are told."""
        asked = self.asked_event is not None and self.asked_event[0] == Category.COMMITMENT
        if not asked or not self.asked_people or things.PASSIVE.search(self.need.question):
            return False
        owners = [one.owners for one in events if one.category == Category.COMMITMENT and one.owners]
        return bool(owners) and not any({folded(word) for word in words_in(one)} & self.asked_people for one in owners)

    def _in_time(self, one: Statement, day: date | None, events: Sequence[ToldEvent]) -> float:
        """1 where it was at the time that the question names, or the text names that; -1 where it was not."""
        if self.period is None:
            return 0.0
        days = [event.happened_at.date() for event in events if not event.undated]
        if not days and day:
            days = [day]
        if any(map(self.period.holds, days)) or self.period.words.lower() in f"{one.text} {one.before}".lower():
            return 1.0
        return -1.0 if days else 0.0

    def _is_of_other_time(self, one: CandidateStatement) -> bool:
        """Whether it was at another time than the question is bound to, and neither it nor what stands over it names
        that. A memory has no day of its own."""
        if self.bound_to is None or one.values["in_time"] >= 0 or one.origin.memory is not None:
            return False
        said = one.statement
        around = " \n".join((said.text, said.before, said.lead, said.asked, *said.headings, one.origin.title))
        return not names_time_of(around, self.bound_to, one.day.date() if one.day else datetime.now(UTC).date())

    def _matter(self, heard: frozenset[int]) -> float:
        """The share of the question's words other than people's names."""
        rest = self.matters(frozenset(range(len(self.need.words))))
        total = sum(self.weights[number] for number in rest)
        return sum(self.weights[number] for number in rest if number in heard) / total if total else 1.0

    def matters(self, heard: frozenset[int]) -> frozenset[int]:
        """Those that are no names of people."""
        return frozenset(number for number in heard if folded(self.need.words[number]) not in self.asked_people)

    def _heard(self, text: str) -> frozenset[int]:
        said, alike = self.hearing.heard_in(text)
        return said | alike

    def _kind(self, one: Statement) -> StatementValues:
        need = self.need
        text = " ".join((one.text, *one.columns))
        hard = need.kind in _HARD
        fits = things.holds(need.kind, text) or (need.kind == "who" and one.speaker is not None)
        new = things.holds_new(need, one.text, one.speaker, self.people)
        reaches = need.contact is not None and not things.lacks_contact(need, one.text)
        cause = need.kind == "why" and any(things.holds("why", head) for head in one.headings[-1:])
        return {
            "fits": float(hard and (fits or cause)),
            "fits_new": float((hard and (new or cause)) or reaches),
            "no_contact": float(things.lacks_contact(need, one.text)),
            "names_somebody": float(things.names_somebody(need, one.text)),
            "fits_soft": float(not hard and fits),
            "stance": things.stance(need.question, one.text) if need.kind in ("who", "list") else 0.0,
            "left": things.is_left(need.question, one.done),
            "unit": float(things.counts_unit(need, one.text)),
            "list_item": float(need.kind == "list" and one.kind in ("item", "row")),
            "plain_what": float(need.kind in ("what", "how", "list", "definition")),
        }

    def _shape(self, one: Statement) -> StatementValues:
        length = len(one.text.split())
        return {
            "question": self._asks(one.text),
            "empty": float(bool(things.EMPTY.fullmatch(one.text)) or length < 2),
            "short": float(length < 4 and one.kind == "sentence"),
            "long": max(0.0, math.log(max(length, 1) / 25)),
            "quoted": float(one.quoted),
            "code": float(one.kind == "code"),
            "row": float(one.kind == "row"),
            "blank": self._blank(one),
            "item": float(one.kind == "item"),
            "update": float(bool(turning.UPDATE.search(one.text))),
            "once": float(bool(turning.ONCE.search(one.text))) * (-1 if self.need.past else 1),
            "denies": float(bool(turning.DENIAL.search(one.text))),
            "amends": float(amends(one)),
            "changes_now": float(self.asks_now and bool(turning.CHANGES.search(one.text))),
        }

    def _asks(self, text: str) -> float:
        """1 for a question; also where what follows it says nothing of the matter, less so if that may still answer."""
        if things.QUESTION.search(text):
            return 1.0
        asked, mark, rest = text.rpartition("? ")
        if not mark or self.hearing.heard_in(rest)[0] or not self.hearing.heard_in(asked)[0]:
            return 0.0
        return 0.5 if things.holds_new(self.need, rest, None, self.people) else 1.0

    def _blank(self, one: Statement) -> float:
        """1 for a row that says nothing in the column that the question names."""
        cells = cells_of(one.text) if one.columns else []
        if len(cells) != len(one.columns) or len(cells) < 2:
            return 0.0
        named = [len(self._heard(head)) for head in one.columns[1:]]
        most = max(named)
        return float(most > 0 and all(is_blank(cell) for cell, n in zip(cells[1:], named, strict=True) if n == most))

    def _people(self, one: Statement, involved: str, events: Sequence[ToldEvent]) -> StatementValues:
        """Whether those whom the question names say it, or are named in it; or somebody else says it."""
        if not self.asked_people:
            return {"by_named": 0.0, "of_named": 0.0, "of_other": 0.0, "of_themselves": 0.0}
        speaker = {folded(word) for word in words_in(one.speaker or "")}
        named = {folded(word) for word in words_in(f"{one.text} {involved}")}
        says_it = bool(speaker & self.asked_people)
        of_it = bool(named & self.asked_people) and not self._is_owed_by_others(events)
        other = bool(named & (self.people - self.asked_people)) or bool(speaker and not says_it)
        return {
            "by_named": float(says_it),
            "of_named": float(of_it and not says_it),
            "of_other": float(other and not says_it and not of_it),
            "of_themselves": float(bool(speaker) and not says_it and not of_it and things.is_first_person(one.text)),
        }

    def _events(self, events: Sequence[ToldEvent]) -> StatementValues:
        return {
            "told": float(any(self._asks_for(one) for one in events)),
            "event": float(bool(events)),
            "settles": float(self.asks_settled and any(one.category in _SETTLES for one in events)),
            "replaced": float(any(one.status == "superseded" for one in events)) * (-0.5 if self.need.past else 1),
        }

    def _compared(self, found: list[CandidateStatement]) -> list[CandidateStatement]:
        """With what a statement is only beside others: how new its document is, how late it stands among its likes."""
        dated = [one.day.timestamp() for one in found if one.day]
        oldest, newest = min(dated, default=0.0), max(dated, default=0.0)
        most = max((one.values["own"] + one.values["heads"] for one in found), default=0.0)
        alike = [one for one in found if one.values["own"] + one.values["heads"] >= 0.75 * most]
        compared = []
        for one in found:
            new = (one.day.timestamp() - oldest) / (newest - oldest) if one.day and newest > oldest else 0.0
            own = [other.statement.start for other in alike if other.origin.doc_version_id == one.origin.doc_version_id]
            among = len(own) > 1 and one.values["own"] + one.values["heads"] >= 0.75 * most
            late = sum(start < one.statement.start for start in own) / (len(own) - 1) if among else 0.0
            timed = self.timed or self.need.past
            compared.append(one.known(newer=0.0 if timed else new, later=late * (-1 if self.need.past else 1)))
        return compared


def amends(one: Statement) -> bool:
    """Whether it was put to its text later: a heading over it says so, or its first words do ("Update 25 April: …")."""
    head, mark, _ = one.text[:LABEL].partition(":")
    return any(turning.AMENDS.search(over) for over in (*one.headings, head if mark else ""))


def _standing(stretch: Stretch, one: Statement) -> tuple[float, bool]:
    """The score of the passage that holds it; of one beside it, a little less."""
    if not stretch.hits:
        return stretch.score, True
    inside = [hit.score for hit in stretch.hits if hit.start <= one.start < hit.end or one.start <= hit.start < one.end]
    if inside:
        return max(inside), True
    return 0.9 * max(hit.score for hit in stretch.hits), False


def _numbers_missing(need: Need, one: Statement, origin: StatementSource) -> float:
    if not need.numbers:
        return 0.0
    around = " ".join(
        (one.text, *one.headings, one.lead, one.asked, one.before, one.after, origin.title, origin.opening)
    )
    day = origin.written_at.date().isoformat() if origin.written_at else ""
    told = set(things.DIGITS.findall(f"{around} {day} {day.replace('-', ' ')}"))
    return sum(number not in told for number in need.numbers) / len(need.numbers)


def _weight(number: int, word: str, need: Need, terms: Sequence[Term], texts: int, unheard: float = UNHEARD) -> float:
    """The rarer a word of the question, the more it counts; one that no source has, less, unless it is a name."""
    own = [term.texts for term in terms if says(word.lower(), term.lexeme)]
    if not own:
        return rarity(MANY // 4, MANY)
    weight = rarity(min(own), max(texts, MANY))
    return unheard * weight if not any(own) and number not in need.names else weight
