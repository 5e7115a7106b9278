"""How sure a rule is: the share of its findings that were right on labelled text of the same setting."""

import json
from functools import cache
from importlib import resources
from typing import Literal

from mnemon.semantics.semantic_event import Category

# A record is written to be looked up; talk is not, and the same words in it mean less.
Setting = Literal["record", "talk"]
Counts = dict[str, list[int]]

# What was seen rarely leans on what it is part of, by so many sightings' worth: a rule on its category, a category on
# its setting, and records on talk, since the records that were counted are those that the rules were written for.
_RULE_LEAN, _CATEGORY_LEAN, _RECORD_LEAN = 6.0, 20.0, 20.0
_UNKNOWN = 0.5


def setting_of(source_type: str) -> Setting:
    return "talk" if source_type in ("email", "transcript") else "record"


@cache
def confidence_of(rule: str, category: Category, source_type: str) -> float:
    table = _table()[setting_of(source_type)]
    overall = _overall(setting_of(source_type))
    of_category = _share(table["category"].get(category.value, [0, 0]), overall, _CATEGORY_LEAN)
    return round(_share(table["rule"].get(rule, [0, 0]), of_category, _RULE_LEAN), 3)


def _overall(setting: Setting) -> float:
    counts = _table()[setting]["all"].get("all", [0, 0])
    return _share(counts, _UNKNOWN, _RULE_LEAN) if setting == "talk" else _share(counts, _overall("talk"), _RECORD_LEAN)


@cache
def _table() -> dict[str, dict[str, Counts]]:
    text = resources.files("mnemon.semantics.rules").joinpath("confidence.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, Counts]] = json.loads(text)
    return loaded


def _share(counts: list[int], prior: float, lean: float) -> float:
    right, found = counts
    return (right + lean * prior) / (found + lean)
