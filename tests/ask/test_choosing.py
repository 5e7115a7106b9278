"""Claims about which of the statements that were found are told."""

from collections import defaultdict
from uuid import UUID

from mnemon.ask.quoting.choosing import choose
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.needs import need_of
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.surroundings import StatementSource
from mnemon.ask.quoting.told import NOTHING_TOLD

ORIGIN = StatementSource(UUID(int=1), UUID(int=2), 1, True, "Pricing meeting", "m.md", "text/markdown", None)


def test_decisions_that_have_the_matter_from_their_title_alone_are_not_listed_with_those_that_say_it() -> None:
    weighing = Weighing(need_of("What did we decide about pricing?"), (), 10)
    both = frozenset(range(len(weighing.need.words)))

    def decided(text: str, place: int, said: frozenset[int], score: float) -> CandidateStatement:
        statement = Statement(place, place + len(text), text, "sentence")
        values = defaultdict(float, told=1.0)
        return CandidateStatement(statement, ORIGIN, 0.5, values, (), both, said, both, score)

    tiers = decided("Pricing has tiers from June.", 100, both, 5.8)
    free = decided("Pricing keeps its free tier.", 50, both, 4.0)
    office = decided("The office moves to Aarhus.", 0, frozenset({0}), 4.4)
    told = [one.candidate.statement.text for one in choose([tiers, office, free], weighing, NOTHING_TOLD)]
    assert told == ["Pricing keeps its free tier.", "Pricing has tiers from June."]
