"""What a finding says, apart from where it stands, and whether two findings tell of one occurrence."""

from datetime import date, datetime
from typing import NamedTuple

from mnemon.semantics.link.wording import content_words, is_negative, marks, opening_name, overlap, values
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
    # Names, letters and identifiers; those of the first word, which has its capital anyway, apart.
    marks: frozenset[str]
    opening: frozenset[str]
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
            marks(quote),
            content_words(opening_name(quote) or ""),
            content_words(candidate.subject.ref),
            candidate.due,
            candidate.event_time,
            frozenset(actor.ref.casefold() for actor in candidate.actors),
        )

    def repeats(self, other: "Saying") -> bool:
        """Nearly the same words, the same names and values, and the same yes or no."""
        least = SAME_SUBJECT_WORDS if self.subject and self.subject == other.subject else SAME_WORDS
        return (
            self.negative == other.negative
            and self.values == other.values
            and self.marks == other.marks
            and (self.opening <= other.words or other.opening <= self.words)
            and overlap(self.words, other.words) >= least
        )

    def contradicts(self, other: "Saying") -> bool:
        """Two dates, two sets of people, or two names in one place are two occurrences."""
        return bool(
            (self.marks - other.marks and other.marks - self.marks)
            or (self.due and other.due and self.due != other.due)
            or (self.event_time and other.event_time and self.event_time != other.event_time)
            or (self.actors and other.actors and self.actors.isdisjoint(other.actors))
        )


def may_be_same(first: Candidate, second: Candidate) -> bool:
    """Nothing speaks against it: the most that a model's word can join."""
    return first.category is second.category and not Saying.of(first).contradicts(Saying.of(second))
