"""A document's date is what it says of itself, never a date that its sentences happen to name."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from mnemon.documents.extraction.extract import extract
from mnemon.documents.ingest.content import Details, Extraction
from mnemon.documents.ingest.dating import date_in_head, date_in_name, recorded_moment, written_at
from mnemon.documents.ingest.described import as_told

KESTREL = Path(__file__).parents[2] / "examples" / "kestrel"


def day(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("# Weekly meeting, 12 January 2026\n\nPresent: Ada", day(2026, 1, 12)),
        ("#operations, 9 April 2026\n\n[16:31] Ada: hello", day(2026, 4, 9)),
        ("Retention policy\n\nVersion 2 · in force from 15 May 2026", day(2026, 5, 15)),
        ("Board minutes (March 3rd, 2026)", day(2026, 3, 3)),
        ("The treaty was signed on 4 July 1776.", None),
        ("The open day is on 24 April 2027\nPriti shows the x-ray machine", None),
        ("Tag der offenen Tür\nEr findet am 24. April 2027 statt", None),
        ("The shop opens again on Monday, 4 May 2026", None),
        ("Minutes of the meeting on 24 April 2026", day(2026, 4, 24)),
        ("Protokoll der Sitzung am 24. April 2026", day(2026, 4, 24)),
        ("One\nTwo\nThree\nWritten 3 May 2026", None),
        ("Plan of 31 February 2026", None),
        ("Plan of 03/04/2026", None),
        ("Teileliste Ruderboot – Stand 02.11.2026", day(2026, 11, 2)),
        ("Protokoll vom 3.4.2026", day(2026, 4, 3)),
        ("Ideas, February 2026", None),
    ],
)
def test_a_caption_dates_a_document_and_a_sentence_does_not(head: str, expected: datetime | None) -> None:
    assert date_in_head(head) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2026-01-12-weekly.md", day(2026, 1, 12)),
        ("minutes_20260112.txt", day(2026, 1, 12)),
        ("scan 2026.01.12.pdf", day(2026, 1, 12)),
        ("12-01-2026.md", None),
        ("invoice-120260112.pdf", None),
        ("2026-13-40.md", None),
        ("2026-01.md", None),
    ],
)
def test_a_name_dates_a_document_where_the_year_comes_first(name: str, expected: datetime | None) -> None:
    assert date_in_name(name) == expected


def test_what_the_file_says_comes_first_and_placeholders_of_tools_say_nothing() -> None:
    stated = Extraction("Notes, 3 May 2026", (), Details(written_at=day(2026, 5, 1)), "md/1")
    assert written_at(stated, "2026-05-09.md") == day(2026, 5, 1)
    reproducible = Extraction("Notes, 3 May 2026", (), Details(written_at=day(2000, 1, 1)), "pdf/1")
    assert written_at(reproducible, "2026-05-09.pdf") == day(2026, 5, 3)
    assert written_at(Extraction("Notes", (), Details(), "md/1"), "2026-05-09.md") == day(2026, 5, 9)
    template = Details(written_at=datetime(2013, 12, 23, 23, 15, tzinfo=UTC), dated_by_file=True)
    assert (
        written_at(Extraction("Laundry agreement\n\nThe laundry collects.", (), template, "docx/1"), "a.docx") is None
    )
    nowhere = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12)))
    beyond = Extraction("Notes", (), Details(written_at=nowhere), "eml/1")
    assert written_at(beyond, "2026-05-09.eml") == day(2026, 5, 9), "no universal time, no date"
    assert recorded_moment(nowhere.isoformat()) is None, "also where the log has it"
    assert recorded_moment("2026-05-09T00:00:00+00:00") == day(2026, 5, 9)


@pytest.mark.parametrize("file", sorted((KESTREL / "minutes").iterdir()), ids=lambda file: file.name)
def test_the_minutes_of_the_examples_know_their_day_and_who_was_there(file: Path) -> None:
    found = extract(file, "md")
    assert written_at(found, "unnamed.md") == date_in_name(file.name)
    assert found.details.participants


def test_an_aside_is_no_part_of_a_name() -> None:
    found = extract(KESTREL / "minutes" / "2026-03-02-pricing.md", "md")
    assert "Aoife Byrne" in found.details.participants


def test_a_template_that_is_older_than_the_minutes_does_not_date_them() -> None:
    made = Details(written_at=day(2019, 6, 4), dated_by_file=True)
    dated = Extraction("Minutes of the harbour group, 12 May 2026\n\nThe crane was tested.", (), made, "docx/1")
    undated = Extraction("Minutes of the harbour group\n\nThe crane was tested on 12 May 2026.", (), made, "docx/1")
    assert written_at(dated, "minutes.docx") == day(2026, 5, 12)
    assert written_at(undated, "minutes.docx") == day(2019, 6, 4)
    assert as_told(dated, {"written_at": "2026-05-13T00:00:00+00:00"}).details.dated_by_file is False
