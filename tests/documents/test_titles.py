"""A document that nobody named is called what its file declares, or what the heading says that it begins with."""

from pathlib import Path

import pytest

from mnemon.documents.extraction.extract import extract
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.ingest.content import Details, Extraction
from mnemon.documents.ingest.titles import own_title
from mnemon.documents.structure.structure import Block
from tests.documents.docx_samples import docx, paragraph, run
from tests.documents.office_samples import RTF, epub, opendocument, slides, tasks_xlsx
from tests.documents.pdf_samples import heading, lines, pdf, together

MAIL = b"From: ada@example.org\nSubject: Lunch\n\nAt one?\n"
PAGE = together(heading("Travel policy of 2026"), lines("Trains only."))
ODT = "<text:h text:outline-level='1'>Plan for May</text:h><text:p>We launch.</text:p>"
FILES: list[tuple[FileKind, bytes, str | None]] = [
    ("md", b"# The *launch* plan\n\nIn May.\n\n## Costs\n\n10 euro.\n", "The launch plan"),
    ("md", b"---\ntitel: Starterplan\n---\n# Other words here\n", "Starterplan"),
    ("md", b"# Minutes\n\nIn May.\n", None),
    ("md", b"# Part one\n\nIn May.\n\n# Part two\n\nIn June.\n", None),
    ("md", b"Hello.\n\n# The launch plan\n", None),
    ("md", b"# 1. What it is for\n\nMuch.\n", None),
    ("txt", b"THE LAUNCH PLAN\n\nIn May.\n", None),
    ("eml", MAIL, "Lunch"),
    ("html", b"<title>Prices</title><h1>What does it cost?</h1><p>49 euro a berth and year.</p>", "Prices"),
    ("pdf", pdf(PAGE, title="Microsoft Word - travel.docx"), "Travel policy of 2026"),
    ("pdf", pdf(lines("Trains only."), title="Travel policy"), "Travel policy"),
    ("pdf", pdf(lines("Trains only."), title="travel.docx"), None),
    ("docx", docx(paragraph(run("Services agreement"), "Title") + paragraph(run("Between us."))), "Services agreement"),
    ("odt", opendocument("text", ODT), "Plan for May"),
    ("pptx", slides(), None),
    ("epub", epub(), "The Sea"),
    ("rtf", RTF, "The plan"),
    ("xlsx", tasks_xlsx(), "The plan"),
    ("csv", b"Task,Owner\nreport,Anna\ncall,Ben\n", None),
]


@pytest.mark.parametrize(("kind", "content", "title"), FILES)
def test_every_kind_of_file_is_called_by_what_it_says(
    kind: FileKind, content: bytes, title: str | None, tmp_path: Path
) -> None:
    file = tmp_path / f"upload.{kind}"
    file.write_bytes(content)
    assert own_title(extract(file, kind)) == title


@pytest.mark.parametrize("said", ["PowerPoint-Präsentation", "Untitled 2", "Dokument1", "Titel", "slides_final.pptx"])
def test_what_a_program_writes_where_nobody_did_is_no_title(said: str) -> None:
    assert own_title(Extraction("Text.", [], Details(title=said), "pptx/1")) is None


def test_a_deck_is_called_what_its_first_slide_is() -> None:
    text = "Slide 1: The launch plan\nSlide 2: Costs\n"
    blocks = [Block("heading", 0, 24, 1), Block("heading", 25, 39, 1)]
    assert own_title(Extraction(text, blocks, Details(title="PowerPoint Presentation"), "pptx/1")) == "The launch plan"
