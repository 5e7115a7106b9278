"""Claims about which of the statements that were found are told."""

from collections import defaultdict
from datetime import UTC, datetime
from uuid import UUID

from mnemon.ask.frames import ENGLISH, Note
from mnemon.ask.quoting.choosing import Choice, choose, with_day_said
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


def test_tomorrow_is_told_with_the_day_on_which_it_was_said() -> None:
    weighing = Weighing(need_of("When does the machine come?"), (), 10)

    def said(text: str, day: datetime | None) -> Choice:
        origin = StatementSource(UUID(int=1), UUID(int=2), 1, True, "Minutes", "m.md", "text/markdown", day)
        statement = Statement(0, len(text), text)
        return Choice(weighing.measured(statement, origin, 0.5, True, 0, frozenset(), NOTHING_TOLD))

    monday = datetime(2026, 4, 6, 9, tzinfo=UTC)
    assert with_day_said(said("The machine comes tomorrow at 10:00.", monday)).note == Note("said", monday.date())
    assert ENGLISH.note(Note("said", monday.date())) == "Said on 6 April 2026:"
    assert with_day_said(said("Die Maschine kommt nächste Woche.", monday)).note is not None
    assert with_day_said(said("The machine comes on 8 April 2026.", monday)).note is None
    assert with_day_said(said("The machine comes tomorrow.", None)).note is None
