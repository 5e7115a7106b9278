"""Canonicalises: findings that clearly say the same become one semantic event that keeps all their evidence."""

import math
from collections import Counter, defaultdict
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
    ordered = sorted(candidates, key=_place)
    frequency = Counter(word for each in ordered for word in content_words(each.evidence.quote))
    groups: list[list[Candidate]] = []
    shelves: dict[tuple[Category, str], list[int]] = defaultdict(list)
    for position, candidate in enumerate(ordered):
        keys = [(candidate.category, word) for word in _rarest(candidate, frequency)]
        near = sorted({number for key in keys for number in shelves[key]})
        home = next((number for number in near if _belongs(candidate, groups[number])), None)
        if home is None and groups and position and _belongs(candidate, groups[-1]):
            home = len(groups) - 1
        if home is None:
            home = len(groups)
            groups.append([])
        groups[home].append(candidate)
        for key in keys:
            if home not in shelves[key][-1:]:
                shelves[key].append(home)
    return groups


def _belongs(candidate: Candidate, group: Sequence[Candidate]) -> bool:
    return all(same_occurrence(candidate, other) for other in group)


def _rarest(candidate: Candidate, frequency: Counter[str]) -> list[str]:
    """The words of which two quotes share at least one if they share enough: all but the commonest few.

    Of n words that overlap by the least share s, at most n - s * n are missing in the other quote.
    """
    words = sorted(content_words(candidate.evidence.quote), key=lambda word: (frequency[word], word))
    return words[: len(words) - math.ceil(_SAME_SUBJECT_WORDS * len(words)) + 1]


def may_be_same(first: Candidate, second: Candidate) -> bool:
    """Nothing speaks against it: the most that a model's word can join."""
    return first.category is second.category and not _contradict(first, second)


def same_occurrence(first: Candidate, second: Candidate) -> bool:
    least = _SAME_SUBJECT_WORDS if _one_subject(first, second) else _SAME_WORDS
    alike = _overlapping(first.evidence, second.evidence) or same_statement(
        first.evidence.quote, second.evidence.quote, least
    )
    return alike and may_be_same(first, second)


def _one_subject(first: Candidate, second: Candidate) -> bool:
    words = content_words(first.subject.ref)
    return bool(words) and words == content_words(second.subject.ref)


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
