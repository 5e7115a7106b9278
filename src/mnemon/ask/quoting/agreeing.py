"""Where each word of a question stands, seen from a statement: said, around it, elsewhere, nowhere, or another of its
kind in its place."""

from collections import defaultdict
from collections.abc import Sequence

from mnemon.ask.learned.pairs import Heard
from mnemon.ask.quoting import things
from mnemon.ask.quoting.features import CandidateStatement, StatementValues, Weighing
from mnemon.ask.quoting.hearing import folded, words_in
from mnemon.ask.quoting.needs import Need
from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS

_MONTHS = frozenset(map(folded, MONTHS))
_WEEKDAYS = frozenset(map(folded, WEEKDAYS)) | {
    "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonnabend", "sonntag",
}  # fmt: skip


def heard_in_each(found: Sequence[CandidateStatement], weighing: Weighing) -> list[tuple[int, ...]]:
    """For each statement, of every word of the question where that stands."""
    in_text: dict[object, set[int]] = defaultdict(set)
    for one in found:
        in_text[one.origin.doc_version_id] |= one.around
    return [_heard(one, in_text[one.origin.doc_version_id], weighing) for one in found]


def with_agreement(found: Sequence[CandidateStatement], weighing: Weighing) -> list[CandidateStatement]:
    heard = heard_in_each(found, weighing)
    return [one.known(**agreement(marks, weighing.need)) for one, marks in zip(found, heard, strict=True)]


def agreement(heard: Sequence[int], need: Need) -> StatementValues:
    """What that says of a statement: whether it has another number, time or person than is asked about; the share of
    the question's words, and of its names, that stand nowhere."""
    names = [mark for number, mark in enumerate(heard) if number in need.names]
    return {
        "instead": float(Heard.OTHER in heard),
        "nowhere": sum(mark == Heard.NOWHERE for mark in heard) / max(1, len(heard)),
        "names_nowhere": sum(mark == Heard.NOWHERE for mark in names) / max(1, len(names)),
    }


def _heard(one: CandidateStatement, in_text: set[int], weighing: Weighing) -> tuple[int, ...]:
    others = _kinds_in(one, weighing)
    return tuple(
        int(
            Heard.SAID if number in one.said
            else Heard.AROUND if number in one.around
            else Heard.OTHER if _kind_of(number, word, weighing) in others
            else Heard.ELSEWHERE if number in in_text
            else Heard.NOWHERE
        )
        for number, word in enumerate(weighing.need.words)
    )  # fmt: skip


def _kind_of(number: int, word: str, weighing: Weighing) -> str:
    plain = folded(word)
    if plain.isdigit():
        return "number"
    if plain in _MONTHS:
        return "month"
    if plain in _WEEKDAYS:
        return "weekday"
    return "person" if plain in weighing.people and number in weighing.need.names else ""


def _kinds_in(one: CandidateStatement, weighing: Weighing) -> set[str]:
    """Of what the statement has a number, a month, a weekday or a person that the question has not."""
    asked = {folded(word) for word in weighing.need.words}
    said = {folded(word) for word in words_in(f"{one.statement.text} {one.statement.speaker or ''}")} - asked
    kinds = {"number"} if set(things.DIGITS.findall(one.statement.text)) - weighing.need.numbers else set()
    kinds |= {"month"} if said & _MONTHS else set()
    kinds |= {"weekday"} if said & _WEEKDAYS else set()
    return kinds | ({"person"} if said & weighing.people else set())
