"""Puts what the learned reader and the rules found side by side: possible events, and what speaks for each."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemon.documents.structure.sentences import Span
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.gloss import is_german
from mnemon.semantics.learned.segments import within_lines
from mnemon.semantics.learned.signs import SIGNS, signs_of
from mnemon.semantics.learned.windows import Segment
from mnemon.semantics.semantic_event import Candidate, Category

CATEGORIES = tuple(Category)
# Below this a segment is not even thought about; the weights that follow decide.
LEAST_LOGIT = -1.0
_NOT_JUDGED = -5.0
_SURE = 0.98


@dataclass(frozen=True)
class JudgedSegment:
    """A logit for each category, in their order, and last one for "somebody is to do something"."""

    segment: Segment
    logits: tuple[float, ...]


@dataclass(frozen=True)
class Proposal:
    """A possible event. `by_rule` is the rules' finding of the same category at the same place, if there is one."""

    category: Category
    start: int
    end: int
    unit: int
    by_rule: Candidate | None
    features: tuple[float, ...]


def propose(revision: Revision, judged: Sequence[JudgedSegment], by_rules: Sequence[Candidate]) -> list[Proposal]:
    """Runs of segments that speak for a category, joined to the rules' findings; then what rules alone found."""
    german = is_german(revision.text)
    found: list[Proposal] = []
    taken: set[int] = set()
    for category, run in _runs(judged):
        start, end = run[0].segment.start, run[-1].segment.end
        rule = next((each for each in by_rules if each.category is category and _overlap(each, start, end)), None)
        if rule is not None and id(rule) in taken:
            continue
        taken.add(id(rule))
        features = _features(revision, category, run, rule, by_rules, start, end, german)
        start, end = within_lines(revision.text, _of_unit(judged, run), start, end)
        found.append(Proposal(category, start, end, run[0].segment.unit, rule, features))
    for rule in by_rules:
        if id(rule) not in taken:
            start, end = rule.evidence.start, rule.evidence.end
            near = [each for each in judged if each.segment.start < end and each.segment.end > start]
            features = _features(revision, rule.category, near, rule, by_rules, start, end, german)
            unit = near[0].segment.unit if near else -1
            found.append(Proposal(rule.category, start, end, unit, rule, features))
    return found


def _of_unit(judged: Sequence[JudgedSegment], run: Sequence[JudgedSegment]) -> list[Span]:
    unit = run[0].segment.unit
    return [(each.segment.start, each.segment.end) for each in judged if each.segment.unit == unit]


def _runs(judged: Sequence[JudgedSegment]) -> Iterator[tuple[Category, list[JudgedSegment]]]:
    """Neighbours in one unit that speak for the same category, the strongest runs first."""
    runs: list[tuple[Category, list[JudgedSegment]]] = []
    for number, category in enumerate(CATEGORIES):
        run: list[JudgedSegment] = []
        for each in judged:
            speaks = each.logits[number] > LEAST_LOGIT
            if run and (not speaks or run[-1].segment.unit != each.segment.unit):
                runs.append((category, run))
                run = []
            if speaks:
                run.append(each)
        if run:
            runs.append((category, run))
    return iter(sorted(((c, _core(c, r)) for c, r in runs), key=lambda one: -_best(*one)))


def _core(category: Category, run: list[JudgedSegment]) -> list[JudgedSegment]:
    """Without weak segments at its edges: beside a strong one they only lengthen the quote."""
    number = CATEGORIES.index(category)
    least = max(LEAST_LOGIT, min(0.0, max(each.logits[number] for each in run)))
    strong = [place for place, each in enumerate(run) if each.logits[number] >= least]
    return run[strong[0] : strong[-1] + 1]


def _best(category: Category, run: Sequence[JudgedSegment]) -> float:
    return max((each.logits[CATEGORIES.index(category)] for each in run), default=_NOT_JUDGED)


def _overlap(candidate: Candidate, start: int, end: int) -> bool:
    evidence = candidate.evidence
    shared = min(evidence.end, end) - max(evidence.start, start)
    return 2 * shared >= min(evidence.end - evidence.start, end - start)


def _features(
    revision: Revision, category: Category, run: Sequence[JudgedSegment], rule: Candidate | None,
    by_rules: Sequence[Candidate], start: int, end: int, german: bool,
) -> tuple[float, ...]:  # fmt: skip
    """In the order of `FEATURES`."""
    logit = _best(category, run)
    others = max((_best(other, run) for other in CATEGORIES if other is not category), default=_NOT_JUDGED)
    sure = min(max(rule.confidence, 1 - _SURE), _SURE) if rule else 0.5
    elsewhere = any(each.category is not category and _overlap(each, start, end) for each in by_rules)
    actionable = max((each.logits[-1] for each in run), default=0.0)
    unit = revision.layout.units[run[0].segment.unit] if run else None
    return (
        1.0,
        logit,
        max(0.0, logit),
        max(0.0, others - logit),
        float(rule is not None),
        math.log(sure / (1 - sure)),
        float(elsewhere and rule is None),
        float(german),
        float(german) * logit,
        actionable * (category is Category.COMMITMENT),
        actionable * (category is Category.COMMITMENT and rule is not None),
        *signs_of(revision.text[start : end + 2], category, unit),
        *(float(category is each) for each in CATEGORIES),
    )


FEATURES = (
    "bias", "logit", "logit_above_0", "other_category", "rule", "rule_confidence", "rule_of_other_category", "german",
    "german_logit", "actionable", "actionable_by_rule", *SIGNS, *(f"is_{category.value}" for category in CATEGORIES),
)  # fmt: skip
