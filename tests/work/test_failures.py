"""From an exception to a job's failure."""

from datetime import timedelta

import psycopg
import pytest

from mnemon.models.failures import InvalidModel, ModelRateLimited
from mnemon.work.failures import failure_of


@pytest.mark.parametrize(
    ("asked", "delay"),
    [
        (7, timedelta(seconds=7)),
        (None, None),
        ("soon", None),
        (-3, timedelta(0)),
        (float("nan"), None),
        (float("inf"), timedelta(days=1)),
        (1e300, timedelta(days=1)),
    ],
)
def test_a_servers_wish_for_a_pause_replaces_the_back_off_within_reason(asked, delay) -> None:
    assert failure_of(ModelRateLimited("slower", retry_after=asked)).delay == delay


def test_an_error_says_whether_a_retry_helps_and_a_stranger_gets_one() -> None:
    assert failure_of(InvalidModel("no such model")).permanent
    assert not failure_of(ModelRateLimited("slower")).permanent
    stranger = failure_of(KeyError("k"))
    assert (stranger.code, stranger.permanent) == ("UNEXPECTED", False)
    gone = failure_of(psycopg.OperationalError())
    assert (gone.code, gone.message, gone.permanent) == ("POSTGRES_CONNECTION_ERROR", "The database went away.", False)
