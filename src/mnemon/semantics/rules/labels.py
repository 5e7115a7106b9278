"""Lines that name what they are: "Risk: …", "Decision: …". What stands there is of that kind, doubt or no doubt."""

import re
from bisect import bisect_right

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.semantic_event import Candidate, Category

_LABELS: dict[Category, re.Pattern[str]] = {
    category: re.compile(
        rf"\W*(?:(?:new|final|our|neue[rs]?|endgültige[rs]?) )?(?:{words})(?: #?\d+)?\**\s*[:–—]\s", re.IGNORECASE
    )
    for category, words in {
        Category.QUALITY_RISK: "risks?|concern|blocker|risiko|gefahr|bedenken|sorge",
        Category.DECISION: "decision|decided|beschluss|beschlossen|entscheidung",
        Category.COMMITMENT: "actions?|action item|to-?do|task|aufgabe|maßnahme|massnahme",
    }.items()
}


def names_category(revision: Revision, found: Candidate) -> bool:
    """Whether the line of a finding begins with the name of its category, and the finding with what follows."""
    return is_named(revision, found.category, found.evidence.start)


def is_named(revision: Revision, category: Category, start: int) -> bool:
    """The same of any category, and of what begins at `start`."""
    label = _LABELS.get(category)
    units = revision.layout.units
    place = bisect_right(units, start, key=lambda unit: unit.start) - 1
    if label is None or place < 0:
        return False
    unit = units[place]
    begins = {unit.start, revision.text.rfind("\n", 0, unit.start) + 1 if unit.leads else unit.start}
    labels = (match for begin in begins if (match := label.match(revision.text, begin)))
    return any(start <= max(match.end(), unit.start) for match in labels)
