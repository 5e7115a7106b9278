"""How strong the evidence for an answer is: does a passage say what was asked, and is it the right person's?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from mnemon.ask.measures import PassagePlace
from mnemon.ask.scoring import has_words
from mnemon.ask.search import Ranked
from mnemon.ask.wording import Listener, is_one_of, names_in
from mnemon.search.ranking import Floats, relevance_of, share_said
from mnemon.search.terms import Term

# The passages that an answer would be made of.
LOOKED_AT = 10
# A lead of this much is as good as any; what is missing to it counts half.
CLEAR_LEAD = 0.1
LEAD_SHARE = 0.5
# Below this an answer is refused: the point of the measured curve where one answerable question in ten is.
ENOUGH = 0.36


@dataclass(frozen=True)
class Strength:
    """`support` is the relevance of the best passage, from 0 to 1.

    Where the question names people who speak in the sources, only what they say supports it, and `lead` is how far
    the words of their best passage are ahead of everyone else's: below 0, somebody else said what is asked about them.
    """

    support: float
    lead: float | None = None
    named: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """One number to decide by: the support, less what is missing to a clear lead."""
        return self.support if self.lead is None else self.support - LEAD_SHARE * max(0.0, CLEAR_LEAD - self.lead)

    @property
    def enough(self) -> bool:
        return self.value >= ENOUGH


NOTHING = Strength(0.0)
NO_MORE: Mapping[PassagePlace, str] = MappingProxyType({})


def strength_of(ranked: Ranked, told: Mapping[PassagePlace, str] = NO_MORE) -> Strength:
    """Judge the best passages of a search. `told` is what passages say besides their words, such as "decided"."""
    rows = list(ranked.order[:LOOKED_AT])
    if not rows:
        return NOTHING
    # Whoever speaks in any passage that was looked at.
    named = names_in(ranked.asked.question, ranked.measures.speakers)
    counted = [number for number, term in enumerate(ranked.terms) if not _is_name(term, named)]
    said = _said(ranked, rows, counted, told)
    similarity = ranked.measures.similarity
    support = relevance_of(said, similarity[rows] if similarity is not None else None)
    own = np.array([is_one_of(ranked.measures.speakers[row], named) for row in rows])
    if not named or own.all():
        return Strength(float(support.max()), None, named)
    if not own.any():
        return Strength(0.0, -float(said.max()), named)
    return Strength(float(support[own].max()), float(said[own].max() - said[~own].max()), named)


def _said(ranked: Ranked, rows: Sequence[int], numbers: Sequence[int], told: Mapping[PassagePlace, str]) -> Floats:
    """The share of these words of the question that each passage has, by its own words and by what is told of it."""
    has = has_words(ranked.measures)[np.ix_(rows, numbers)]
    lexemes = [ranked.terms[number].lexeme for number in numbers]
    listener = Listener(lexemes)
    for place, row in enumerate(rows):
        heard = listener.heard_in(told.get(ranked.measures.places[row], ""))
        has[place] |= [lexeme in heard for lexeme in lexemes]
    return share_said(has, np.array([ranked.terms[number].weight for number in numbers]))


def _is_name(term: Term, named: Sequence[str]) -> bool:
    """A name is a stem here, cut or changed at its end."""
    return any(name.startswith(term.lexeme[:-1]) and abs(len(name) - len(term.lexeme)) <= 2 for name in named)
