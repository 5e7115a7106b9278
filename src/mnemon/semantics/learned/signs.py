"""Plain signs in the words of a possible event, English and German, that speak for it or against it."""

import math
import re

from mnemon.documents.structure.sections import Section
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.word_lists import STATT
from mnemon.semantics.semantic_event import Category

# What is only thought of: conditions, wishes, proposals.
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|could|might|may|maybe|perhaps|would|should|ought|suppose|suggest\w*|propos\w*|idea|consider\w*"
    r"|wenn|falls|sofern|sollten?|könnten?|würden?|wären?|hätten?|müssten?|dürften?|vielleicht|evtl\.?|eventuell|ob|möglich\w*"
    r"|idee|vorschlag|überleg\w*|angeregt|gern)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|n't|cannot|nicht|kein\w*|nie|niemand|nichts|weder)\b|n['’]t\b",
    re.IGNORECASE,
)
_I = re.compile(r"\b(?:I|we|I'll|we'll|ich|wir)\b|\bI['’]|\bwe['’]", re.IGNORECASE)
_NEW_AND_OLD = re.compile(
    r"\b(?:instead|was|were|now|no longer|formerly|previously|used to|before|from .{1,20} to|"
    + STATT
    + r"|bisher|vorher|jetzt"
    r"|nun|früher|nicht mehr|künftig|neu)\b",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"[\"“”„«»]|\b(?:said|says?|told|wrote|complain\w*|prais\w*|lik\w+|lov\w+|find\w*|found|think\w*|thought|sag\w+|mein\w+"
    r"|schrieb\w*|fand\w*|find\w+|beschwer\w*|lob\w*|gefäll\w*|gefiel)\b",
    re.IGNORECASE,
)
# What somebody is asked to find out is no doubt about the asking: "Please check whether it could leak."
_ASKED = re.compile(
    r"(\W*(?:(?-i:[A-ZÄÖÜ])[\w.]+, )?(?:please|pls|kindly|bitte)\b.*?)\b(?:whether|if|ob)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_OF_SECTION = {
    Section.DECISIONS: Category.DECISION,
    Section.ACTIONS: Category.COMMITMENT,
    Section.DONE: Category.EXECUTION,
    Section.RISKS: Category.QUALITY_RISK,
    Section.FEEDBACK: Category.FEEDBACK,
    Section.CHANGES: Category.CHANGE,
    Section.PEOPLE: Category.STAKEHOLDER,
    Section.MEETINGS: Category.COLLABORATION,
}
SIGNS = (
    "asks", "unreal", "denied", "first_person", "new_and_old", "spoken", "number", "words", "announced",
    "announced_otherwise", "ticked", "open_box", "row", "item", "talk", "first_in_unit",
)  # fmt: skip


def signs_of(said: str, category: Category, unit: Unit | None) -> tuple[float, ...]:
    """In the order of `SIGNS`."""
    announced = _OF_SECTION.get(unit.section) if unit and unit.section else None
    ticked = unit.ticked if unit else None
    return (
        float(said.rstrip("\"'”) ").endswith("?")),
        float(_UNREAL.search(_ASKED.sub(r"\1", said)) is not None),
        float(_DENIED.search(said) is not None),
        float(_I.search(said) is not None and category is Category.COMMITMENT),
        float(_NEW_AND_OLD.search(said) is not None and category is Category.CHANGE),
        float(_SPOKEN.search(said) is not None and category is Category.FEEDBACK),
        float(any(map(str.isdigit, said))),
        math.log(1 + len(said.split())) - 2,
        float(announced is category),
        float(announced is not None and announced is not category),
        float(ticked is True and category is Category.EXECUTION),
        float(ticked is False and category is Category.COMMITMENT),
        float(unit is not None and unit.form == "row"),
        float(unit is not None and unit.form == "item"),
        float(unit is not None and unit.speaker is not None),
        float(unit is not None and unit.leads),
    )
