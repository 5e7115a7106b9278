"""A later statement of the same text or thread that moves a time or changes a figure: it stands, what it moved does
not."""

import re
from collections.abc import Sequence
from datetime import date

from mnemon.ask.quoting import things, turning
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.hearing import folded
from mnemon.ask.quoting.neighbours import is_of_another
from mnemon.ask.quoting.surroundings import StatementSource
from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS

_AMOUNTS = ("how_much", "how_many")
_THREAD = re.compile(r"\A(?:(?:re|aw|fwd?|wg|antw)\s*:\s*)+", re.IGNORECASE)
MAIL = "message/rfc822"
_CALENDAR = frozenset(map(folded, (*MONTHS, *WEEKDAYS)))
# It says so much of what the statement says of the question; less will do so near behind it, in characters.
AS_MUCH, NEAR = 0.5, 1_500


def what_moved(
    one: CandidateStatement, found: Sequence[CandidateStatement], weighing: Weighing
) -> CandidateStatement | None:
    """The last statement after `one` in its text, or in a later message of its thread, that sets anew what is asked
    for."""
    if weighing.need.past or weighing.need.kind not in ("when", *_AMOUNTS, "what", "definition"):
        return None
    later = [other for other in found if _sets_anew(one, other, weighing)]
    return max(
        later, key=lambda other: ((other.day and other.day.isoformat()) or "", other.statement.start), default=None
    )


def thread_of(one: CandidateStatement, weighing: Weighing) -> str | None:
    """The subject of the mail that it stands in, where a later message may set anew what is asked for."""
    moves = weighing.need.kind in ("when", *_AMOUNTS) and not weighing.need.past
    mail = one.origin.media_type == MAIL and one.origin.written_at is not None
    return subject_of_thread(one.origin) if moves and mail else None


def is_of_thread(one: StatementSource, other: StatementSource) -> bool:
    return one.media_type == other.media_type == MAIL and subject_of_thread(one) == subject_of_thread(other)


def subject_of_thread(one: StatementSource) -> str:
    return _THREAD.sub("", one.title)


def told_when(later: CandidateStatement, one: CandidateStatement) -> date | None:
    """The day of a turn of a talk or of a later message; that of a whole document tells nothing of when its lines were
    written."""
    own = later.said_on or later.origin.doc_version_id != one.origin.doc_version_id
    return later.day if own else None


def _sets_anew(one: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> bool:
    text = other.statement.text
    if (
        not _is_after(one, other)
        or other.values["quoted"]
        or turning.DOUBT.search(text)
        or not _is_move(text, weighing)
    ):
        return False
    same_text = other.origin.doc_version_id == one.origin.doc_version_id
    # What stands over it says what it is about: "The fair", and below "It is on 3 May".
    matter, theirs = (
        (one.said | one.covers, other.said) if same_text else (_heard(one, weighing), _heard(other, weighing))
    )
    # Words of the matter that both say; a weekday or a month is none.
    matter = frozenset(number for number in matter if folded(weighing.need.words[number]) not in _CALENDAR)
    common = matter & theirs
    near = not same_text or other.statement.start - one.statement.end <= NEAR
    if not common or not (near or weighing.share(common) >= AS_MUCH * weighing.share(matter)):
        return False
    new = _values(text, weighing) - _values(one.statement.text, weighing)
    return bool(new) and not is_of_another(one, other, weighing)


def _heard(one: CandidateStatement, weighing: Weighing) -> frozenset[int]:
    """Also in other words: a later message seldom repeats those of an earlier one."""
    said, alike = weighing.hearing.heard_in(one.statement.text)
    return said | alike


def _is_after(one: CandidateStatement, other: CandidateStatement) -> bool:
    """Further down in the same text, or in a later message of the same subject."""
    mine, others = one.origin, other.origin
    if mine.doc_version_id == others.doc_version_id:
        return other.statement.start >= one.statement.end
    if not mine.written_at or not others.written_at:
        return False
    return is_of_thread(mine, others) and others.written_at > mine.written_at


def _is_move(text: str, weighing: Weighing) -> bool:
    if weighing.need.kind in _AMOUNTS:
        gives = things.holds_new(weighing.need, text, None, weighing.people)
        return gives and any(one.search(text) for one in (turning.MOVES, turning.ALTERS, turning.NEW_ONE))
    return bool((turning.MOVES if weighing.need.kind == "when" else turning.NEW_ONE).search(text))


def _values(text: str, weighing: Weighing) -> set[str]:
    if weighing.need.kind == "when":
        return {found[0].lower() for found in things.TIME.finditer(text)}
    return set(things.DIGITS.findall(text)) - weighing.need.numbers
