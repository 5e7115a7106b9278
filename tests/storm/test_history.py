"""The checker of histories finds what it is there to find."""

from dataclasses import replace

import pytest

from tests.storm.history import History, Read, Stored, Write, judge

WRITES = [Write("a", f"u{n}", n, n + 1, float(n), n + 0.5) for n in (1, 2, 3)]
LOG = [Stored(1, None, None), *(Stored(n + 1, f"u{n}", "a") for n in (1, 2, 3))]
READS = [Read("a", 1, 1.6, 1.7), Read("a", 2, 2.1, 2.2), Read("a", 3, 4.0, 4.1)]


def test_a_history_that_one_order_explains_is_fine() -> None:
    verdict = judge(History(WRITES, READS), LOG)
    assert (verdict.lost, verdict.doubled, verdict.broken) == ([], [], [])


def test_a_lost_a_double_and_a_gap_are_found() -> None:
    assert judge(History(WRITES, []), LOG[:-1]).lost == ["u3"]
    assert judge(History(WRITES, []), [*LOG, Stored(5, "u3", "a")]).doubled == ["u3"]
    assert "sequence 3 stands where 2" in judge(History(), [LOG[0], LOG[2]]).broken[0]


@pytest.mark.parametrize(
    ("history", "found"),
    [
        (History([WRITES[0], replace(WRITES[1], version=1)], []), "was acknowledged as version 1"),
        (History([replace(WRITES[0], sequence=9)], []), "was acknowledged at 9"),
        (History([WRITES[2], replace(WRITES[0], asked=5.0, told=6.0)], []), "was asked for after 3 was told"),
        (History(WRITES, [Read("a", 1, 2.6, 2.7)]), "saw 1 after 2 was told"),
        (History([], [Read("a", 3, 1.0, 1.1), Read("a", 2, 1.2, 1.3)]), "saw 2 after another had seen 3"),
    ],
)
def test_what_no_order_explains_is_found(history: History, found: str) -> None:
    assert any(found in one for one in judge(history, LOG).broken)
