"""Canonicalises: findings that clearly say the same become one semantic event that keeps all their evidence."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.link.occurrence import SAME_SUBJECT_WORDS, Saying
from mnemon.semantics.link.wording import content_words
from mnemon.semantics.semantic_event import Candidate, Category, Evidence, InvolvedActor, SemanticEvent, event_id


def merge_candidates(revision: Revision, candidates: Iterable[Candidate]) -> list[SemanticEvent]:
    """In the order of the text. The order of the findings does not matter."""
    return [as_event(revision.revision_id, group) for group in group_candidates(candidates)]


def group_candidates(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """A finding joins a group only where it is the same occurrence as every member."""
    ordered = sorted(candidates, key=_place)
    frequency = Counter(word for each in ordered for word in content_words(each.evidence.quote))
    shelves = _Shelves()
    for candidate in ordered:
        reading = _Reading.of(candidate, frequency)
        home = next((group for group in shelves.near(reading) if group.takes(reading)), None)
        if home is None:
            shelves.open_group(reading)
        else:
            home.add(reading)
    return [[reading.candidate for reading in group.members] for group in shelves.groups]


@dataclass(frozen=True)
class _Reading:
    candidate: Candidate
    says: Saying
    # The words of which two quotes share at least one if they share enough: all but the commonest few.
    rare: frozenset[str]

    @classmethod
    def of(cls, candidate: Candidate, frequency: Counter[str]) -> "_Reading":
        says = Saying.of(candidate)
        # Of n words that overlap by the least share s, at most n - s * n are missing in the other quote.
        most_missing = len(says.words) - math.ceil(SAME_SUBJECT_WORDS * len(says.words))
        ordered = sorted(says.words, key=lambda word: (frequency[word], word))
        return cls(candidate, says, frozenset(ordered[: most_missing + 1]))

    def overlaps(self, other: "_Reading") -> bool:
        """More than half of the shorter quote lies in the other."""
        first, second = self.candidate.evidence, other.candidate.evidence
        shared = min(first.end, second.end) - max(first.start, second.start)
        return 2 * shared > min(first.end - first.start, second.end - second.start)


class _Group:
    """Findings that all say the same, those with equal words and people together."""

    def __init__(self, number: int, first: _Reading) -> None:
        self.number = number
        self.members: list[_Reading] = []
        self.rare: set[str] = set()
        self._by_saying: dict[Saying, list[_Reading]] = {}
        self.add(first)

    def add(self, reading: _Reading) -> None:
        self.members.append(reading)
        self.rare |= reading.rare
        self._by_saying.setdefault(reading.says, []).append(reading)

    def takes(self, reading: _Reading) -> bool:
        return reading.says.category is self.members[0].says.category and all(
            not reading.says.contradicts(says) and (reading.says.repeats(says) or all(map(reading.overlaps, members)))
            for says, members in self._by_saying.items()
        )


class _Shelves:
    """Finds the groups that a finding may join without a look at all of them, by what their first member says.

    Who joins a group repeats its first member, and then shares one of its rare words, or overlaps it in the text.
    """

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self._by_word: dict[tuple[Category, bool, frozenset[str], str], list[_Group]] = defaultdict(list)
        # Those whose first quote reaches into what is still to come: findings arrive in the order of the text.
        self._open: list[_Group] = []

    def near(self, reading: _Reading) -> list[_Group]:
        """The groups that share a rare word, the earliest first; then the last one, whatever its words."""
        start = reading.candidate.evidence.start
        self._open = [group for group in self._open if group.members[0].candidate.evidence.end > start]
        found = {group.number for key in self._keys(reading) for group in self._by_word[key]}
        found |= {
            group.number
            for group in self._open
            if reading.overlaps(group.members[0]) and not group.rare.isdisjoint(reading.rare)
        }
        return [self.groups[number] for number in sorted(found)] + self.groups[-1:]

    def open_group(self, first: _Reading) -> None:
        group = _Group(len(self.groups), first)
        self.groups.append(group)
        self._open.append(group)
        for key in self._keys(first):
            self._by_word[key].append(group)

    @staticmethod
    def _keys(reading: _Reading) -> list[tuple[Category, bool, frozenset[str], str]]:
        says = reading.says
        return [(says.category, says.negative, says.values, word) for word in reading.rare]


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


def _distinct(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """One per span: a chunk that overlaps its neighbour proves nothing new."""
    by_span: dict[tuple[int, int], Evidence] = {}
    for each in evidence:
        by_span.setdefault((each.start, each.end), each)
    return tuple(sorted(by_span.values(), key=lambda each: (each.start, each.end)))


def _all_actors(group: Sequence[Candidate]) -> tuple[InvolvedActor, ...]:
    actors: dict[str, InvolvedActor] = {}
    for actor in (actor for each in group for actor in each.actors):
        key = actor.ref.casefold()
        held = actors.get(key)
        if held is None or (actor.role == "owner" and held.role != "owner"):
            actors[key] = replace(actor, ref=held.ref) if held else actor
    return tuple(actors.values())
