"""How sure a rule is: the share of its findings that were right on labelled text."""

import json
from functools import cache
from importlib import resources

from mnemon.semantics.semantic_event import Category

# A rule that was seen rarely leans on its category, and a category on all rules: this many sightings' worth.
_LEAN = 4.0


@cache
def _table() -> dict[str, dict[str, list[int]]]:
    loaded: dict[str, dict[str, list[int]]] = json.loads(
        resources.files("mnemon.semantics").joinpath("confidence.json").read_text()
    )
    return loaded


@cache
def confidence_of(rule: str, category: Category) -> float:
    table = _table()
    overall = _share(table["all"].get("all", [0, 0]), 0.5)
    of_category = _share(table["category"].get(category.value, [0, 0]), overall)
    return round(_share(table["rule"].get(rule, [0, 0]), of_category), 3)


def _share(counts: list[int], prior: float) -> float:
    right, found = counts
    return (right + _LEAN * prior) / (found + _LEAN)
