"""Dates as people write them, resolved against the day of writing."""

from datetime import date

import pytest

from mnemon.documents.structure.dates import read_dates

WEDNESDAY = date(2025, 3, 5)


def last_day(text: str, today: date = WEDNESDAY) -> str:
    """The day by which "by ..." has to be done."""
    mentions = read_dates(text, today, "future")
    assert len(mentions) == 1, mentions
    return mentions[0].period.last.isoformat()


@pytest.mark.parametrize(
    ("words", "due"),
    [
        ("by 2025-04-01", "2025-04-01"),
        ("by 12 March", "2025-03-12"),
        ("by March 12th, 2026", "2026-03-12"),
        ("by the 12th of March", "2025-03-12"),
        # Just passed, so it was meant when the minutes were written up.
        ("by 4 March", "2025-03-04"),
        ("by 5 November", "2025-11-05"),
        ("by Thursday week", "2025-03-13"),
        ("by Tuesday of next week", "2025-03-11"),
        ("next week on Tuesday", "2025-03-11"),
        ("the week after next", "2025-03-23"),
        ("in the week of 14 April", "2025-04-20"),
        ("before the month is out", "2025-03-31"),
        ("the following morning", "2025-03-06"),
        ("within a fortnight of the meeting", "2025-03-19"),
        ("by Good Friday", "2025-04-18"),
        ("before Halloween", "2025-10-31"),
        ("by New Year's Eve", "2025-12-31"),
        ("thurs at the latest", "2025-03-06"),
        ("by three", "2025-03-05"),
        ("by half past nine", "2025-03-05"),
        ("by 1430", "2025-03-05"),
        ("tomorrow before noon", "2025-03-06"),
        ("by 26 Sept", "2025-09-26"),
        ("by 14.03.2025", "2025-03-14"),
        ("by 3/25/2025", "2025-03-25"),
        ("by Friday", "2025-03-07"),
        ("by Wednesday", "2025-03-12"),
        ("on Fri", "2025-03-07"),
        ("next Tuesday", "2025-03-11"),
        ("this Thursday", "2025-03-06"),
        ("tomorrow", "2025-03-06"),
        ("tonight", "2025-03-05"),
        ("this afternoon", "2025-03-05"),
        ("the day after tomorrow", "2025-03-07"),
        ("next week", "2025-03-16"),
        ("by the end of the week", "2025-03-07"),
        ("by the end of next week", "2025-03-14"),
        ("by the end of the month", "2025-03-31"),
        ("by the end of the quarter", "2025-03-31"),
        ("by end of year", "2025-12-31"),
        ("by the end of July", "2025-07-31"),
        ("by EOW", "2025-03-07"),
        ("by COB", "2025-03-05"),
        ("by Q3", "2025-09-30"),
        ("by the end of Q1 2026", "2026-03-31"),
        ("in the second quarter", "2025-06-30"),
        ("in H2", "2025-12-31"),
        ("within two weeks", "2025-03-19"),
        ("in three days", "2025-03-08"),
        ("within ten business days", "2025-03-19"),
        ("in a month", "2025-04-05"),
        ("by June", "2025-06-30"),
        ("in June 2026", "2026-06-30"),
        ("before the 20th", "2025-03-20"),
        ("by the 3rd", "2025-04-03"),
    ],
)
def test_a_deadline_is_its_last_day(words: str, due: str) -> None:
    assert last_day(f"I will send it {words}.") == due


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("on Friday", "2025-02-28"),
        ("yesterday", "2025-03-04"),
        ("last week", "2025-02-24"),
        ("last Tuesday", "2025-02-25"),
        ("two weeks ago", "2025-02-19"),
        ("on 28 February", "2025-02-28"),
        ("on 30 December", "2024-12-30"),
        ("this morning", "2025-03-05"),
        ("last month", "2025-02-01"),
    ],
)
def test_the_past_begins_on_its_first_day(words: str, first: str) -> None:
    mentions = read_dates(f"We met {words}.", WEDNESDAY, "past")
    assert [each.period.first.isoformat() for each in mentions] == [first]


@pytest.mark.parametrize(
    "words",
    [
        "We sat down with them.",
        "You may go.",
        "The sun is out.",
        "I march on.",
        "Version 2.3.1",
        "the January figures",
        "30 February",
        "in 14 minutes",
        "write to the sixth-form college",
    ],
)
def test_other_words_are_no_dates(words: str) -> None:
    assert read_dates(words, WEDNESDAY) == []


def test_a_month_ends_where_its_shorter_neighbour_does() -> None:
    assert last_day("in a month", date(2025, 1, 31)) == "2025-02-28"


def test_the_word_before_a_date_tells_a_deadline_from_a_beginning() -> None:
    leads = [each.lead for each in read_dates("from 1 June, by 3 June, no later than 5 June", WEDNESDAY, "future")]
    assert leads == ["from", "by", "no later than"]


@pytest.mark.parametrize(
    ("words", "due"),
    [
        ("bis Freitag", "2025-03-07"),
        ("bis nächsten Montag", "2025-03-10"),
        ("spätestens am Mo", "2025-03-10"),
        ("am Montag, 17. März", "2025-03-17"),
        ("bis 17.04.", "2025-04-17"),
        ("bis zum 15. Februar 2026", "2026-02-15"),
        ("bis Ende des Monats", "2025-03-31"),
        ("bis Monatsende", "2025-03-31"),
        ("bis Ende April", "2025-04-30"),
        ("bis Ende der Woche", "2025-03-07"),
        ("noch diese Woche", "2025-03-09"),
        ("nächste Woche", "2025-03-16"),
        ("in zwei Wochen", "2025-03-19"),
        ("binnen 14 Tagen", "2025-03-19"),
        ("bis KW 47", "2025-11-23"),
        ("in der 33. Kalenderwoche", "2025-08-17"),
        ("heute noch", "2025-03-05"),
        ("bis morgen Mittag", "2025-03-06"),
        ("bis Feierabend", "2025-03-05"),
        ("EOD Thu", "2025-03-06"),
        ("by Friday 21 March", "2025-03-21"),
        ("by mid March", "2025-03-15"),
        ("by noon", "2025-03-05"),
        ("before lunch tomorrow", "2025-03-06"),
        ("by 3/25", "2025-03-25"),
        ("by the fifteenth", "2025-03-15"),
        ("tmrw", "2025-03-06"),
        ("bis Ende Juni 24 Euro", "2025-06-30"),
        ("bis Dienstag nächster Woche", "2025-03-11"),
        ("nächste Woche am Dienstag", "2025-03-11"),
        ("bis übernächsten Montag", "2025-03-17"),
        ("übernächste Woche", "2025-03-23"),
        ("in der Woche vom 14. April", "2025-04-20"),
        ("Frist sind drei Wochen", "2025-03-26"),
        ("vor Heiligabend", "2025-12-24"),
        ("bis Himmelfahrt", "2025-05-29"),
        ("bis Pfingsten", "2025-06-08"),
        ("spätestens am 23.?", "2025-03-23"),
        ("Freitag bis 12 Uhr", "2025-03-07"),
    ],
)
def test_german_and_clipped_dates(words: str, due: str) -> None:
    assert last_day(words) == due


@pytest.mark.parametrize(
    "words",
    [
        "Guten Morgen!",
        "at 10:30",
        "24/7",
        "about 2/3 of them",
        "um 8 Uhr",
        "2.3.1",
        "before two of them",
        "by three people",
        "by 2040",
        "within 20 days of receipt",
        "binnen 14 Tagen nach Lieferung",
    ],
)
def test_what_is_no_day(words: str) -> None:
    assert read_dates(words, WEDNESDAY) == []


def test_of_two_weekdays_side_by_side_each_is_a_day() -> None:
    found = read_dates("Tausch bis Montag den Dienstag mit dem Freitag", WEDNESDAY, "future")
    assert (found[0].lead, found[0].period.last) == ("by", date(2025, 3, 10))
