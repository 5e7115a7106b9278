"""Counts how often each rule is right: `python bench/confidence_training.py` writes the counts into the package."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from extraction_gold import load_documents, score

from mnemon.semantics.rules.confidence import setting_of
from mnemon.semantics.rules.cues import CUES
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.semantics.semantic_event import Category

ROOT = Path(__file__).parents[1]
JUDGED = Path(__file__).with_name("judged_findings.json")
TABLE = ROOT / "src" / "mnemon" / "semantics" / "rules" / "confidence.json"
ABOUT = (
    "Right and found, by setting (record: documents, notes, chat; talk: mail, transcripts), category and rule. "
    "Counted on the dev part of tests/semantics/gold and on judged findings in real mail, meetings and documentation. "
    "Made by bench/confidence_training.py."
)
SECTION_CATEGORIES = {
    "under_actions": Category.COMMITMENT,
    "under_risks": Category.QUALITY_RISK,
    "owned_item": Category.COMMITMENT,
}

Counts = dict[str, list[int]]


def main() -> None:
    table: dict[str, dict[str, Counts]] = {setting: _empty() for setting in ("record", "talk")}
    for document in load_documents("dev"):
        for event, right in score(RulesExtractor(), [document]).pairs:
            _count(table[setting_of(document.revision.type)], event.rules[0], event.category, int(right), 1)
    categories = {cue.name: cue.category for cue in CUES} | SECTION_CATEGORIES
    for setting, rules in json.loads(JUDGED.read_text())["judged"].items():
        for rule, (right, found) in rules.items():
            _count(table[setting], rule, categories[rule], right, found)
    ordered = {setting: _sorted(parts) for setting, parts in table.items()}
    TABLE.write_text(_compact({"about": ABOUT, **ordered}))
    print(f"{sum(len(parts['rule']) for parts in table.values())} rules counted in {TABLE.relative_to(ROOT)}")


def _empty() -> dict[str, Counts]:
    return {part: defaultdict(lambda: [0, 0]) for part in ("all", "category", "rule")}


def _sorted(parts: dict[str, Counts]) -> dict[str, Counts]:
    return {part: dict(sorted(counts.items())) for part, counts in parts.items()}


def _compact(table: dict[str, Any]) -> str:
    """One rule per line."""
    return re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", json.dumps(table, indent=1)) + "\n"


def _count(parts: dict[str, Counts], rule: str, category: Category, right: int, found: int) -> None:
    for counts, key in ((parts["all"], "all"), (parts["category"], category.value), (parts["rule"], rule)):
        counts[key][0] += right
        counts[key][1] += found


if __name__ == "__main__":
    main()
