"""Text in pictures and scanned pages is recognised where Tesseract is installed, and says that it was."""

import io
import zipfile
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from reportlab.lib.utils import ImageReader

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.extract import extractor_of
from mnemon.documents.extraction.isolated import extract_isolated, limits_of
from mnemon.documents.extraction.limits import DEFAULT_LIMITS, Limits
from mnemon.documents.extraction.pdf.picture import PageToDraw, draw_page
from mnemon.documents.extraction.recognition import tesseract
from mnemon.documents.intake.folders import find_files
from mnemon.settings import Settings
from tests.documents.invariants import check
from tests.documents.pdf_samples import HEIGHT, WIDTH, heading, lines, pdf, together

installed = pytest.mark.skipif(not tesseract.is_installed(), reason="Tesseract is not installed: make test-all does")
RECOGNISING = Limits(recognise="eng")
PAGE = together(
    heading("Minutes of the harbour board"),
    lines("The board approved the budget of 40,000 euros on 3 May.", "Nobody objected to the plan.", y=740, size=12),
)


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A page as a picture, as a scanner would give it."""
    import base64

    path = tmp_path_factory.mktemp("scanned") / "page.pdf"
    path.write_bytes(pdf(PAGE))
    return base64.b64decode(draw_page(PageToDraw(path=path, page=1)).png)


@pytest.fixture(scope="module")
def scan(photo: bytes) -> bytes:
    """A PDF of that picture, and a page with letters after it."""

    def picture(canvas) -> None:
        canvas.drawImage(ImageReader(io.BytesIO(photo)), 0, 0, WIDTH, HEIGHT)

    return pdf(picture, lines("The second page was typed."))


@installed
def test_a_picture_becomes_text_that_says_how_it_was_had(photo: bytes) -> None:
    found = extractor_of("png")(photo, RECOGNISING)
    check(found)
    assert "The board approved the budget of 40,000 euros on 3 May. Nobody objected to the plan." in found.text
    assert found.details.more["recognised"].startswith("tesseract ")
    assert found.extractor.startswith("picture/1 tesseract ") and found.extractor.endswith(" eng")
    assert found.blocks[0].kind == "heading"
    assert extractor_of("png")(photo, RECOGNISING) == found


@installed
async def test_a_scanned_page_of_a_pdf_is_recognised_with_its_places(scan: bytes, tmp_path: Path) -> None:
    """In the process that reads strangers' files, with its limits; the page that has letters is read as ever."""
    (tmp_path / "scan.pdf").write_bytes(scan)
    found = await extract_isolated(tmp_path / "scan.pdf", "pdf", Settings(ocr="auto"))
    check(found)
    assert "budget of 40,000 euros on 3 May" in found.text and "The second page was typed." in found.text
    assert found.details.more["recognised"].endswith(", pages 1")
    title = found.pages[0].glyphs[0]
    page = pdfium.PdfDocument(pdf(PAGE))[0].get_textpage()
    left, bottom, right, top = page.get_rect(0) if page.count_rects() else (0, 0, 0, 0)
    assert (
        abs(title.left - left) < 5
        and abs(title.right - right) < 10
        and bottom - 12 < title.bottom < title.top < top + 12
    )


@installed
def test_pictures_in_an_archive_are_read_too_and_a_lacking_language_is_named(photo: bytes) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("scans/minutes.png", photo)
        archive.writestr("note.txt", "A note beside it.")
    assert "40,000 euros" in extractor_of("zip")(file.getvalue(), RECOGNISING).text
    with pytest.raises(ExtractionFailed, match="MNEMON_OCR_LANGUAGES") as lacking:
        extractor_of("png")(photo, Limits(recognise="xyz"))
    assert lacking.value.reason == "no_recogniser"
    with pytest.raises(ExtractionFailed) as damaged:
        extractor_of("png")(photo[:200], RECOGNISING)
    assert damaged.value.reason == "damaged"


def test_without_a_recogniser_the_reason_names_the_remedy(
    photo: bytes, scan: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, content, why in (("png", photo, "no_recogniser"), ("jpeg", photo, "no_recogniser")):
        with pytest.raises(ExtractionFailed, match="package tesseract-ocr") as refused:
            extractor_of(kind)(content, DEFAULT_LIMITS)
        assert refused.value.reason == why
    assert extractor_of("pdf")(scan, DEFAULT_LIMITS).text == "The second page was typed."
    assert limits_of(Settings(ocr="off")).recognise == ""
    monkeypatch.setattr(tesseract, "PROGRAM", "no-such-program")
    assert limits_of(Settings(ocr="auto")).recognise == ""
    # A folder of photographs makes no failed runs; a file that was named is somebody's wish.
    (tmp_path / "photo.png").write_bytes(photo)
    [in_folder] = find_files([tmp_path])
    assert in_folder.reason is not None and "install Tesseract" in in_folder.reason
    [named] = find_files([tmp_path / "photo.png"])
    assert named.reason is None
