"""A short storm, of the faults that everyone has, and a long one of all."""

import pytest

from tests.storm.__main__ import Outcome, storm


def check(outcome: Outcome) -> None:
    assert outcome.wrong == []
    assert outcome.figures["acked"] > 0
    assert outcome.figures["tampers_caught"] == outcome.figures["tampers"] > 0


async def test_a_short_storm_loses_doubles_and_leaks_nothing() -> None:
    """As long as it takes to see each of these faults, and a file that was taken in meanwhile."""
    outcome = await storm(0, seed=7, writers=1, pause=0.5, only=["worker", "slow disk", "server", "postgres"], many=3)
    check(outcome)
    assert outcome.figures["kills"] >= 2


@pytest.mark.slow
async def test_a_long_storm_does_not_either() -> None:
    outcome = await storm(5, seed=11)
    check(outcome)
    assert outcome.figures["kills"] >= 5
