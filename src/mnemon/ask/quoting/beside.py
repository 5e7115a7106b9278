"""Which statements are quoted beside the best one: where the judgement cannot tell, the reader can."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from mnemon.ask.quoting.features import CandidateStatement, StatementValues, Weighing
from mnemon.ask.quoting.later import is_after, is_of_same_matter, later_values

FILE = Path(__file__).with_name("beside.json")
# Further statements that are looked at, and that may be quoted.
LOOKED_AT, MOST = 11, 2
# Words of a statement that is worth its room as it is: a shorter one is quoted rather, a longer one less so.
USUAL, SHORTEST = 10, 4
_NEVER = ("question", "empty", "of_other")
# What a further statement has more than the best one has.
_MORE = ("own", "heads", "by_named", "row", "fits_new")
# How far behind the best one counts.
MOST_BEHIND = -12.0
# What counts of any other statement, and what only of one that comes after the best one.
_ALWAYS = ("covers", "common", "of_its_own", "section", "reply", "speaker", "long")
_SIGNS = (
    "covers", "matter", "old_value", "brings", "moves", "calls_off", "takes_over", "changes", "update", "denial", "not",
    "back",
)  # fmt: skip


def quoted_beside(found: Sequence[CandidateStatement], weighing: Weighing) -> list[CandidateStatement]:
    """Of candidates, best first: those that may hold what the first does not, the likeliest first."""
    weights, enough = _learned()
    worth = [
        (worth_of(beside_values(found[0], one, place, weighing), len(one.statement.text.split()), weights), one)
        for place, one in others_of(found, weighing)
    ]
    chosen: dict[str, CandidateStatement] = {}
    for value, one in sorted(worth, key=lambda each: -each[0]):
        if value >= enough and len(chosen) < MOST:
            chosen.setdefault(one.statement.text, one)
    return list(chosen.values())


def others_of(found: Sequence[CandidateStatement], weighing: Weighing) -> list[tuple[int, CandidateStatement]]:
    """What asks, says nothing, is of another matter or tells of somebody else than who is named, is no answer."""
    best, words = found[0], found[0].statement.text
    return [
        (place, one) for place, one in enumerate(found[1 : LOOKED_AT + 1], 1)
        if one.statement.text != words and not any(one.values[name] for name in _NEVER)
        and (weighing.matters(one.covers) or one.statement.asked or is_of_same_matter(best, one, weighing))
    ]  # fmt: skip


def beside_values(
    best: CandidateStatement, one: CandidateStatement, place: int, weighing: Weighing
) -> StatementValues:  # fmt: skip
    """What is known of a statement with regard to the best one; the signs of a later one, where it comes after that."""
    same = one.origin.doc_version_id == best.origin.doc_version_id
    signs, after = later_values(best, one, weighing), is_after(best, one)
    values = {f"more_{name}": one.values.get(name, 0.0) - best.values.get(name, 0.0) for name in _MORE}
    values |= {f"after_{name}": signs[name] if after else 0.0 for name in _SIGNS}
    return (
        values
        | {
            "behind": max(MOST_BEHIND, one.score - best.score),
            "place": 1 / place,
            "later": float(same and after),
            "earlier": float(same and not after),
            "newer": float(not same and after),
            "older": float(not same and is_after(one, best)),
            "similarity": one.values.get("similarity", 0.0),
            "title": one.values.get("title", 0.0),
            "shared": signs["matter"],
        }
        | {name: signs[name] for name in _ALWAYS}
    )


def worth_of(values: StatementValues, words: int, weights: Mapping[str, float]) -> float:
    """The chance that a statement holds what the best one does not, by the room that it takes."""
    total = weights["bias"] + sum(weights[name] * value for name, value in values.items())
    return math.sqrt(USUAL / max(words, SHORTEST)) / (1 + math.exp(-total))


@cache
def _learned() -> tuple[Mapping[str, float], float]:
    given = json.loads(FILE.read_text(encoding="utf-8"))
    return given["weights"], given["enough"]
