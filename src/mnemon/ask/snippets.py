"""The part of a passage to show: the stretch of whole sentences that says most of the question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemon.ask.wording import Listener
from mnemon.documents.structure.sentences import Span, sentences

if TYPE_CHECKING:
    from mnemon.search.terms import Term

LONGEST = 300
# Less than this, such as a mere heading, tells a reader too little: the sentences after it are shown too.
SHORTEST = 100


@dataclass(frozen=True)
class Snippet:
    """`text[start:end]` of the revision, exactly."""

    start: int
    end: int
    text: str


def snippet_of(passage: str, offset: int, terms: Sequence["Term"], listener: Listener | None = None) -> Snippet:
    """Taken from the passage, which stands at `offset` in its revision. Several passages may share a listener."""
    listener = listener or Listener(term.lexeme for term in terms)
    spans = sentences(passage) or [(0, len(passage))]
    found = [listener.heard_in(passage[start:end]) for start, end in spans]
    weight = {term.lexeme: term.weight for term in terms}
    best, best_weight = (spans[0][0], _opening(passage, spans)), 0.0
    for first, (start, _) in enumerate(spans):
        said: set[str] = set()
        for last in range(first, len(spans)):
            end = spans[last][1]
            if last > first and end - start > LONGEST:
                break
            said |= found[last]
            total = sum(weight[lexeme] for lexeme in said)
            if total > best_weight + 1e-9:
                best, best_weight = (start, _cut(passage, start, end)), total
    end = _far_enough(spans, *best)
    return Snippet(offset + best[0], offset + end, passage[best[0] : end])


def _far_enough(spans: Sequence[Span], start: int, end: int) -> int:
    for _, further in spans:
        if end - start >= SHORTEST:
            break
        if further > end and further - start <= LONGEST:
            end = further
    return end


def _opening(passage: str, spans: Sequence[tuple[int, int]]) -> int:
    """Where nothing of the question is said: the end of as many sentences from the beginning as may be shown."""
    start, end = spans[0]
    return max([last for _, last in spans if last - start <= LONGEST], default=_cut(passage, start, end))


def _cut(passage: str, start: int, end: int) -> int:
    """A sentence without end is cut between two words."""
    if end - start <= LONGEST:
        return end
    space = passage.rfind(" ", start + LONGEST // 2, start + LONGEST)
    return space if space > 0 else start + LONGEST
