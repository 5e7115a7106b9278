"""Claims about answers that stand in a row of a table."""

from collections import defaultdict
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.quoting.choosing import choose
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.needs import need_of
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.surroundings import StatementSource
from mnemon.ask.quoting.told import NOTHING_TOLD
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "settings", "work"]
Done = Callable[[], Awaitable[None]]

BUDGET = """# Summer fair

We meet in the hall on Monday. The hall has a big stage and the keys are with Mira.

## Budget

| Item | Cost |
|------|------|
| Hall | 400 EUR |
| Tents | 250 EUR |
| Stall 41 | 290 EUR |
| Stall 42 | 297 EUR |

The hall was full last year, and everybody liked it.
"""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How much is the hall?", "Item: Hall; Cost: 400 EUR"),
        ("What do the tents cost?", "Item: Tents; Cost: 250 EUR"),
        ("How much is stall 41?", "Item: Stall 41; Cost: 290 EUR"),
    ],
)
async def test_the_row_with_its_header_answers_alone(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done, question: str, told: str
) -> None:
    await added(BUDGET, "fair.md")
    await all_done()
    assert (await mnemon.asking.ask(tenant, ADA, question)).text == told


def test_a_row_of_something_else_does_not_stand_beside_the_answer() -> None:
    origin = StatementSource(UUID(int=1), UUID(int=2), 1, True, "Fair", "fair.md", "text/markdown", None)
    weighing = Weighing(need_of("How much is stall 41?"), (), 10)

    def row(text: str, place: int, score: float) -> CandidateStatement:
        said, _ = weighing.hearing.heard_in(text)
        statement = Statement(place, place + len(text), text, "row", columns=("Item", "Cost"))
        return CandidateStatement(statement, origin, 0.5, defaultdict(float), (), said, said, score)

    found = [row("Stall 41 | 290 EUR", 0, 2.0), row("Stall 42 | 297 EUR", 20, 1.9), row("Stall 41 B | 9 EUR", 40, 1.8)]
    assert [one.candidate.statement.text for one in choose(found, weighing, NOTHING_TOLD)] == [
        "Stall 41 | 290 EUR", "Stall 41 B | 9 EUR",
    ]  # fmt: skip
