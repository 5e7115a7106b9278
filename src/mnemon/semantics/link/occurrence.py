"""What a finding says, apart from where it stands, and whether two findings tell of one occurrence."""

from datetime import date, datetime
from typing import NamedTuple

from mnemon.semantics.link.wording import content_words, is_negative, overlap, values
from mnemon.semantics.semantic_event import Candidate, Category

# Nearly every word in common, or most words and the same subject. When in doubt, two events stay two.
SAME_WORDS = 0.8
SAME_SUBJECT_WORDS = 0.6


class Saying(NamedTuple):
    """All of a finding that decides whether another one says the same."""

    category: Category
    words: frozenset[str]
    negative: bool
    values: frozenset[str]
    subject: frozenset[str]
    due: date | None
    event_time: datetime | None
    actors: frozenset[str]

    @classmethod
    def of(cls, candidate: Candidate) -> "Saying":
        quote = candidate.evidence.quote
        return cls(
            candidate.category,
            content_words(quote),
            is_negative(quote),
            values(quote),
            content_words(candidate.subject.ref),
            candidate.due,
            candidate.event_time,
            frozenset(actor.ref.casefold() for actor in candidate.actors),
        )

    def repeats(self, other: "Saying") -> bool:
        """Nearly the same words, the same values, and the same yes or no."""
        least = SAME_SUBJECT_WORDS if self.subject and self.subject == other.subject else SAME_WORDS
        return (
            self.negative == other.negative
            and self.values == other.values
            and overlap(self.words, other.words) >= least
        )

    def contradicts(self, other: "Saying") -> bool:
        """Two dates, or two sets of people, are two occurrences."""
        return bool(
            (self.due and other.due and self.due != other.due)
            or (self.event_time and other.event_time and self.event_time != other.event_time)
            or (self.actors and other.actors and self.actors.isdisjoint(other.actors))
        )


def may_be_same(first: Candidate, second: Candidate) -> bool:
    """Nothing speaks against it: the most that a model's word can join."""
    return first.category is second.category and not Saying.of(first).contradicts(Saying.of(second))
