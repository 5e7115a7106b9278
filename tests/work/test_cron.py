"""Cron rules name the moments that their time zone's clocks show."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.work.cron import parse_cron

BERLIN = ZoneInfo("Europe/Berlin")


def moments(rule: str, start: str, count: int, zone: ZoneInfo = BERLIN) -> list[str]:
    cron, moment, found = parse_cron(rule), datetime.fromisoformat(start).replace(tzinfo=zone), []
    for _ in range(count):
        moment = cron.next_after(moment, zone)
        assert moment.tzinfo is UTC
        found.append(moment.astimezone(zone).strftime("%a %m-%d %H:%M%z"))
    return found


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("* * * * *", ["Thu 01-01 00:01+0100", "Thu 01-01 00:02+0100"]),
        ("*/20 3 * * *", ["Thu 01-01 03:00+0100", "Thu 01-01 03:20+0100"]),
        ("5-7,30 0 * * *", ["Thu 01-01 00:05+0100", "Thu 01-01 00:06+0100"]),
        ("0 9 * * mon-fri", ["Thu 01-01 09:00+0100", "Fri 01-02 09:00+0100"]),
        ("0 0 * * 7", ["Sun 01-04 00:00+0100", "Sun 01-11 00:00+0100"]),
        ("0 0 13 * fri", ["Fri 01-02 00:00+0100", "Fri 01-09 00:00+0100"]),
        ("0 0 29 feb *", ["Tue 02-29 00:00+0100", "Sun 02-29 00:00+0100"]),
        ("10/20 0 * * *", ["Thu 01-01 00:10+0100", "Thu 01-01 00:30+0100"]),
        ("@monthly", ["Sun 02-01 00:00+0100", "Sun 03-01 00:00+0100"]),
    ],
)
def test_a_rule_names_its_moments(rule: str, expected: list[str]) -> None:
    assert moments(rule, "2026-01-01T00:00", 2) == expected


def test_a_time_that_spring_skips_comes_an_hour_later_by_the_clock() -> None:
    assert moments("30 2 * * *", "2026-03-28T12:00", 2) == ["Sun 03-29 03:30+0200", "Mon 03-30 02:30+0200"]


def test_a_time_that_autumn_repeats_comes_once() -> None:
    assert moments("30 2 * * *", "2026-10-24T12:00", 2) == ["Sun 10-25 02:30+0200", "Mon 10-26 02:30+0100"]


def test_an_hourly_rule_has_one_hour_more_in_autumn_and_one_less_in_spring() -> None:
    assert moments("0 * * * *", "2026-10-25T01:30", 3) == [
        "Sun 10-25 02:00+0200", "Sun 10-25 02:00+0100", "Sun 10-25 03:00+0100",
    ]  # fmt: skip
    assert moments("0 * * * *", "2026-03-29T01:30", 2) == ["Sun 03-29 03:00+0200", "Sun 03-29 04:00+0200"]


@pytest.mark.parametrize(
    "rule", ["", "* * * *", "60 * * * *", "* 24 * * *", "a * * * *", "*/0 * * * *", "5-1 * * * *", "0 0 31 2 *"]
)
def test_nonsense_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"not|no day"):
        parse_cron(rule)


@given(
    rule=st.sampled_from(["*/7 * * * *", "0 3 * * *", "15 2 * * sun", "30 1 1 * *", "0 */6 * * mon"]),
    moment=st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
)
def test_the_next_moment_is_later_and_nothing_lies_between(rule: str, moment: datetime, zone: str) -> None:
    cron, place = parse_cron(rule), ZoneInfo(zone)
    following = cron.next_after(moment, place)
    assert following > moment
    assert cron.next_after(moment + (following - moment) / 2, place) == following
