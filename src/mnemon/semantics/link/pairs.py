"""Which earlier event a later one ends or follows from, by what the two share; weights learned on labelled links."""

import json
import math
import operator
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources

from mnemon.semantics.link.cue_words import DONE, FOLLOWS, REVERSES
from mnemon.semantics.link.days import days_named, due_day
from mnemon.semantics.link.kept import base_of, promised_verb, reports_on
from mnemon.semantics.link.meanings import GERMAN_STOP, MONTH_WORDS, SLIGHT, WORD, meanings
from mnemon.semantics.link.pair_signs import PAIR_SIGNS, pair_signs
from mnemon.semantics.link.placed import LINK_KINDS, EventLinkKind, Placed
from mnemon.semantics.link.wording import content_words, is_negative, marks, naming_numbers, overlap, values
from mnemon.semantics.semantic_event import Category

# What may end what, or follow from what.
MAY_TIE: dict[EventLinkKind, frozenset[tuple[Category, Category]]] = {
    "fulfils": frozenset(
        {(Category.EXECUTION, Category.COMMITMENT), (Category.COLLABORATION, Category.COMMITMENT),
         (Category.EXECUTION, Category.DECISION)}
    ),
    "supersedes": frozenset(
        {(Category.DECISION, Category.DECISION), (Category.CHANGE, Category.DECISION),
         (Category.DECISION, Category.COMMITMENT), (Category.DECISION, Category.CHANGE),
         (Category.CHANGE, Category.COMMITMENT), (Category.STAKEHOLDER, Category.STAKEHOLDER),
         (Category.COMMITMENT, Category.COMMITMENT), (Category.CHANGE, Category.CHANGE)}
    ),
    "depends_on": frozenset(
        (later, earlier)
        for later in (Category.COMMITMENT, Category.DECISION, Category.CHANGE, Category.EXECUTION)
        for earlier in (Category.DECISION, Category.QUALITY_RISK, Category.COMMITMENT, Category.CHANGE,
                        Category.FEEDBACK, Category.EXECUTION)
    ),
}  # fmt: skip
_PAIRS = frozenset().union(*MAY_TIE.values())
_KINDS_IN_TEXT = {pair: tuple(kind for kind in LINK_KINDS if pair in MAY_TIE[kind]) for pair in _PAIRS}
# What follows from something stands near it.
_KINDS_ACROSS = {pair: tuple(kind for kind in kinds if kind != "depends_on") for pair, kinds in _KINDS_IN_TEXT.items()}
# Further apart in their text two events have little to do with each other.
_FURTHEST_CHARACTERS = 1200
# What the later words say that is no more: "instead of the van", "statt am Freitag", "not X but Y".
_OLD = re.compile(
    r"\b(?:instead of|rather than|no longer|not|from|was|were|drop\w*|cancel\w*|scrap\w*|statt|anstelle|nicht|kein\w*"
    r"|von|war|bisher|streich\w*|gestrichen)\s+(?P<old>[^.;,:]{2,50})",
    re.IGNORECASE,
)
_WEEK = 7 * 86_400.0
# So near by their meaning that two events may speak of one thing.
_NEAR = 0.35

FEATURES: tuple[str, ...] = (
    "bias", "shared", "shared_rare", "share_of_shorter", "values_shared", "values_differ", "names_shared",
    "names_differ", "numbers_differ", "owner_agrees", "owner_differs", "same_document", "same_revision", "weeks_apart",
    "reverses", "done", "one_is_negative", "subject", "narrow", "people_shared", "same_pair",
    "documents_alike", "documents_people", "nearness", "neighbours", "events_between", "follows", "later_promises",
    "later_decides", "earlier_risk", "earlier_decides", "earlier_told", "one_work", "no_word", "later_changes",
    "earlier_promised", "both_promised", "day_shared", "other_day", "old_named", "reverses_near", "done_near",
    "one_text_near", "owner_near", *PAIR_SIGNS,
    # Beside the others that the same event may be tied to.
    "nearest", "less_near", "shares_most", "shares_less", "to_choose_from", "nearest_by",
    "only_of_owner",
)  # fmt: skip
_NEARNESS, _SHARED, _OWNER_AGREES = (FEATURES.index(name) for name in ("nearness", "shared", "owner_agrees"))


class PairContext:
    """What is known beside two events: how rare a word is among all, and whether their documents speak of the same."""

    def __init__(self, placed: Sequence[Placed]) -> None:
        self._all = len(placed)
        self._counts: Counter[str] = Counter(word for one in placed for word in meanings(one.words))
        self._words: dict[str, set[str]] = {}
        self._people: dict[str, set[str]] = {}
        self._places: dict[str, int] = {}
        for place, one in enumerate(sorted(placed, key=lambda each: (each.revision_id, each.event.evidence[0].start))):
            self._places[one.event.event_id] = place
        for one in placed:
            self._words.setdefault(one.document, set()).update(meanings(one.words))
            self._people.setdefault(one.document, set()).update(actor.ref.casefold() for actor in one.event.actors)

    def rarity(self, word: str) -> float:
        """It says little that two events share a word that many have."""
        return math.log((self._all + 20) / (self._counts[word] + 1))

    def steps(self, later: Placed, earlier: Placed) -> int:
        """How many events of one text lie between, the last one counted; 0 of two texts."""
        if later.revision_id != earlier.revision_id:
            return 0
        return max(0, self._places[later.event.event_id] - self._places[earlier.event.event_id])

    def closeness(self, later: Placed, earlier: Placed) -> float:
        """A first look at two events: one text, meaning, rare words."""
        shared = meanings(later.words) & meanings(earlier.words) - SLIGHT - GERMAN_STOP
        return 2.0 * in_one_text(later, earlier) + nearness(later, earlier) + sum(map(self.rarity, shared)) / 50

    def likeness(self, first: str, second: str) -> float:
        """Of two documents, by their events' words."""
        if first == second:
            return 1.0
        one, other = self._words[first], self._words[second]
        shared = sum(map(self.rarity, one & other))
        return shared / (min(sum(map(self.rarity, one)), sum(map(self.rarity, other))) or 1.0)

    def people(self, first: str, second: str) -> float:
        """How many people both documents name; three are as good as many."""
        return min(3.0, float(len(self._people[first] & self._people[second])))


def features_of(later: Placed, earlier: Placed, context: PairContext) -> tuple[float, ...]:
    """Those of the two by themselves, in the order of `FEATURES`."""
    new, old = later.words, earlier.words
    first, second = meanings(new), meanings(old)
    shared = [context.rarity(word) for word in first & second]
    least = min(sum(map(context.rarity, first)), sum(map(context.rarity, second))) or 1.0
    owners = {actor.ref.casefold() for actor in earlier.event.actors if actor.role == "owner"}
    doers = {actor.ref.casefold() for actor in later.event.actors}
    numbers = naming_numbers(new), naming_numbers(old)
    names = marks(new), marks(old)
    steps = context.steps(later, earlier)
    near = nearness(later, earlier)
    weeks = max(0.0, (later.said_at - earlier.said_at).total_seconds()) / _WEEK
    return (
        1.0,
        min(sum(shared), 20.0) / 5,
        max(shared, default=0.0) / 5,
        sum(shared) / least,
        float(bool(values(new) & values(old))),
        float(bool(values(new) and values(old) and not values(new) & values(old))),
        float(len(names[0] & names[1])),
        float(bool(names[0] and names[1] and not names[0] & names[1])),
        float(bool(numbers[0] and numbers[1] and numbers[0] != numbers[1])),
        float(bool(owners & doers)),
        float(bool(owners and doers and not owners & doers)),
        float(later.document == earlier.document),
        float(bool(later.revision_id) and later.revision_id == earlier.revision_id),
        math.log1p(weeks),
        float(REVERSES.search(new) is not None),
        float(DONE.search(new) is not None),
        float(is_negative(new) != is_negative(old)),
        overlap(meanings(later.event.subject.ref), meanings(earlier.event.subject.ref)),
        float(len(first) <= 3),
        float(bool({actor.ref.casefold() for actor in earlier.event.actors} & doers)),
        float(later.event.category is earlier.event.category),
        context.likeness(later.document, earlier.document),
        context.people(later.document, earlier.document),
        near,
        float(steps == 1),
        math.log1p(steps),
        float(FOLLOWS.search(new) is not None),
        float(later.event.category is Category.COMMITMENT),
        float(later.event.category is Category.DECISION),
        float(earlier.event.category is Category.QUALITY_RISK),
        float(earlier.event.category is Category.DECISION),
        float(earlier.event.category in (Category.FEEDBACK, Category.CHANGE)),
        float(_one_piece_of_work(later, earlier)),
        float(not first & second - SLIGHT - GERMAN_STOP),
        float(later.event.category is Category.CHANGE),
        float(earlier.event.category is Category.COMMITMENT),
        float(later.event.category is earlier.event.category is Category.COMMITMENT),
        float(bool(days_named(new) & (days_named(old) | due_day(earlier)))),
        float(bool(days_named(new) and days_named(old) and not days_named(new) & days_named(old))),
        float(any(meanings(match["old"]) & second - SLIGHT - GERMAN_STOP for match in _OLD.finditer(new))),
        near * (REVERSES.search(new) is not None),
        near * (DONE.search(new) is not None),
        near * in_one_text(later, earlier),
        near * bool(owners & doers),
        *pair_signs(later, earlier, context.rarity),
    )


def weighable(later: Placed, candidates: Sequence[Placed], context: PairContext) -> list[tuple[float, ...]]:
    """The features of one event with each that it may be tied to, in the order of `FEATURES`."""
    own = [features_of(later, earlier, context) for earlier in candidates]
    near, shared = [one[_NEARNESS] for one in own], [one[_SHARED] for one in own]
    second = sorted(near)[-2] if len(near) > 1 else 0.0
    owned = [one[_OWNER_AGREES] > 0 for one in own]
    return [
        (
            *one,
            float(one[_NEARNESS] == max(near)),
            one[_NEARNESS] - max(near),
            float(one[_SHARED] == max(shared) > 0),
            one[_SHARED] - max(shared),
            math.log(len(own)),
            one[_NEARNESS] - second if one[_NEARNESS] == max(near) else 0.0,
            float(mine and sum(owned) == 1),
        )
        for one, mine in zip(own, owned, strict=True)
    ]


def nearness(later: Placed, earlier: Placed) -> float:
    """Of what the two say, by the embedder; 0 where it was not asked."""
    if later.vector is None or earlier.vector is None:
        return 0.0
    return float(later.vector @ earlier.vector)


def may_pair(kind: EventLinkKind, later: Placed, earlier: Placed) -> bool:
    """Whether it is worth weighing: categories that can be tied, and one text, a word or a meaning in common. Two that
    are told apart by a number are two, and one sentence that is both a decision and a change replaces nothing by
    itself."""
    if _of_one_sentence(later, earlier):
        return False
    tied = _KINDS_IN_TEXT if in_one_text(later, earlier) else _KINDS_ACROSS
    if kind not in tied.get((later.event.category, earlier.event.category), ()):
        return False
    if kind == "depends_on":
        return _in_reach(later, earlier)
    new, old = naming_numbers(later.words), naming_numbers(earlier.words)
    if kind == "supersedes" and not (new <= old or old <= new):
        return False
    if kind == "supersedes" and not _turns_round(later):
        return False
    if in_one_text(later, earlier):
        # A row says by itself how it stands, and nothing of another one.
        return not (kind == "fulfils" and is_row(later) and is_row(earlier))
    if kind == "fulfils" and shared_words(later, earlier) and not _one_piece_of_work(later, earlier):
        return False
    if nearness(later, earlier) >= _NEAR:
        return True
    return bool(meanings(later.words) & meanings(earlier.words) - SLIGHT - GERMAN_STOP)


def _of_one_sentence(later: Placed, earlier: Placed) -> bool:
    if (later.document, later.revision_id) != (earlier.document, earlier.revision_id):
        return False
    both = ((one, other) for one in later.event.evidence for other in earlier.event.evidence)
    return any(one.start < other.end and other.start < one.end for one, other in both)


def is_row(one: Placed) -> bool:
    return "|" in one.words


def _turns_round(later: Placed) -> bool:
    """Without a word that says so, "hire Ben" does not replace "hire Anna"."""
    told = later.event.category in (Category.CHANGE, Category.STAKEHOLDER)
    return told or REVERSES.search(later.words) is not None


def in_one_text(later: Placed, earlier: Placed) -> bool:
    return bool(later.revision_id) and later.revision_id == earlier.revision_id


def _in_reach(later: Placed, earlier: Placed) -> bool:
    if not in_one_text(later, earlier):
        return False
    return 0 < later.event.evidence[0].start - earlier.event.evidence[0].start <= _FURTHEST_CHARACTERS


def reports_work(later: Placed, earlier: Placed) -> bool:
    """A meeting or a decision that was carried out may only lie near: of those a person is asked."""
    return later.event.category is Category.EXECUTION and earlier.event.category is Category.COMMITMENT


def shared_words(later: Placed, earlier: Placed) -> frozenset[str]:
    """Names of those who take part apart."""
    names = content_words(" ".join(actor.ref for one in (later, earlier) for actor in one.event.actors))
    return meanings(later.words) & meanings(earlier.words) - names - GERMAN_STOP


def _one_piece_of_work(later: Placed, earlier: Placed) -> bool:
    """More than a name and a verb in common, no other month, and not another verb: "book" is not kept by "visited"."""
    verb = promised_verb(earlier.words)
    if not any(base_of(word) != verb and word not in MONTH_WORDS for word in shared_words(later, earlier)):
        return False
    if _named_apart(later, earlier):
        return False
    months = (content_words(later.words) & MONTH_WORDS, content_words(earlier.words) & MONTH_WORDS)
    if months[0] and months[1] and not months[0] & months[1]:
        return False
    return verb is None or DONE.search(later.words) is not None or reports_on(later.words, earlier.words)


def _named_apart(later: Placed, earlier: Placed) -> bool:
    """One word in common, and another before it on either side: "the migration script", "the deployment script"."""
    shared = shared_words(later, earlier)
    if len(shared) != 1:
        return False
    before = [_word_before(one.words, next(iter(shared))) for one in (later, earlier)]
    return bool(before[0] and before[1]) and before[0] != before[1]


def _word_before(text: str, word: str) -> frozenset[str]:
    """What tells which one is meant, if a word with a meaning of its own stands right before it."""
    words = WORD.findall(text)
    places = [place for place, each in enumerate(words) if place and word in content_words(each)]
    return content_words(words[places[0] - 1]) - SLIGHT - GERMAN_STOP if places else frozenset()


_WHAT: dict[EventLinkKind, str] = {
    "fulfils": "probably the same work, reported as done",
    "supersedes": "probably decided anew",
    "depends_on": "probably follows from it",
}


def reason_for(kind: EventLinkKind, later: Placed, earlier: Placed, likely: float) -> str:
    """What ties the two, for whoever asks; after the colon words of the text."""
    shared = sorted(content_words(later.words) & content_words(earlier.words) - SLIGHT - GERMAN_STOP)[:4]
    owners = {actor.ref.casefold() for actor in earlier.event.actors if actor.role == "owner"}
    told = [f"shares {', '.join(as_written(later.words, one) for one in shared)}"] if shared else []
    if owners & {actor.ref.casefold() for actor in later.event.actors}:
        told.append("same owner")
    if kind == "supersedes" and (cue := REVERSES.search(later.words)):
        told.append(f'says "{cue[0]}"')
    if kind == "depends_on" and (cue := FOLLOWS.search(later.words)):
        told.append(f'says "{cue[0]}"')
    if kind == "depends_on":
        told.append("stands shortly after it")
    what = _WHAT[kind]
    return f"{what} ({likely:.0%}): {'; '.join(told) or 'by its words'}"


def as_written(text: str, stem: str) -> str:
    """The first word of a text that has this stem: people read "Jonas" and not "jona"."""
    return next((word for word in WORD.findall(text) if stem in content_words(word)), stem)


def likelihoods(kind: EventLinkKind, rows: Sequence[tuple[float, ...]]) -> list[float]:
    """How likely each of these is the one that the later event is tied to; the rest is for none of them."""
    weights = _weights()[kind]
    known = [weights.get(name, 0.0) for name in FEATURES]
    scores = [max(-30.0, min(30.0, sum(map(operator.mul, known, row)))) for row in rows]
    top = max(0.0, *scores) if scores else 0.0
    parts = [math.exp(score - top) for score in scores]
    whole = sum(parts) + math.exp(-top)
    return [part / whole for part in parts]


@cache
def _weights() -> dict[str, dict[str, float]]:
    text = resources.files("mnemon.semantics.link").joinpath("pairs.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, dict[str, float]]] = json.loads(text)
    return table["weights"]
