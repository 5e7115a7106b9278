"""Canonicalises: findings that clearly say the same become one semantic event that keeps all their evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mnemon.semantics.revision import Revision
from mnemon.semantics.semantic_event import Actor, Candidate, Category, Evidence, SemanticEvent, event_id
from mnemon.semantics.wording import content_words, same_statement

# Nearly every word in common, or most words and the same subject. When in doubt, two events stay two.
_SAME_WORDS = 0.8
_SAME_SUBJECT_WORDS = 0.6


def merge_candidates(revision: Revision, candidates: Iterable[Candidate]) -> list[SemanticEvent]:
    """In the order of the text. The order of the findings does not matter."""
    return [as_event(revision.revision_id, group) for group in group_candidates(candidates)]


def group_candidates(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """A finding joins a group only where it is the same occurrence as every member."""
    groups: list[list[Candidate]] = []
    by_category: dict[Category, list[list[Candidate]]] = {}
    for candidate in sorted(candidates, key=_place):
        near = by_category.setdefault(candidate.category, [])
        home = next((group for group in near if all(same_occurrence(candidate, other) for other in group)), None)
        if home is None:
            groups.append([candidate])
            near.append(groups[-1])
        else:
            home.append(candidate)
    return groups


def may_be_same(first: Candidate, second: Candidate) -> bool:
    """Nothing speaks against it: the most that a model's word can join."""
    return first.category is second.category and not _contradict(first, second)


def same_occurrence(first: Candidate, second: Candidate) -> bool:
    if not may_be_same(first, second):
        return False
    if _overlapping(first.evidence, second.evidence):
        return True
    if same_statement(first.evidence.quote, second.evidence.quote, _SAME_WORDS):
        return True
    subjects = content_words(first.subject.ref), content_words(second.subject.ref)
    return (
        bool(subjects[0])
        and subjects[0] == subjects[1]
        and same_statement(first.evidence.quote, second.evidence.quote, _SAME_SUBJECT_WORDS)
    )


def as_event(revision_id: str, group: Sequence[Candidate]) -> SemanticEvent:
    """The most detailed narrative, the first known times, every actor and every quote."""
    first, best = group[0], max(group, key=lambda each: each.confidence)
    evidence = _distinct(each.evidence for each in group)
    return SemanticEvent(
        event_id(revision_id, first.category, evidence),
        first.category,
        max((each.narrative for each in group), key=len),
        best.subject,
        _all_actors(group),
        evidence,
        best.confidence,
        event_time=next((each.event_time for each in group if each.event_time), None),
        due=next((each.due for each in group if each.due), None),
        kind=first.kind,
        origin="stated" if any(each.origin == "stated" for each in group) else "inferred",
        rules=tuple(dict.fromkeys(each.rule for each in group if each.rule)),
    )


def _place(candidate: Candidate) -> tuple[int, int, str, str, str]:
    evidence = candidate.evidence
    return evidence.start, evidence.end, candidate.category.value, evidence.chunk_id or "", candidate.narrative


def _contradict(first: Candidate, second: Candidate) -> bool:
    """Two dates, or two sets of people, are two occurrences."""
    if first.due and second.due and first.due != second.due:
        return True
    if first.event_time and second.event_time and first.event_time != second.event_time:
        return True
    owners = _refs(first), _refs(second)
    return bool(owners[0]) and bool(owners[1]) and not owners[0] & owners[1]


def _refs(candidate: Candidate) -> set[str]:
    return {actor.ref.casefold() for actor in candidate.actors}


def _overlapping(first: Evidence, second: Evidence) -> bool:
    """More than half of the shorter quote lies in the other."""
    shared = min(first.end, second.end) - max(first.start, second.start)
    return 2 * shared > min(first.end - first.start, second.end - second.start)


def _distinct(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """One per span: a chunk that overlaps its neighbour proves nothing new."""
    by_span: dict[tuple[int, int], Evidence] = {}
    for each in evidence:
        by_span.setdefault((each.start, each.end), each)
    return tuple(sorted(by_span.values(), key=lambda each: (each.start, each.end)))


def _all_actors(group: Sequence[Candidate]) -> tuple[Actor, ...]:
    actors: dict[str, Actor] = {}
    for actor in (actor for each in group for actor in each.actors):
        key = actor.ref.casefold()
        held = actors.get(key)
        if held is None or (actor.role == "owner" and held.role != "owner"):
            actors[key] = replace(actor, ref=held.ref) if held else actor
    return tuple(actors.values())
