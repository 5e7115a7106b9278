"""Chooses who owes what a clause promises, asks for or assigns: of everybody who may be meant, the likeliest.

A column or a line "Owner:" says it outright. Else a linear softmax over the signs of each one decides, whose weights
`training/fit_owners.py` learned.
"""

import json
import math
import re
from functools import cache
from importlib import resources

from mnemon.semantics.learned.owner_signs import OwnerSearch, is_open, may_own, owner_signs
from mnemon.semantics.learned.sheets import value_beside
from mnemon.semantics.rules.agents import split_names

__all__ = ["OwnerSearch", "owners_of"]
_HANDED_ON = re.compile(r"\s*(?:→|[-=]>)\s*(?=\w)")
# A sentence that begins so speaks of whoever says it.
_BARE = re.compile(
    r"\W*(?:will|(?:am )?going to|gonna|werde)\s+(?!someone|somebody|anyone|anybody|you|we|they|he|she|it|the"
    r"|there|this|that|sie|er|es|ihr|wir)(?-i:[a-zäöü])",
    re.IGNORECASE,
)
# Who says "Let's book the hall" is one of those who do.
_LET_US = re.compile(
    r"\W*(?:(?:ok(?:ay)?|so|then|yes|right|gut|ja|dann|also),?\s+)*(?:let['’]s|let us|lass(?:t)? uns)\s", re.IGNORECASE
)
# Two of one label, or joined by "and", owe it together where neither is much likelier.
_TOGETHER = 0.1
# Signs of whoever stands in the clause, in its label or its line, or in the heading of duties; of who is known.
_AT_HAND = frozenset(("in", "label", "line", "duties", "group_by", "party", "self"))
_KNOWN = frozenset(("listed", "voice"))


def owners_of(search: OwnerSearch) -> tuple[str, ...]:
    """Those whom the row or the sheet names; else the likeliest, with whoever stands beside it in the same label."""
    told = told_owners(search)
    signs = {} if told or is_open(search.unit.cells.get("owner")) else owner_signs(search)
    if signs and _is_left_empty(search):
        signs = {name: own for name, own in signs.items() if "in" in own}
    if any(_undergoes(own) for own in signs.values()):
        likely = {name: own for name, own in signs.items() if _AT_HAND & own or (_KNOWN & own and score_of(own) > 0)}
        signs = {name: own for name, own in likely.items() if not _undergoes(own)}
    if not signs:
        return told
    scores = {name: score_of(own) for name, own in signs.items()}
    best = max(scores, key=lambda name: scores[name])
    beside = [name for name in signs if name != best and _beside(signs[best], signs[name])]
    near = (name for name in beside if math.exp(scores[name] - scores[best]) >= _TOGETHER)
    return (best, *near)


def _undergoes(signs: frozenset[str]) -> bool:
    """ "Receipts must be handed in": receipts owe nothing, and whom it asks may stand nowhere."""
    return "noun" in signs and "after:undergoes" in signs


def _beside(best: frozenset[str], other: frozenset[str]) -> bool:
    """In one label, or joined by "and" before one verb."""
    joined = ("after:and" in best and "before:and" in other) or ("before:and" in best and "after:and" in other)
    return "label" in best & other or (joined and "in" in best & other)


def told_owners(search: OwnerSearch) -> tuple[str, ...]:
    """Those of the column "Owner", or of a line of that name beside the task; of "Will ask the bank." who speaks."""
    full, units = search.revision.people.called, search.revision.layout.units
    for told in (search.unit.cells.get("owner"), value_beside(units, search.place, "owner")):
        # "EP → CR": handed over to the last one.
        last = _HANDED_ON.split(told or "")[-1]
        if names := [full(name) for name in split_names(last) if may_own(name)]:
            return tuple(dict.fromkeys(names))
    says = _BARE.match(search.clause) or _LET_US.match(search.clause)
    if search.unit.speaker and search.start == search.unit.start and says:
        return (full(search.unit.speaker),)
    return ()


def _is_left_empty(search: OwnerSearch) -> bool:
    """The table has a column for whose it is, and in this row nobody stands there: only its words may name somebody."""
    units, place = search.revision.layout.units, search.place
    if search.unit.form != "row":
        return False
    beside = (units[at] for at in (place, place - 1, place + 1) if 0 <= at < len(units))
    return any(one.form == "row" and "owner" in one.cells and one.heading == search.unit.heading for one in beside)


def score_of(signs: frozenset[str]) -> float:
    weights = _weights()
    return sum(weights.get(sign, 0.0) for sign in sorted(signs))


@cache
def _weights() -> dict[str, float]:
    text = resources.files("mnemon.semantics.learned").joinpath("owners.json").read_text(encoding="utf-8")
    weights: dict[str, float] = json.loads(text)["weights"]
    return weights
