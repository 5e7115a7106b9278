"""Tells what changed between two revisions of a document: events added, dropped and changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mnemon.semantics.link.placed import Placed
from mnemon.semantics.link.supersession import link_between
from mnemon.semantics.link.wording import content_words, overlap
from mnemon.semantics.semantic_event import SemanticEvent

Likeness = Callable[[SemanticEvent, SemanticEvent], float]

_SAME_EVENT = 0.5
_FIELDS = ("narrative", "subject", "actors", "event_time", "due", "kind")
_BEFORE, _AFTER = datetime(1, 1, 1, tzinfo=UTC), datetime(2, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class EventChange:
    """The same matter, told differently; `fields` names what differs."""

    before: SemanticEvent
    after: SemanticEvent
    fields: tuple[str, ...]


@dataclass(frozen=True)
class EventChanges:
    added: tuple[SemanticEvent, ...]
    dropped: tuple[SemanticEvent, ...]
    changed: tuple[EventChange, ...]


def changes(before: Sequence[SemanticEvent], after: Sequence[SemanticEvent]) -> EventChanges:
    """Offsets do not count: an event that only moved in the text is unchanged."""
    old, new = list(before), list(after)
    pairs = _take_pairs(old, new, lambda first, second: float(_quotes(first) == _quotes(second)), 1.0)
    pairs += _take_pairs(old, new, _likeness, _SAME_EVENT)
    changed = [EventChange(first, second, fields) for first, second in pairs if (fields := _differing(first, second))]
    changed.sort(key=lambda each: each.after.evidence[0].start)
    return EventChanges(tuple(new), tuple(old), tuple(changed))


def _take_pairs(
    old: list[SemanticEvent], new: list[SemanticEvent], likeness: Likeness, least: float
) -> list[tuple[SemanticEvent, SemanticEvent]]:
    """The most alike first; both lists lose what found its pair."""
    scored = sorted(
        (
            (-likeness(first, second), position, place, first, second)
            for position, first in enumerate(old)
            for place, second in enumerate(new)
            if first.category is second.category and likeness(first, second) >= least
        ),
        key=lambda row: row[:3],
    )
    pairs = []
    for *_, first, second in scored:
        if first in old and second in new:
            old.remove(first)
            new.remove(second)
            pairs.append((first, second))
    return pairs


def _likeness(first: SemanticEvent, second: SemanticEvent) -> float:
    """Shared words; or a later decision that replaces the earlier one, which is the same matter too."""
    words = overlap(content_words(_quotes(first)), content_words(_quotes(second)))
    before = Placed(first, _BEFORE, "the document", "before")
    after = Placed(second, _AFTER, "the document", "after")
    link = link_between(after, before)
    return max(words, _SAME_EVENT if link and link.kind == "supersedes" else 0.0)


def _differing(first: SemanticEvent, second: SemanticEvent) -> tuple[str, ...]:
    return tuple(name for name in _FIELDS if getattr(first, name) != getattr(second, name))


def _quotes(event: SemanticEvent) -> str:
    return " ".join(" ".join(evidence.quote.split()) for evidence in event.evidence)
