"""Until when a commitment is to be kept, where its own words do not tell it or tell it by a name."""

from datetime import UTC, date, datetime

import pytest

from mnemon.semantics.extract.revision import Revision, SourceType
from mnemon.semantics.learned.due_days import due_day
from mnemon.semantics.rules.mood import plain

THURSDAY = datetime(2026, 3, 5, 10, tzinfo=UTC)


def due(text: str, quote: str, kind: SourceType = "note", zone: str = "UTC") -> str | None:
    revision = Revision("rev", text, kind, THURSDAY, zone, "", None, ("Ada Berg", "Ben Osei"))
    start = text.index(quote)
    place = max(at for at, unit in enumerate(revision.layout.units) if unit.start <= start)
    found = due_day(revision, place, plain(quote), revision.layout.units[place].day or revision.today)
    return found.isoformat() if found else None


@pytest.mark.parametrize(
    ("text", "quote", "day"),
    [
        ("Ada brings the drawings to the next meeting.\n\nNext meeting: 2 April 2026, 7 pm.\n", None, "2026-04-02"),
        ("Ada hat einen Entwurf für die nächste Sitzung.\n\nNächste Sitzung: 2. April 2026.\n", None, "2026-04-02"),
        ("Ben reports at the May meeting.\n\nThe club meets again on 14 May 2026.\n", None, "2026-05-14"),
        ("The road closure begins on 30 March.\nAda orders signs two weeks before the closure.\n",
         "Ada orders signs two weeks before the closure.", "2026-03-16"),
        ("Die Räumung beginnt am 30. März.\nAda bestellt Kisten, eine Woche vor der Räumung.\n",
         "Ada bestellt Kisten, eine Woche vor der Räumung.", "2026-03-23"),
        ("Ada gets three offers. They must be here by Easter.\n", "Ada gets three offers.", "2026-04-05"),
        ("Ada holt drei Angebote ein. Diese müssen bis Ostern da sein.\n", "Ada holt drei Angebote ein.", "2026-04-05"),
        ("Ada gets three offers. Ben paints the hall by Easter.\n", "Ada gets three offers.", None),
        ("Ada prunes the hedge before flowering.\nFlowering starts on 3 May.\n",
         "Ada prunes the hedge before flowering.", None),
        ("I will phone her straight after this.\n", None, "2026-03-05"),
        ("Das mach ich gleich nach der Probe.\n", None, "2026-03-05"),
        ("Ada puts the labels in, Thu 12th.\n", None, "2026-03-12"),
        ("Ada puts the labels in for the next set, Mon\n", None, "2026-03-09"),
        ("Ada gets the bottles by the middle of the month.\n", None, "2026-03-15"),
        ("Ada shall call the assembly once a year before the end of May.\n", None, None),
    ],
)  # fmt: skip
def test_a_day_that_other_words_tell(text: str, quote: str | None, day: str | None) -> None:
    assert due(text, quote or text.split("\n")[0]) == day


def test_who_is_asked_answers_with_the_day() -> None:
    talk = "ADA: Ben, will you write the estimate?\nBEN: {}\nADA: Fine.\nBEN: Right.\nADA: Next point.\n"
    assert (
        due(talk.format("You'll have it by Monday."), "Ben, will you write the estimate?", "transcript") == "2026-03-09"
    )
    assert due(talk.format("The roof leaks since Monday."), "Ben, will you write the estimate?", "transcript") is None


def test_words_of_an_older_message_count_from_its_day() -> None:
    text = (
        "From: Ada Berg\nDate: Mon, 2 Mar 2026 09:00\n\nBen, please measure the hall by Wednesday.\n\n"
        "From: Ben Osei\nDate: Thu, 5 Mar 2026 09:00\n\nI will paint it by Wednesday.\n"
    )
    assert due(text, "Ben, please measure the hall by Wednesday.", "email") == "2026-03-04"
    assert due(text, "I will paint it by Wednesday.", "email") == "2026-03-11"


def test_notes_sent_the_next_morning_are_of_the_day_that_heads_them() -> None:
    text = "Visit to the dairy, Wednesday 4 March 2026\n\nAda sends the figures tonight.\n"
    assert due(text, "Ada sends the figures tonight.") == "2026-03-04"


def test_a_plan_is_not_written_on_its_days() -> None:
    """Nobody writes on a day to come."""
    text = "Plan\n\nMon 9 March. Ada unloads.\nTue 10 March. Ben builds the stage.\n"
    revision = Revision("rev", text, "note", THURSDAY)
    assert {unit.day for unit in revision.layout.units} == {None}
    diary = Revision("rev", text, "note", datetime(2026, 3, 10, 20, tzinfo=UTC))
    assert {unit.day for unit in diary.layout.units} >= {date(2026, 3, 9), date(2026, 3, 10)}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I can do the till from 9", None),
        ("Ich mache die Kasse ab 9", None),
        ("I will be there on the Tuesday.", None),
        ("I will be there on Tuesday.", "2026-03-10"),
        ("I will do it as I did last year.", None),
        ("Ich übernehme das wie im letzten Jahr.", None),
        # Written up the day after.
        ("Ada sends the plan by 4 March.", "2026-03-04"),
        ("Ada sends the plan, 4 March.", "2026-03-04"),
    ],
)
def test_nobody_promises_anything_for_a_day_gone_by(text: str, day: str | None) -> None:
    assert due(text, text) == day


def test_a_day_gone_by_answers_nothing() -> None:
    talk = "ADA: I can do the till from 9\nBEN: last year took 30 minutes\nADA: Fine.\nBEN: Right.\nADA: Next.\n"
    assert due(talk, "I can do the till from 9", "transcript") is None


def test_a_year_that_is_over_is_no_deadline() -> None:
    talk = "ADA: I can do the desk from 8\nBEN: last year was 30 per team\nADA: Fine.\nBEN: Right.\nADA: Next point.\n"
    assert due(talk, "I can do the desk from 8", "transcript") is None
    assert due("Ada sells more than last year.\n", "Ada sells more than last year.") is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Every breakage is told to Ada within 24 hours.", None),
        ("Whoever breaks a pane tells Ada within two days.", None),
        ("Jeder Schaden ist Ada binnen 24 Stunden zu melden.", None),
        ("Every member pays by 31 May.", "2026-05-31"),
        ("Ada tells Ben within two days.", "2026-03-07"),
    ],
)
def test_what_is_counted_from_each_time_is_due_on_no_day(text: str, day: str | None) -> None:
    assert due(text, text) == day
