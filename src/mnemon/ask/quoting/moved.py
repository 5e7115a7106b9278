"""A later statement of the same text or thread that moves a time or changes a figure: it stands, what it moved does
not."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

from mnemon.ask.quoting import things
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.hearing import folded
from mnemon.ask.quoting.neighbours import is_of_another
from mnemon.ask.quoting.surroundings import StatementSource
from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS
from mnemon.semantics.rules.word_lists import STATT

# Words by which something is set anew. What merely happens "now" or "again" is not enough.
MOVES = re.compile(
    r"\b(?:instead|mov(?:e|es|ed|ing)|postpon\w+|push(?:ed|ing|es)? (?:\w+ ){0,3}(?:back|out|to|until)|reschedul\w+|"
    r"shift(?:ed|s)?|slip(?:s|ped)?|brought forward|bring \w+ forward|chang(?:e|es|ed) (?:of plan|to|the|from)|"
    r"new (?:time|date|day|hour|deadline|budget|price)|correction|no longer|rather than|"
    r"verschob\w+|verschieb\w+|verleg\w+|vorgezogen|stattdessen|anstatt|" + STATT + r"|"
    r"neuer (?:termin|preis)|neue (?:uhrzeit|"
    r"frist)|korrektur|geändert|nicht mehr|doch (?:erst|schon|nicht))\b",
    re.IGNORECASE,
)
# What alters a figure says to which: "lowered it to 28 EUR", "auf 28 Euro gesenkt", "the new code is 8352".
_NEW_ONE = re.compile(r"\bthe new (?:\w+ ){1,2}(?:is|are)\b|\b(?:der|die|das) neue \w+ (?:ist|lautet)\b", re.IGNORECASE)
_FIGURE = r"(?:to|by|auf|um) (?:only |nur )?(?:[€$£]|EUR |USD |GBP |CHF )?\d"
_ALTERED = r"(?:ge)?senk(?:t|en|te|ten)|erhöh(?:t|en|te|ten)|(?:reduzier|ermäßig)(?:t|en|te|ten)"
ALTERS = re.compile(
    r"\b(?:lower(?:s|ed)?|lift(?:s|ed)?|reduc(?:e|es|ed)|rais(?:e|es|ed)|increas(?:e|es|ed)|drop(?:s|ped)?|cuts?|"
    rf"{_ALTERED}) (?:[^\s.!?]+ ){{0,6}}?{_FIGURE}|{_FIGURE}[^.!?]{{0,80}} (?:{_ALTERED})\b",
    re.IGNORECASE,
)
_AMOUNTS = ("how_much", "how_many")
_THREAD = re.compile(r"\A(?:(?:re|aw|fwd?|wg|antw)\s*:\s*)+", re.IGNORECASE)
MAIL = "message/rfc822"
LONG_AGO = datetime.min.replace(tzinfo=UTC)
# What was asked, or only thought of, moves nothing.
DOUBT = re.compile(
    r"\?\W*$|\b(?:could|might|maybe|perhaps|what if|should we|vielleicht|könnte\w*|eventuell|falls)\b", re.IGNORECASE
)
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
    if not _is_after(one, other) or other.values["quoted"] or DOUBT.search(text) or not _is_move(text, weighing):
        return False
    same_text = other.origin.doc_version_id == one.origin.doc_version_id
    matter, theirs = (one.said, other.said) if same_text else (_heard(one, weighing), _heard(other, weighing))
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
        return gives and any(one.search(text) for one in (MOVES, ALTERS, _NEW_ONE))
    return bool((MOVES if weighing.need.kind == "when" else _NEW_ONE).search(text))


def _values(text: str, weighing: Weighing) -> set[str]:
    if weighing.need.kind == "when":
        return {found[0].lower() for found in things.TIME.finditer(text)}
    return set(things.DIGITS.findall(text)) - weighing.need.numbers
