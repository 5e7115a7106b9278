"""Which statements are quoted beside the best one: where the judgement cannot tell, the reader can."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from mnemon.ask.quoting.features import CandidateStatement, StatementValues
from mnemon.ask.quoting.hearing import stem_of, words_in
from mnemon.ask.quoting.needs import FILLERS

FILE = Path(__file__).with_name("beside.json")
# Further statements that are looked at, and that may be quoted.
LOOKED_AT, MOST = 9, 2
# Words of a statement that is worth its room as it is: a shorter one is quoted rather, a longer one less so.
USUAL, SHORTEST = 10, 4
_NEVER = ("question", "empty", "of_other")
# What a further statement has more than the best one has.
_MORE = ("own", "heads", "by_named", "row")


def quoted_beside(found: Sequence[CandidateStatement]) -> list[CandidateStatement]:
    """Of candidates, best first: those that may hold what the first does not, the likeliest first."""
    weights, enough = _learned()
    worth = [
        (worth_of(beside_values(found[0], one, place), len(one.statement.text.split()), weights), one)
        for place, one in others_of(found)
    ]
    chosen: dict[str, CandidateStatement] = {}
    for value, one in sorted(worth, key=lambda each: -each[0]):
        if value >= enough and len(chosen) < MOST:
            chosen.setdefault(one.statement.text, one)
    return list(chosen.values())


def others_of(found: Sequence[CandidateStatement]) -> list[tuple[int, CandidateStatement]]:
    """What asks, says nothing or tells of somebody else than the one who is named, is no answer."""
    words = found[0].statement.text
    return [
        (place, one) for place, one in enumerate(found[1 : LOOKED_AT + 1], 1)
        if one.statement.text != words and not any(one.values[name] for name in _NEVER)
    ]  # fmt: skip


def beside_values(best: CandidateStatement, one: CandidateStatement, place: int) -> StatementValues:
    """What is known of a statement with regard to the best one."""
    same = one.origin.doc_version_id == best.origin.doc_version_id
    values = {f"more_{name}": one.values[name] - best.values[name] for name in _MORE}
    return values | {
        "behind": one.score - best.score,
        "place": 1 / place,
        "later": float(same and one.statement.start > best.statement.start),
        "earlier": float(same and one.statement.start < best.statement.start),
        "section": float(same and one.statement.headings == best.statement.headings),
        "reply": float(bool(one.statement.asked)),
        "shared": _shared(best.statement.text, one.statement.text),
    }


def worth_of(values: StatementValues, words: int, weights: Mapping[str, float]) -> float:
    """The chance that a statement holds what the best one does not, by the room that it takes."""
    total = weights["bias"] + sum(weights[name] * value for name, value in values.items())
    return math.sqrt(USUAL / max(words, SHORTEST)) / (1 + math.exp(-total))


def _shared(best: str, one: str) -> float:
    """The share of the best's words that it says too: what speaks of the same has some of them."""
    own = _stems(best)
    return len(own & _stems(one)) / len(own) if own else 0.0


def _stems(text: str) -> set[str]:
    return {stem_of(word) for word in words_in(text) if len(word) > 2 and word.lower() not in FILLERS}


@cache
def _learned() -> tuple[Mapping[str, float], float]:
    given = json.loads(FILE.read_text(encoding="utf-8"))
    return given["weights"], given["enough"]
