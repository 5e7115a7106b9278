"""Until when a commitment is to be kept: by its own words, or by those that stand beside it."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.named_days import day_of_event, day_of_meeting
from mnemon.semantics.learned.sheets import value_beside
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.mood import plain
from mnemon.semantics.rules.times import DEADLINE_LEADS, dates_in, due_of
from mnemon.semantics.rules.word_lists import words

# What was said just before: "by then" is the day that was named there.
_THEN = re.compile(
    r"\b(?:by|before|until) then\b|\bsame (?:day|date)\b|\bbis dahin\b|\bzum selben tag\b",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    r"\b(?:immediately|right away|straight away|at once|straight after (?:this|the|we)|right after (?:this|the|we)"
    r"|sofort|umgehend|(?:gleich|direkt) nach (?:der|dem|diese[rm])"
    r"|gleich(?= (?:jetzt|ab|an|los|mal|noch)\b)|nachher)\b"
    r"|\b(?:now|gleich)\W*$",
    re.IGNORECASE,
)
_CELL_BORDER = re.compile(r"[|\t;]")
_UNTIL = re.compile(
    r"\d|\b(?:by|due|until|till|before|deadline|next|today|tomorrow|end of|bis|frist|fällig|vor|nächste\w*|heute|morgen"
    r"|ende)\b",
    re.IGNORECASE,
)
_UNITS_BEFORE, _UNITS_BEHIND = 3, 3
# A sentence that opens so speaks of the one before it.
_GOES_ON = words("""by before until till back deadline due it this that these those they ideally preferably needs must
    latest same bis spätestens vor frist diese dieser dieses das die der es reicht muss müssen möglichst am""")
# Who is asked answers with a day: "You'll have it by Monday.", "Today.", "Kriegst du bis Mittwoch."
_ANSWERS = re.compile(
    r"(?:(?:yes|yep|sure|ok(?:ay)?|fine|right|ja|klar|gut|gern)\b\W*)?(?:(?:you|they)(?:['’]ll| will)? (?:get|have)\b"
    r"|(?:kriegst|bekommst|hast) du\b|(?:bekommen|kriegen|haben) sie\b)",
    re.IGNORECASE,
)
_SHORT_ANSWER = 60
_WHEN = re.compile(r"\W*(?:and |und )?(?:by when|when|bis wann|wann)\b[^?]{0,20}\?", re.IGNORECASE)


def due_day(revision: Revision, place: int, clause: str, today: date | None) -> date | None:
    """What the clause itself says; else the row's column, the line beside it, or the sentences around it."""
    units = revision.layout.units
    unit = units[place]
    if cell := unit.cells.get("due"):
        return _in_words(revision, place, cell, today, stated=True)
    if unit.form == "row":
        clause = _dated_cells(clause)
    if found := _in_words(revision, place, clause, today):
        return found
    if beside := value_beside(units, place, "due"):
        return due_of(beside, today, stated=True)
    if _AT_ONCE.search(clause):
        return today
    if _THEN.search(clause):
        earlier = (due_of(plain(each.text), today) for each in reversed(units[max(0, place - _UNITS_BEFORE) : place]))
        return next((day for day in earlier if day), None)
    rest = _dated_cells(plain(unit.text)) if unit.form == "row" else plain(unit.text)
    if rest.count(",") + rest.count(" and ") + rest.count(" und ") < 1 and (found := due_of(rest, today)):
        return found
    behind = _told_behind(revision, place, today)
    # What others say next may be of any day: it is until when only where that day is to come.
    return behind if behind and (today is None or behind >= today) else None


def _dated_cells(row: str) -> str:
    """Those with a date, or with a word that says until when: "baked on: Tuesday and Friday" is no deadline."""
    return " | ".join(cell for cell in _CELL_BORDER.split(row) if _UNTIL.search(cell))


def _in_words(revision: Revision, place: int, words: str, today: date | None, *, stated: bool = False) -> date | None:
    """ "The April meeting" has a day of its own, which its month does not tell."""
    if today is None:
        return due_of(words, today)
    named = day_of_meeting(revision, words, today) or due_of(words, today, stated=stated)
    return named or day_of_event(revision, words, place, today)


def _told_behind(revision: Revision, place: int, today: date | None) -> date | None:
    """In the next sentence, if it goes on with this one, or in the answer."""
    units = revision.layout.units
    for unit in _behind(revision.text, units, place):
        said = plain(unit.text)
        if unit.speaker == units[place].speaker:
            if not _goes_on(said, today):
                return None
            return due_of(said, today)
        if _WHEN.match(said):
            continue
        if _is_answer(said, today):
            return due_of(said, today)
    return None


def _behind(text: str, units: Sequence[Unit], place: int) -> Iterator[Unit]:
    """The next sentence of the same paragraph; in talk also the first ones of whoever answers."""
    for unit in units[place + 1 : place + 1 + _UNITS_BEHIND]:
        same = unit.speaker == units[place].speaker
        if unit.form == "row" or (same and ("\n" in text[units[place].end : unit.start] or unit.form == "item")):
            return
        if not same and not (unit.speaker and units[place].speaker):
            return
        yield unit
        if same:
            place += 1


def _goes_on(said: str, today: date | None) -> bool:
    first = re.match(r"\W*([^\W\d_]+)", said)
    dated = [each for each in dates_in(said, today, "future") if not each.is_hour or each.lead in DEADLINE_LEADS]
    return first is not None and first[1].lower() in _GOES_ON and len(dated) == 1


def _is_answer(said: str, today: date | None) -> bool:
    dated = dates_in(said, today, "future")
    if len(said) > _SHORT_ANSWER or not dated or (today and dated[0].period.last < today):
        return False
    return bool(_ANSWERS.match(said)) or not said[: dated[0].start].strip(" ,.") or len(said.split()) <= 3
