"""Weighs what rules of wording leave open: links that are likely, and those that a person is asked about."""

from collections.abc import Iterator, Sequence
from itertools import islice

from mnemon.semantics.link.doubts import (
    lettered_apart,
    nothing_in_common,
    only_meant,
    only_verb,
    turns_nothing_round,
    two_promises,
)
from mnemon.semantics.link.kept import by_another
from mnemon.semantics.link.pairs import PairContext, likelihoods, may_pair, reason_for, reports_work, weighable
from mnemon.semantics.link.placed import LINK_KINDS, EventLink, EventLinkKind, Placed
from mnemon.semantics.semantic_event import FACT_CONFIDENCE

# Of those that may be meant so many of the latest are looked at, and so many of the likeliest of these weighed.
_MOST_LOOKED_AT = 400
_MOST_WEIGHED = 40
# From the first number on a link is told as a fact, from the second on a person is asked (training/README.md says how
# many of those were right on documents that the weights had not seen). What depends on another ends nothing.
LIMITS: dict[EventLinkKind, tuple[float, float]] = {
    "supersedes": (0.4, 0.15), "fulfils": (0.15, 0.04), "depends_on": (0.35, 0.2),
}  # fmt: skip


def likely_links(ordered: Sequence[Placed], certain: Sequence[EventLink], beside: Sequence[Placed]) -> list[EventLink]:
    """What rules of wording leave open, the likeliest first. Each ends one other and is ended once, a suggestion too:
    what replaced something may be replaced itself. What depends on another does so once."""
    found = sorted(_weighed(ordered, beside), key=lambda one: (-one[0], one[1], one[4].event.event_id))
    ending, ended = {link.later for link in certain}, {link.earlier for link in certain}
    waits: set[str] = set()
    tied = {frozenset((link.later, link.earlier)) for link in certain}
    links = []
    for likely, _, kind, later, earlier, sure in found:
        ends = later.event.event_id, earlier.event.event_id
        free = ends[0] not in waits if kind == "depends_on" else ends[0] not in ending and ends[1] not in ended
        if not free or frozenset(ends) in tied:
            continue
        tied.add(frozenset(ends))
        if kind == "depends_on":
            waits.add(ends[0])
        else:
            ending.add(ends[0])
            ended.add(ends[1])
        reason = reason_for(kind, later, earlier, likely)
        links.append(EventLink(kind, *ends, reason, suggested=not sure or is_doubted(kind, later, earlier)))
    return links


def is_doubted(kind: EventLinkKind, later: Placed, earlier: Placed) -> bool:
    """Signs that speak against what the weights say: a person is asked then."""
    if min(one.event.confidence for one in (later, earlier)) < FACT_CONFIDENCE:
        return True
    if kind == "depends_on":
        return False
    if only_meant(later, earlier) or nothing_in_common(later, earlier):
        return True
    if kind == "supersedes":
        apart = lettered_apart(later, earlier) or two_promises(later, earlier)
        return apart or turns_nothing_round(later, earlier)
    return by_another(later, earlier) or only_verb(later, earlier) or not reports_work(later, earlier)


def _weighed(
    ordered: Sequence[Placed], beside: Sequence[Placed]
) -> Iterator[tuple[float, int, EventLinkKind, Placed, Placed, bool]]:
    """Every link that is likely enough to be told of, and whether it is as a fact."""
    # Counting all words is worth it only where something is to be weighed.
    context: PairContext | None = None
    for position, later in enumerate(ordered):
        for kind in LINK_KINDS:
            meant = _may_be_meant(kind, ordered, position)
            if not meant:
                continue
            context = context or PairContext(beside)
            earlier = _nearest(later, meant, context)
            likely, (sure, asked) = likelihoods(kind, weighable(later, earlier, context)), LIMITS[kind]
            for one, chance in zip(earlier, likely, strict=True):
                if chance >= asked:
                    yield chance, position, kind, later, one, chance >= sure


def candidates_for(kind: EventLinkKind, ordered: Sequence[Placed], position: int, context: PairContext) -> list[Placed]:
    """Those before it that it may be tied to: of its own text first, then the nearest by word and meaning."""
    return _nearest(ordered[position], _may_be_meant(kind, ordered, position), context)


def _may_be_meant(kind: EventLinkKind, ordered: Sequence[Placed], position: int) -> list[Placed]:
    later = ordered[position]
    before = (ordered[place] for place in range(position - 1, -1, -1))
    return list(islice((one for one in before if may_pair(kind, later, one)), _MOST_LOOKED_AT))


def _nearest(later: Placed, found: list[Placed], context: PairContext) -> list[Placed]:
    if len(found) <= _MOST_WEIGHED:
        return found
    return sorted(found, key=lambda one: (-context.closeness(later, one), one.event.event_id))[:_MOST_WEIGHED]
