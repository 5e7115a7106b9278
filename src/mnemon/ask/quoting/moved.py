"""A later statement of the same text that moves a time or changes a figure: it stands, what it moved does not."""

import re
from collections.abc import Sequence

from mnemon.ask.quoting import things
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.hearing import folded
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
# What was asked, or only thought of, moves nothing.
_DOUBT = re.compile(
    r"\?\W*$|\b(?:could|might|maybe|perhaps|what if|should we|vielleicht|könnte\w*|eventuell|falls)\b", re.IGNORECASE
)
_CALENDAR = frozenset(map(folded, (*MONTHS, *WEEKDAYS)))
# It says so much of what the statement says of the question; less will do so near behind it, in characters.
AS_MUCH, NEAR = 0.5, 1_500


def what_moved(
    one: CandidateStatement, found: Sequence[CandidateStatement], weighing: Weighing
) -> CandidateStatement | None:
    """The last statement after `one` in its text that sets anew what is asked for."""
    if weighing.need.past or weighing.need.kind not in ("when", "how_much", "how_many"):
        return None
    later = [other for other in found if _sets_anew(one, other, weighing)]
    return max(later, key=lambda other: other.statement.start, default=None)


def _sets_anew(one: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> bool:
    text = other.statement.text
    after = other.origin.doc_version_id == one.origin.doc_version_id and other.statement.start >= one.statement.end
    if not after or _DOUBT.search(text) or not MOVES.search(text):
        return False
    # Words of the matter that both say; a weekday or a month is none.
    matter = frozenset(number for number in one.said if folded(weighing.need.words[number]) not in _CALENDAR)
    common = matter & other.said
    near = other.statement.start - one.statement.end <= NEAR
    if not common or not (near or weighing.share(common) >= AS_MUCH * weighing.share(matter)):
        return False
    return bool(_values(text, weighing) - _values(one.statement.text, weighing))


def _values(text: str, weighing: Weighing) -> set[str]:
    if weighing.need.kind == "when":
        return {found[0].lower() for found in things.TIME.finditer(text)}
    return set(things.DIGITS.findall(text)) - weighing.need.numbers
