"""Workbooks, slides, OpenDocument, books, rich text and archives of them become text with structure."""

import io
import json
from pathlib import Path

import openpyxl
import pytest

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.extract import extract
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.sniff import sniff
from mnemon.documents.ingest.content import Extraction
from tests.documents.docx_samples import docx, paragraph
from tests.documents.extraction.test_chats import SLACK
from tests.documents.invariants import check
from tests.documents.office_samples import (
    ODF,
    ODP_BODY,
    ODS_BODY,
    ODT_BODY,
    RTF,
    epub,
    opendocument,
    packed,
    slides,
    tasks_xlsx,
    xlsx,
)  # fmt: skip


def read(tmp_path: Path, content: bytes, kind: FileKind, limits: Limits | None = None) -> Extraction:
    """By its name and content, as an upload is."""
    file = tmp_path / f"upload.{kind}"
    file.write_bytes(content)
    found = extract(file, sniff(file, file.name), limits or Limits())
    check(found)
    return found


def blocks(found: Extraction) -> list[tuple[str, int, str]]:
    return [(one.kind, one.level, found.text[one.start : one.end]) for one in found.blocks]


def test_the_rows_of_a_workbook_are_told_with_their_headings(tmp_path: Path) -> None:
    found = read(tmp_path, tasks_xlsx(), "xlsx")
    assert blocks(found) == [
        ("heading", 1, "Tasks"),
        ("record", 0, "Task: Write the report | Owner: Anna Berg | Due: 2026-03-02 | Share: 0.5"),
        ("record", 0, "Task: Call | Owner: Ben Ito | Due: 2026-03-05 14:30 | Share: 1"),
        ("heading", 1, "Sums"),
        ("record", 0, "Name: All | Sum: =SUM(A1:A2)"),
    ]
    assert (found.details.title, found.details.authors) == ("The plan", ["Anna Berg"])


def test_one_cell_at_the_far_end_of_a_sheet_costs_nothing(tmp_path: Path) -> None:
    book = xlsx({"A": [["Name", "Town"], ["Anna", "Oslo"]]})
    loaded = openpyxl.load_workbook(io.BytesIO(book))
    loaded.active["XFD1048576"] = "far"
    made = io.BytesIO()
    loaded.save(made)
    assert read(tmp_path, made.getvalue(), "xlsx").text == "A\n\nName: Anna | Town: Oslo\n\nfar"


def test_slides_have_titles_text_tables_and_notes(tmp_path: Path) -> None:
    assert blocks(read(tmp_path, slides(), "pptx")) == [
        ("heading", 1, "Slide 1: Launch"),
        ("list", 0, "- Ship on Friday\n  - Rest on Saturday"),
        ("paragraph", 0, "Notes: Say who ships."),
        ("heading", 1, "Slide 2: Costs"),
        ("table", 0, "Item | Sum\nRent | 12"),
    ]


def test_an_opendocument_text_keeps_its_structure(tmp_path: Path) -> None:
    found = read(tmp_path, opendocument("text", ODT_BODY), "odt")
    assert blocks(found) == [
        ("heading", 2, "Scope"),
        ("paragraph", 0, "Goods  and\tmore."),
        ("paragraph", 0, "A note."),
        ("list", 0, "- first\n  - inner"),
        ("table", 0, "Name | Task"),
    ]
    assert (found.details.title, found.details.authors) == ("The plan", ["Anna Berg"])


def test_opendocument_sheets_and_slides(tmp_path: Path) -> None:
    sheet = read(tmp_path, opendocument("spreadsheet", ODS_BODY), "ods")
    assert sheet.text == "Costs\n\nItem: Rent | Sum: 12 €"
    slide = read(tmp_path, opendocument("presentation", ODP_BODY), "odp")
    assert slide.text == "Slide 1: Launch\n\nShip on Friday\n\nNotes: Say who."


def test_a_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    found = read(tmp_path, epub(), "epub")
    assert found.text == "One\n\nThe sea is blue.\n\nTwo\n\nThe sky too."
    assert (found.details.title, found.details.language) == ("The Sea", "en")


def test_rich_text_gives_its_words(tmp_path: Path) -> None:
    found = read(tmp_path, RTF, "rtf")
    assert found.text == "Grüße and € 12.\nSecond paragraph."
    assert (found.details.title, found.details.authors) == ("The plan", ["Anna Berg"])


def test_an_archive_holds_each_file_below_its_name(tmp_path: Path) -> None:
    content = packed({
        "notes/plan.md": "# Plan\n\nWe ship.", "a.docx": docx(paragraph("Text.")), "broken.docx": b"PK\x03\x04",
        "__MACOSX/._a.docx": b"x", "run.exe": b"MZ",
    })  # fmt: skip
    found = read(tmp_path, content, "zip")
    assert blocks(found) == [
        ("heading", 1, "a.docx"),
        ("paragraph", 0, "Text."),
        ("heading", 1, "notes/plan.md"),
        ("heading", 2, "# Plan"),
        ("paragraph", 0, "We ship."),
    ]
    assert found.details.more == {"left_out": "broken.docx, run.exe"}


def test_the_export_of_a_slack_workspace_knows_names_from_its_list(tmp_path: Path) -> None:
    users = [{"id": "U9", "profile": {"real_name": "Cara Dietz"}}]
    said = [{"type": "message", "user": "U9", "text": "Hello <@U1>", "ts": "1772620200.0"}]
    found = read(
        tmp_path,
        packed({
            "users.json": json.dumps(users), "general/2026-03-02.json": json.dumps(SLACK),
            "general/2026-03-04.json": json.dumps(said),
        }),
        "zip",
    )  # fmt: skip
    assert blocks(found)[0] == ("heading", 1, "#general")
    assert found.details.participants == ["Anna Berg", "Ben Ito", "Cara Dietz"]
    assert found.text.endswith("Cara Dietz: Hello @Anna Berg")


@pytest.mark.parametrize(
    ("kind", "content", "reason"),
    [
        ("xlsx", packed({"[Content_Types].xml": "", "xl/x": ""}), "damaged"),
        ("xlsx", packed({"[Content_Types].xml": "", "xl/workbook.xml": b"<a>" + b"\0" * (64 << 20)}), "zip_bomb"),
        ("pptx", packed({"[Content_Types].xml": "", "ppt/presentation.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"}),
         "hostile"),
        ("odt", opendocument("text", "<text:section>" * 90 + "</text:section>" * 90), "hostile"),
        ("odt", opendocument("text", "<text:p>" + "<text:span>" * 230 + "</text:span>" * 230 + "</text:p>"), "hostile"),
        ("odt", packed({
            "mimetype": "application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": f"<manifest:manifest {ODF}><manifest:encryption-data/></manifest:manifest>",
            "content.xml": b"\x01\x02",
         }), "encrypted"),
        ("epub", packed({"mimetype": "application/epub+zip", "a.opf": ""}), "damaged"),
        ("zip", packed({"a.exe": b"MZ", "b.zip": b"PK"}), "empty"),
    ],
)  # fmt: skip
def test_what_is_damaged_or_hostile_is_refused(tmp_path: Path, kind: FileKind, content: bytes, reason: str) -> None:
    with pytest.raises(ExtractionFailed) as failure:
        read(tmp_path, content, kind)
    assert failure.value.reason == reason


def test_what_an_archive_unpacks_to_is_bounded(tmp_path: Path) -> None:
    content = packed({f"{n}.txt": "word " * 100_000 for n in range(8)})
    with pytest.raises(ExtractionFailed) as failure:
        read(tmp_path, content, "zip", Limits(expanded_bytes=2 << 20))
    assert failure.value.reason == "too_large_unpacked"
