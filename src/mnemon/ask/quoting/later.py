"""What a later statement is to an earlier one: signs that it says anew what the other said."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from mnemon.ask.quoting import things, turning
from mnemon.ask.quoting.features import CandidateStatement, StatementValues, Weighing, amends
from mnemon.ask.quoting.hearing import folded, words_in
from mnemon.ask.quoting.needs import matter_of
from mnemon.ask.quoting.neighbours import is_of_another

FILE = Path(__file__).with_name("later.json")
# So far from it is what stands in another text, in hundreds of characters.
ELSEWHERE = 20
NEAR = 400
_BACK = re.compile(
    r"^\W*(?:that|this|it|he|she|they|das|dies\w*|er|sie|es|nachtrag|update|correction|edit|korrektur|p\.?s\b|sorry|"
    r"actually|ok(?:ay)?|no|nein|doch)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|no|none|cannot|nicht|nie|kein\w*)\b|n['’]t\b", re.IGNORECASE)
_NAMED = re.compile(r"\b[A-ZÄÖÜ][a-zäöüß]+\b")
_CODE = re.compile(r"\b(?=\w*-?\d)[A-ZÄÖÜ][\w]*(?:-\w+)*\d\w*\b")
_AMOUNTS = ("how_much", "how_many")
_TIMES = ("when", "how_long")
# Such questions have several answers, which do not replace each other.
_OF_MANY = ("list", "why", "how")


def is_after(one: CandidateStatement, other: CandidateStatement) -> bool:
    """Whether `other` stands further down in the same text, or in one of a later day."""
    if one.origin.doc_version_id == other.origin.doc_version_id:
        return other.statement.start >= one.statement.end
    return bool(one.day and other.day and other.day.date() > one.day.date())


def later_values(one: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> StatementValues:
    """The signs of `other` with regard to `one`, which it comes after."""
    need, text, before = weighing.need, other.statement.text, one.statement.text
    asked = max(1, len(need.words))
    common = one.said & other.said
    matter, others = matter_of(before), matter_of(text)
    shared = len(matter & others)
    old = _values(before) - need.numbers
    new = _values(text) - need.numbers
    names = _names(before) - {folded(word) for word in need.words}
    brings = bool(new - old) and need.kind in (*_AMOUNTS, *_TIMES)
    moves, off = bool(turning.MOVES.search(text)), bool(turning.CALLS_OFF.search(text))
    takes, alters = bool(turning.TAKES_OVER.search(text)), bool(turning.ALTERS.search(text))
    amended = amends(other.statement) and not amends(one.statement)
    cue = float(moves or off or takes or alters or amended)
    old_value, old_name = bool(old & new), bool(names & _names(text))
    denied = bool(_NOT.search(text)) and not _NOT.search(before)
    values: StatementValues = {
        "said": len(other.said) / asked,
        "covers": len(other.covers) / asked,
        "common": len(common) / asked,
        "matter": shared / max(1, len(matter)),
        "of_its_own": shared / max(1, len(others)),
        "old_value": float(old_value),
        "old_name": float(old_name),
        "brings": float(brings),
        "moves": float(moves),
        "alters": float(alters),
        "calls_off": float(off),
        "takes_over": float(takes),
        "changes": float(bool(turning.CHANGES.search(text))),
        "update": float(bool(turning.UPDATE.search(text))),
        "denial": float(bool(turning.DENIAL.search(text))),
        "not": float(denied),
        "back": float(bool(_BACK.search(text))),
        "once": float(bool(turning.ONCE.search(text))),
        "once_before": float(bool(turning.ONCE.search(before))),
        "who_takes": float(need.kind == "who" and takes),
        "not_so": float(need.kind == "yes_no" and (denied or off)),
        "moves_time": float(need.kind in _TIMES and brings and moves),
        "cue_common": cue * len(common) / asked,
        "cue_matter": cue * shared / max(1, len(matter)),
        "cue_old": cue * float(old_value or old_name),
        "amends": float(amended),
        "same_code": float(bool(_codes(before) & _codes(text))),
        "now_changes": float(weighing.asks_now and bool(turning.CHANGES.search(text))),
    }
    return values | _place(one, other)


def _place(one: CandidateStatement, other: CandidateStatement) -> StatementValues:
    """How far from it, and by whom."""
    same = one.origin.doc_version_id == other.origin.doc_version_id
    gap = max(0, other.statement.start - one.statement.end)
    speaker, others = one.statement.speaker, other.statement.speaker
    return {
        "gap": math.log1p(gap / 100 if same else ELSEWHERE),
        "near": float(same and gap < NEAR),
        "group": float(same and one.statement.group == other.statement.group),
        "section": float(same and one.statement.headings == other.statement.headings),
        "speaker": float(speaker is not None and speaker == others),
        "other_speaker": float(bool(speaker and others) and speaker != others),
        "reply": float(bool(other.statement.asked)),
        "long": math.log(max(1, len(other.statement.text.split())) / 12),
    }


def said_anew(
    one: CandidateStatement, found: Sequence[CandidateStatement], weighing: Weighing
) -> CandidateStatement | None:
    """The later statement that stands in the place of this one; none where none that says so is likely to."""
    if weighing.need.past or weighing.timed or weighing.need.kind in _OF_MANY:
        return None
    weights, enough = _learned()
    best, most = None, enough
    for other in found:
        if other.values["quoted"] or not is_after(one, other) or not _tells_change(one, other, weighing):
            continue
        if not is_of_same_matter(one, other, weighing) or turning.DOUBT.search(other.statement.text):
            continue
        if is_of_another(one, other, weighing):
            continue
        values = later_values(one, other, weighing)
        if _goes_on(values):
            continue
        total = weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in values.items())
        if (chance := 1 / (1 + math.exp(-total))) >= most and _says_more(one, other, weighing):
            best, most = other, chance
    return best


def _tells_change(one: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> bool:
    """By a word that neither the question nor the earlier statement has: who revoked a key is told by "revoked"."""
    known = {folded(word) for word in (*words_in(one.statement.text), *weighing.need.words)}
    if amends(other.statement) and not amends(one.statement):
        return True
    cues = (turning.CALLS_OFF, turning.TAKES_OVER, turning.MOVES, turning.DENIAL, turning.ALTERS)
    said = (found[0] for cue in cues for found in cue.finditer(other.statement.text))
    return any({folded(word) for word in words_in(words)} - known for words in said)


def _goes_on(values: StatementValues) -> bool:
    """Within a paragraph the next sentence goes on, unless it calls off what was said or names it."""
    return bool(values["group"] and not values["calls_off"] and not values["cue_old"] and not values["denial"])


def is_of_same_matter(one: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> bool:
    """Whether both say a word of the question, or any other; whose words they are is none."""
    return bool(
        weighing.matters(one.said & other.said) or matter_of(one.statement.text) & matter_of(other.statement.text)
    )


def _says_more(one: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> bool:
    """What gives the same amount or time again changes neither, and what names nobody does not say who."""
    if weighing.need.kind == "who":
        return bool(_people(other, weighing) - _people(one, weighing))
    if weighing.need.kind not in (*_AMOUNTS, *_TIMES):
        return True
    return bool(_values(other.statement.text) - _values(one.statement.text) - weighing.need.numbers)


def _values(text: str) -> set[str]:
    return set(things.DIGITS.findall(text)) | {found[0].lower() for found in things.TIME.finditer(text)}


def _people(one: CandidateStatement, weighing: Weighing) -> set[str]:
    """Who is named in it, or says it in the first person."""
    said = one.statement.text if one.statement.speaker is None else f"{one.statement.speaker} {one.statement.text}"
    return {folded(word) for word in words_in(said)} & set(weighing.people) - {
        folded(word) for word in weighing.need.words
    }


def _codes(text: str) -> set[str]:
    """Names with digits in them, as of a row or a part: A3, H-22."""
    return {found[0] for found in _CODE.finditer(text)}


def _names(text: str) -> set[str]:
    return {folded(word) for word in _NAMED.findall(text)}


@cache
def _learned() -> tuple[Mapping[str, float], float]:
    given = json.loads(FILE.read_text(encoding="utf-8"))
    return given["weights"], given["enough"]
