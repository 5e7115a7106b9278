"""Chooses what an answer quotes: the best statement, what replaced or denied it, the other side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from mnemon.ask.frames import Note
from mnemon.ask.proven import SentenceRole
from mnemon.ask.quoting import things, turning
from mnemon.ask.quoting.beside import quoted_beside
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.hearing import folded, words_in
from mnemon.ask.quoting.later import said_anew
from mnemon.ask.quoting.moved import told_when, what_moved
from mnemon.ask.quoting.needs import matter_of
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.told import Successor, ToldEvent, ToldEvents

MOST_SENTENCES, MOST_ITEMS = 3, 12
# How far behind the best a further statement may be, by what it is: another of its list or kind, what another document
# says of the same. Scores are logarithms of odds.
ONE_MORE, RIVAL = 3.0, 1.8
# A rival must say so much of what the best says.
AS_MUCH, AS_MUCH_COVERED = 0.9, 0.6
# A denial that does not point back says so much of what it denies.
SAME_MATTER = 0.3


@dataclass(frozen=True)
class Choice:
    """A statement of the answer: what it is to it, and what is to be said about that."""

    candidate: CandidateStatement
    role: SentenceRole = "answer"
    note: Note | None = None


def choose(found: Sequence[CandidateStatement], weighing: Weighing, told: ToldEvents) -> list[Choice]:
    """Of candidates, best first. What stands comes first, with what it replaced after it."""
    if not found:
        return []
    if len(items := _of_one_kind(found, weighing)) > 1:
        return told_once(_as_they_stand(items, found, weighing, told))
    choices = _as_they_stand(found[:1], found, weighing, told)
    if len(choices) == 1:
        choices = _with_rival(choices[0], found, weighing)
    more = _beside(found, weighing)
    if len(choices) > 1:
        return told_once([*choices, *_as_they_stand(more, found, weighing, told)])[:MOST_SENTENCES]
    chosen = [found[0], *more]
    chosen = chosen if weighing.need.kind != "what" else _by_document(chosen)
    return told_once(_as_they_stand(chosen, found, weighing, told))


def _as_they_stand(
    chosen: Sequence[CandidateStatement], found: Sequence[CandidateStatement], weighing: Weighing, told: ToldEvents
) -> list[Choice]:
    """Each with what it replaced or was replaced by, what denies it and what moved it."""
    choices = [choice for one in chosen for choice in _as_it_stands(one, found, weighing, told)]
    return _with_moves(_with_denials(choices, found), found, weighing)


def _of_one_kind(found: Sequence[CandidateStatement], weighing: Weighing) -> list[CandidateStatement]:
    """Items of one list, or events of the kind that is asked for: each is an answer of its own. Where the best says the
    matter itself, one that has it from its title alone is of something else."""
    best = found[0]
    if weighing.asked_event and best.values["told"]:
        more = [
            one for one in found
            if one.values["told"] and one.score >= best.score - ONE_MORE and one.covers >= best.covers
            and one.said >= best.said and not one.values["of_other"]
        ]  # fmt: skip
        return in_reading_order(_said_once(more)[:MOST_ITEMS])
    several = weighing.need.kind == "list" and best.statement.kind in ("item", "row")
    if not several:
        return []
    own = [
        one for one in found
        if one.origin.doc_version_id == best.origin.doc_version_id and one.statement.kind == best.statement.kind
        and one.statement.group == best.statement.group and one.statement.headings == best.statement.headings
        and one.score >= best.score - ONE_MORE
    ]  # fmt: skip
    return in_reading_order(own[:MOST_ITEMS])


def _beside(found: Sequence[CandidateStatement], weighing: Weighing) -> list[CandidateStatement]:
    """Where the judgement cannot tell, the reader can."""
    best, more = found[0], quoted_beside(found, weighing)
    cause = _cause_before(best, found) if weighing.need.kind == "why" else None
    chosen = [
        one for one in more
        if not (_is_other_row(best, one) or _is_beside_row(best, one) or _led_to(best, one, weighing))
    ]  # fmt: skip
    return [cause, *(one for one in chosen if one.key != cause.key)] if cause else chosen


def _cause_before(best: CandidateStatement, found: Sequence[CandidateStatement]) -> CandidateStatement | None:
    """ "The floor does not carry it. So we cancelled the order.": what follows from the sentence before it."""
    if not turning.THEREFORE.match(best.statement.text):
        return None
    of_text = (one for one in found if one.origin.doc_version_id == best.origin.doc_version_id)
    return next((one for one in of_text if one.statement.text == best.statement.before), None)


def _led_to(best: CandidateStatement, one: CandidateStatement, weighing: Weighing) -> bool:
    """Where it is asked what was decided or promised: the talk that came before is neither."""
    told = weighing.asked_event and best.values["told"] and not one.values["told"]
    same = one.origin.doc_version_id == best.origin.doc_version_id
    return bool(told and same and one.statement.start < best.statement.start)


def _is_other_row(best: CandidateStatement, one: CandidateStatement) -> bool:
    """Rows of a table differ in what they are of: one that leaves out what the best names is of something else."""
    rows = best.statement.kind == one.statement.kind == "row"
    return rows and best.origin.doc_version_id == one.origin.doc_version_id and not best.said <= one.said


def _is_beside_row(best: CandidateStatement, one: CandidateStatement) -> bool:
    """A row that gives what is asked for needs no sentence beside it that does not."""
    gives = best.statement.kind == "row" and best.values["fits_new"]
    return bool(gives and one.statement.kind != "row" and not one.values["fits_new"])


def _by_document(chosen: Sequence[CandidateStatement]) -> list[CandidateStatement]:
    """The best document first, and within each from its beginning."""
    order = list(dict.fromkeys(one.origin.doc_version_id for one in chosen))
    return sorted(chosen, key=lambda one: (order.index(one.origin.doc_version_id), one.statement.start))


def _as_it_stands(
    one: CandidateStatement, found: Sequence[CandidateStatement], weighing: Weighing, told: ToldEvents
) -> list[Choice]:
    """A statement that was replaced comes after what stands in its place, and says so."""
    if not one.replaced:
        return [Choice(one), *_what_it_replaced(one, found, told)]
    for event in one.events:
        successor = told.successor(event) if event.status == "superseded" else None
        if successor is None:
            continue
        standing, when = _candidate_of(successor, found), day_told(successor.event)
        if standing.key == one.key:
            return [Choice(one)]
        if weighing.need.past or weighing.timed or not _is_of_matter(standing, one, weighing):
            return [Choice(one, "answer", Note("until", when)), Choice(standing, "since", Note("since", when))]
        return [Choice(standing), Choice(one, "replaced", Note("replaced", when))]
    return [Choice(one, "replaced", Note("replaced"))]


def _is_of_matter(standing: CandidateStatement, one: CandidateStatement, weighing: Weighing) -> bool:
    """Whether what stands says a word of the question, as what it replaced does: by itself it may say nothing of it."""
    said, alike = weighing.hearing.heard_in(standing.statement.text)
    return not one.said or bool((said | alike | standing.covers) & one.covers)


def _what_it_replaced(one: CandidateStatement, found: Sequence[CandidateStatement], told: ToldEvents) -> list[Choice]:
    """The first of what was found that this statement stands in the place of."""
    own = {event.event_id: event for event in one.events}
    for other in found:
        for event in other.events:
            successor = told.successor(event) if event.status == "superseded" else None
            if successor and successor.event.event_id in own and other.key != one.key:
                return [Choice(other, "replaced", Note("replaced", day_told(successor.event)))]
    return []


def _candidate_of(successor: Successor, found: Sequence[CandidateStatement]) -> CandidateStatement:
    """Among what was found already, where its whole sentence is known; else just its quote."""
    event = successor.event
    for one in found:
        place = one.statement
        if one.origin.doc_version_id == event.revision and place.start < event.end and event.start < place.end:
            return one
    statement = Statement(event.start, event.end, successor.quote, "event")
    return CandidateStatement(statement, successor.origin, 0.0, {}, (event,))


def _with_denials(choices: Sequence[Choice], found: Sequence[CandidateStatement]) -> list[Choice]:
    """Where the next sentences deny a statement, the denial comes first and the statement is marked."""
    chosen: list[Choice] = []
    for choice in choices:
        denial = _denial_of(choice.candidate, found) if choice.role == "answer" else None
        if denial is None:
            chosen.append(choice)
            continue
        chosen.append(Choice(denial))
        chosen.append(replace(choice, role="denied", note=Note("denied")))
    return chosen


def _with_moves(
    choices: Sequence[Choice], found: Sequence[CandidateStatement], weighing: Weighing
) -> list[Choice]:  # fmt: skip
    """Where a later statement moved the time or changed the figure, that comes first."""
    chosen: list[Choice] = []
    for choice in choices:
        one, standing = choice.candidate, None
        if choice.role == "answer":
            standing = what_moved(one, found, weighing)
            if standing is None and one.key == found[0].key:
                standing = said_anew(one, found, weighing)
        if standing is None:
            chosen.append(choice)
            continue
        note = Note("replaced", told_when(standing, one))
        chosen += [Choice(standing), replace(choice, role="replaced", note=note)]
    return chosen


def _denial_of(one: CandidateStatement, found: Sequence[CandidateStatement]) -> CandidateStatement | None:
    if turning.DENIAL.search(one.statement.text):
        return None
    after = [
        other for other in found
        if other.origin.doc_version_id == one.origin.doc_version_id and other.statement.start > one.statement.start
    ]  # fmt: skip
    for other in sorted(after, key=lambda each: each.statement.start)[:2]:
        near = other.statement.group - one.statement.group <= 1
        # What opens another section, or denies another sentence right before it, says nothing of this one.
        same = other.statement.headings == one.statement.headings and other.statement.before in ("", *_said_by(one))
        if near and same and turning.DENIAL.search(other.statement.text) and _may_deny(other, one):
            return other
    return None


def _may_deny(denial: CandidateStatement, one: CandidateStatement) -> bool:
    """What says "that is not true" denies what stands before it; what names something that is wrong, or is an item or
    row of its own, only what is of the same matter."""
    said, text = denial.statement, denial.statement.text
    if said.kind == "row":
        return False
    alone = said.kind == "item" and said.place == 0
    names_it = turning.NAMES_RUMOUR.search(text) or turning.DENIES_THAT.search(text)
    if turning.DENIES_IT.search(text) and not alone and not names_it:
        return True
    matter = matter_of(one.statement.text)
    return len(matter & matter_of(text)) >= SAME_MATTER * max(1, len(matter))


def _said_by(one: CandidateStatement) -> tuple[str, str]:
    """The statement, and the one after it where that is of the same rumour."""
    said, after = one.statement.text, one.statement.after
    return said, after if matter_of(said) & matter_of(after) else said


def _with_rival(choice: Choice, found: Sequence[CandidateStatement], weighing: Weighing) -> list[Choice]:
    """What another document says of the same matter: the newer first, and both sides where none is newer."""
    best = choice.candidate
    if weighing.timed or weighing.need.past or choice.role != "answer":
        return [choice]
    for other in found:
        if other.key == best.key or other.score < best.score - RIVAL or not _is_rival(best, other, weighing):
            continue
        mine, others = _day(best), _day(other)
        if mine is not None and others is not None and mine != others:
            newer, older = (other, best) if others > mine else (best, other)
            changed = newer.values["update"] or newer.values["replaced"] != older.values["replaced"]
            if newer is best and not changed and not _differ(best, other, weighing):
                continue
            return [Choice(newer), Choice(older, "earlier", Note("earlier", _day(older)))]
        if _differ(best, other, weighing):
            return [choice, Choice(other, "disagrees", Note("disagrees"))]
    return [choice]


def _is_rival(best: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> bool:
    if best.origin.doc_id == other.origin.doc_id or other.values["question"]:
        return False
    said = weighing.share(best.said)
    covered = weighing.share(best.covers)
    return (
        weighing.share(other.said & best.said) >= AS_MUCH * said
        and weighing.share(other.covers & best.covers) >= AS_MUCH_COVERED * covered
        and said > 0
    )


def _differ(one: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> bool:
    """Whether two statements give different things of the kind that is asked for."""
    first, second = (_values(each.statement.text, weighing) for each in (one, other))
    return bool(first and second and not first & second)


def _values(text: str, weighing: Weighing) -> set[str]:
    if weighing.need.kind in ("how_many", "how_much", "how_long", "when"):
        return set(things.DIGITS.findall(text)) - weighing.need.numbers
    if weighing.need.kind == "who":
        asked = {folded(word) for word in weighing.need.words}
        return {folded(word) for word in words_in(text) if folded(word) in weighing.people} - asked
    return set()


def told_once(choices: Sequence[Choice]) -> list[Choice]:
    """Each statement once, in its first role; also where a copy of its document says it with the same words. What one
    replaced, or came after, stays beside it."""
    kept: list[Choice] = []
    said: list[str] = []
    at = 0
    for choice in choices:
        words = folded_words(choice.candidate.statement.text)
        if words in said:
            at = said.index(words) + 1
            continue
        at = len(kept) if choice.role == "answer" else at
        kept.insert(at, choice)
        said.insert(at, words)
        at += 1
    return kept


def _said_once(found: Sequence[CandidateStatement]) -> list[CandidateStatement]:
    """Of those with the same words the latest, and of one day what is known to be replaced."""
    kept: dict[str, CandidateStatement] = {}
    for one in found:
        words = folded_words(one.statement.text)
        held = kept.get(words)
        if held is None or _fate(one) > _fate(held):
            kept[words] = one
    return list(kept.values())


def _fate(one: CandidateStatement) -> tuple[str, bool]:
    return one.day.isoformat() if one.day else "", one.replaced


def folded_words(text: str) -> str:
    return " ".join(folded(word) for word in text.split())


def in_reading_order(chosen: Sequence[CandidateStatement]) -> list[CandidateStatement]:
    """Older documents first, and within each from its beginning."""

    def place(one: CandidateStatement) -> tuple[str, str, int]:
        written = one.day.isoformat() if one.day else ""
        return written, f"{one.origin.title} {one.origin.doc_version_id}", one.statement.start

    return sorted(chosen, key=place)


def with_day_said(choice: Choice) -> Choice:
    """ "It comes tomorrow" answers when only beside the day on which that was said."""
    one = choice.candidate
    relative = things.FROM_THEN_ON.search(one.statement.text)
    if choice.note is not None or choice.role != "answer" or not relative or one.day is None:
        return choice
    return replace(choice, note=Note("said", one.day.date()))


def _day(one: CandidateStatement) -> date | None:
    return one.day.date() if one.day else None


def day_told(event: ToldEvent) -> date | None:
    return None if event.undated else event.happened_at
