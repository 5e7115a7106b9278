"""A heading that is or holds a day dates what stands below it, until the next heading of its rank."""

from datetime import date

import pytest

from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.markdown import extract_markdown
from mnemon.documents.extraction.plain import extract_plain
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.content import Chunk, Extraction
from mnemon.documents.ingest.structured import with_structure
from mnemon.documents.structure.calendar_words import NO_YEAR
from mnemon.documents.structure.section_days import said_days
from mnemon.documents.structure.stored import load_structure
from mnemon.documents.structure.structure import Structure


def markdown(text: str) -> Extraction:
    return with_structure(extract_markdown(text.encode(), DEFAULT_LIMITS))


def plain(text: str) -> Extraction:
    return with_structure(extract_plain(text.encode(), DEFAULT_LIMITS))


def structure_of(extraction: Extraction) -> Structure:
    structure = load_structure(extraction.structure)
    assert structure is not None
    return structure


def day_of(extraction: Extraction, words: str, written: date | None = None) -> date | None:
    parts = structure_of(extraction).parts
    days = said_days(parts, written)
    [found] = [day for part, day in zip(parts, days, strict=True) if words in extraction.text[part.start : part.end]]
    return found


MINUTES = [
    "# Allotment committee\n\n## {}\n\n- The hedge is cut.\n\n## {}\n\n- The well is dug.\n",
    "# Protokolle\n\n## Sitzung vom {}\n\nThe hedge is cut.\n\n## Sitzung vom {}\n\nThe well is dug.\n",
    "# Board\n\n## Minutes of {}\n\n### Decisions\n\n- The hedge is cut.\n\n## Minutes of {}\n\n### Decisions\n\n"
    "- The well is dug.\n",
    "# Board\n\n## {} - the long one\n\n### Garden\n\nThe hedge is cut.\n\n## {} - the short one\n\n### Garden\n\n"
    "The well is dug.\n",
]
DAYS = [("2 February 2026", "13 April 2026"), ("02.02.2026", "13.04.2026"), ("2026-02-02", "2026-04-13")]


@pytest.mark.parametrize("form", MINUTES)
@pytest.mark.parametrize(("first", "second"), DAYS)
def test_each_meeting_of_a_file_has_its_own_day(form: str, first: str, second: str) -> None:
    read = markdown(form.format(first, second))
    assert day_of(read, "hedge") == date(2026, 2, 2)
    assert day_of(read, "well") == date(2026, 4, 13)
    # Also where the file is dated by its first meeting.
    assert day_of(read, "well", written=date(2026, 2, 2)) == date(2026, 4, 13)


@pytest.mark.parametrize("form", ["{}\n{}\nThe hedge is cut.\n\n{}\n{}\nThe well is dug.\n"])
def test_underlined_days_of_a_plain_text_are_sections_too(form: str) -> None:
    read = plain("Notes\n\n" + form.format("2 February 2026", "-" * 15, "13 April 2026", "-" * 13))
    assert (day_of(read, "hedge"), day_of(read, "well")) == (date(2026, 2, 2), date(2026, 4, 13))


def test_a_section_ends_with_the_next_heading_of_its_rank() -> None:
    read = markdown(
        "# Club\n\n## Meeting of 3 March 2026\n\n### Decisions\n\nThe hut is sold.\n\n## How we vote\n\nBy hand.\n\n"
        "## Meeting of 7 May 2026\n\nThe boat is sold.\n"
    )
    assert day_of(read, "hut") == date(2026, 3, 3)
    assert day_of(read, "By hand") is None
    assert day_of(read, "boat") == date(2026, 5, 7)


@pytest.mark.parametrize(
    "heading",
    ["Actions by 7 May 2026", "Next meeting: 7 May 2026", "Prices from 7 May 2026", "Frist 07.05.2026", "The 7 May bus",
     "Einladung zur Sitzung am 7. Mai 2026"],
)  # fmt: skip
def test_a_day_that_a_heading_only_speaks_of_dates_nothing(heading: str) -> None:
    read = markdown(f"# Club\n\n## Money\n\nThe fee is low.\n\n## {heading}\n\nThe hut is sold.\n")
    assert day_of(read, "hut") is None


def test_the_minutes_that_a_meeting_agrees_are_of_another_day() -> None:
    text = "# Board, 7 May 2026\n\n## 1. Minutes of 3 March 2026\n\nTaken as read.\n\n## 2. Money\n\nNone.\n"
    assert day_of(markdown(text), "Taken") is None


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("== Mon 28 Dec 2026 ==", "== Tue 29 Dec ==", "== Mon 4 Jan =="),
        ("--- 28.12.2026 ---", "--- 29.12. ---", "--- 04.01. ---"),
        ("[Mo 28.12.2026]", "[Di 29.12.]", "[Mo 04.01.]"),
        ("Monday 28 December 2026", "\nTue 29 December", "\nMonday 4 January"),
    ],
)
def test_the_year_of_a_log_goes_on(first: str, second: str, third: str) -> None:
    read = plain(
        f"daily call\n\n{first}\nIda: belt is in\nOle: painting\n{second}\nIda: belt squeaks\nOle: painted\n"
        f"{third}\nIda: belt is greased\nOle: resting\n"
    )
    assert day_of(read, "squeaks") == date(2026, 12, 29)
    assert day_of(read, "greased") == date(2027, 1, 4)


def test_a_log_that_tells_no_year_at_all_waits_for_one() -> None:
    read = plain("call\n\n== 28 Dec ==\nIda: belt is in\nOle: painting\n== 29 Dec ==\nIda: it squeaks\nOle: painted\n")
    assert {part.day.year for part in structure_of(read).parts if part.day} == {NO_YEAR}


def test_a_plan_is_not_said_on_its_days() -> None:
    plan = "# Works\n\n## 5 October 2026\n\nThe fence comes down.\n\n## 12 October 2026\n\nThe wall goes up.\n"
    assert day_of(markdown(plan), "wall", written=date(2026, 9, 1)) is None


def chunks_of(extraction: Extraction) -> list[Chunk]:
    return chunk(extraction, lambda text: len(text.split()))


def test_a_passage_has_the_day_of_its_section() -> None:
    read = markdown(MINUTES[0].format("2 February 2026", "13 April 2026"))
    told = {one.said_on for one in chunks_of(read) if "hedge" in one.text or "well" in one.text}
    assert told == {date(2026, 2, 2), date(2026, 4, 13)}


def test_a_passage_of_several_days_has_none() -> None:
    read = plain("Yard diary\n\nMon 4 May 2026. The hull is dry.\nWed 6 May 2026. The mast is up.\n")
    [only] = [one for one in chunks_of(read) if "mast" in one.text]
    assert "hull" in only.text
    assert only.said_on is None


@pytest.mark.parametrize(
    ("title", "first", "second", "year"),
    [
        ("# Board minutes 2025", "## 12 January", "## 9 February", 2025),
        ("# Protokolle des Vorstands 2024", "## 3. Mai", "## 7. Juni", 2024),
        ("# Board minutes", "## 12 January", "## 9 February", NO_YEAR),
        ("# Plans of 2024 and 2025", "## 12 January", "## 9 February 2026", 2026),
    ],
)
def test_the_title_says_the_year_of_sections_that_tell_none(title: str, first: str, second: str, year: int) -> None:
    read = markdown(f"{title}\n\n{first}\n\nThe hall is let to the choir.\n\n{second}\n\nThe well is covered.\n")
    days = [part.day for part in structure_of(read).parts if part.day]
    assert {day.year for day in days} == {year}
