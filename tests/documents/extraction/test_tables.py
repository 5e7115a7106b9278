"""A row of a table is a passage of its own that tells what its values are."""

import json
from pathlib import Path

import pytest

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.extract import extract
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.ingest.content import Extraction
from mnemon.documents.ingest.dating import written_at
from tests.documents.invariants import check, structure_of

TASKS = 'Task,Owner,Due\nWrite the report,Anna Berg,2026-03-02\n"Call, then visit\nBen",,2026-03-05\n'


def read(tmp_path: Path, content: str | bytes, kind: FileKind = "csv", **limits: int) -> Extraction:
    file = tmp_path / "upload"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    found = extract(file, kind, Limits(**limits))
    check(found)
    return found


def records(found: Extraction) -> list[str]:
    return [found.text[block.start : block.end] for block in found.blocks if block.kind == "record"]


def test_each_row_is_told_with_its_headings(tmp_path: Path) -> None:
    found = read(tmp_path, TASKS)
    assert records(found) == [
        "Task: Write the report | Owner: Anna Berg | Due: 2026-03-02",
        "Task: Call, then visit Ben | Due: 2026-03-05",
    ]


def test_a_row_is_a_passage_of_its_own(tmp_path: Path) -> None:
    found = read(tmp_path, TASKS)
    assert [one.text for one in check(found)] == records(found)


@pytest.mark.parametrize("delimiter", ["\t", ";", "|", ","])
def test_what_parts_the_cells_is_found(tmp_path: Path, delimiter: str) -> None:
    rows = [("Name", "Town"), ("Anna", "Oslo"), ("Ben", "Rome")]
    found = read(tmp_path, "\r\n".join(delimiter.join(row) for row in rows))
    assert records(found) == ["Name: Anna | Town: Oslo", "Name: Ben | Town: Rome"]


def test_a_comma_in_a_number_parts_nothing_where_semicolons_do(tmp_path: Path) -> None:
    found = read(tmp_path, "Posten;Betrag\nMiete;1.200,50\nStrom;80,00\n")
    assert records(found) == ["Posten: Miete | Betrag: 1.200,50", "Posten: Strom | Betrag: 80,00"]


def test_excels_own_first_line_and_lines_above_the_headings_are_understood(tmp_path: Path) -> None:
    found = read(tmp_path, "sep=;\nBudget 2026;;\n;;\nItem;Sum;By\nRent;12;Anna\n")
    assert found.text == "Budget 2026\n\nItem: Rent | Sum: 12 | By: Anna"


def test_numbers_are_no_headings(tmp_path: Path) -> None:
    assert records(read(tmp_path, "1,2\n3,4\n")) == ["1 | 2", "3 | 4"]


def test_a_formula_is_a_text_like_any_other(tmp_path: Path) -> None:
    found = read(tmp_path, 'Name,Sum\nAnna,"=HYPERLINK(""http://evil.example"")"\nBen,=1+1\n')
    assert records(found)[1] == "Name: Ben | Sum: =1+1"


def test_the_rows_of_a_list_of_tasks_are_read_as_such(tmp_path: Path) -> None:
    parts = structure_of(read(tmp_path, TASKS)).parts
    assert [dict(part.cells) for part in parts] == [
        {"task": "Write the report", "owner": "Anna Berg", "due": "2026-03-02"},
        {"task": "Call, then visit Ben", "due": "2026-03-05"},
    ]
    assert all(part.speaker is None and part.day is None for part in parts), "a heading is no speaker"


def test_a_row_does_not_date_its_table(tmp_path: Path) -> None:
    found = read(tmp_path, "Date,Sum\n2019-05-04,3\n2020-01-01,4\n")
    assert written_at(found, "sums.csv") is None


def test_rows_of_a_long_table_share_passages(tmp_path: Path) -> None:
    rows = "".join(f"{number},Oslo\n" for number in range(4_500))
    found = read(tmp_path, "Number,Town\n" + rows)
    assert len(records(found)) < 500
    assert found.text.count("Town: Oslo") == 4_500


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExtractionFailed, match="columns"):
        read(tmp_path, ",".join(f"c{n}" for n in range(3_000)) + "\n" + "1," * 2_999 + "1\n")


def test_a_quote_that_is_never_closed_takes_no_harm(tmp_path: Path) -> None:
    assert "b c" in read(tmp_path, 'Name,Town\nAnna,"b\nc\n' + "x,y\n" * 100).text


def test_records_of_json_are_rows(tmp_path: Path) -> None:
    data = [{"id": 7, "by": {"name": "Anna"}, "tags": ["a", "b"], "done": True}, {"id": 8, "note": "later"}]
    expected = ["id: 7 | by.name: Anna | tags: a, b | done: yes", "id: 8 | note: later"]
    assert records(read(tmp_path, json.dumps(data), "json")) == expected
    assert records(read(tmp_path, "\n".join(map(json.dumps, data)), "json")) == expected


def test_other_json_is_told_value_by_value(tmp_path: Path) -> None:
    data = {
        "plan": {"name": "Kestrel", "year": 2026},
        "people": [{"n": "Anna", "t": "Oslo"}, {"n": "Ben", "t": "Rome"}],
    }
    found = read(tmp_path, json.dumps(data), "json")
    assert records(found) == ["plan.name: Kestrel", "plan.year: 2026", "n: Anna | t: Oslo", "n: Ben | t: Rome"]
    assert [found.text[one.start : one.end] for one in found.blocks if one.kind == "heading"] == ["people"]


@pytest.mark.parametrize("content", ["{", "[" * 100_000, '{"a":1}\n{', "nothing"])
def test_damaged_json_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(ExtractionFailed) as failure:
        read(tmp_path, content, "json")
    assert failure.value.reason == "damaged"
