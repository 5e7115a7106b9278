"""A short storm and a long one, both among the long suites: `make test` has the short crash suites of each room."""

import pytest

from tests.storm.__main__ import Outcome, storm


def check(outcome: Outcome) -> None:
    assert outcome.wrong == []
    assert outcome.figures["acked"] > 0
    assert outcome.figures["tampers_caught"] == outcome.figures["tampers"] > 0


@pytest.mark.slow
async def test_a_short_storm_loses_doubles_and_leaks_nothing() -> None:
    check(await storm(0.1, seed=7, writers=2, pause=1.0))


@pytest.mark.slow
async def test_a_long_storm_does_not_either() -> None:
    outcome = await storm(5, seed=11)
    check(outcome)
    assert outcome.figures["kills"] > 20
