"""PDF through pdfium: one text in reading order, and where each of its characters stands on which page."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.pdf.blocks import Paragraph, paragraphs_of, sizes_of
from mnemon.documents.extraction.pdf.lines import PageLines, lines_of, part_margins
from mnemon.documents.extraction.pdf.order import in_reading_order
from mnemon.documents.extraction.pdf.runs import UNREADABLE, runs_of
from mnemon.documents.extraction.pdf.text import PdfText, goes_on, vocabulary_of
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "pdf/1"

# What programs write where nobody gave a title or a name.
PLACEHOLDERS = frozenset({"untitled", "anonymous", "unspecified", "unknown", "none", "(anonymous)", "(unspecified)"})
DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?'?|Z)?")


def extract_pdf(content: bytes, limits: Limits) -> Extraction:
    document = _opened(content)
    try:
        limits.check_pages(len(document))
        pages = _read_pages(document, limits)
        if not any(page.body for page in pages):
            raise ExtractionFailed(
                f"The PDF has no text layer: its {len(pages)} pages are pictures. Give it to a text recogniser (OCR) "
                "first.",
                reason="no_text_layer",
            )
        _check_readable(pages)
        details = _details(document)
    finally:
        document.close()
    written = _written(pages)
    return Extraction(written.text, written.blocks, details, VERSION, written.pages)


def _opened(content: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium_c.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            raise ExtractionFailed(
                "The PDF is encrypted and needs a password: save it without one.", reason="encrypted"
            ) from None
        raise ExtractionFailed(f"The file is a damaged PDF: {str(error).rstrip('.')}.", reason="damaged") from None


def _read_pages(document: pdfium.PdfDocument, limits: Limits) -> list[PageLines]:
    pages, characters = [], 0
    for number in range(len(document)):
        try:
            page = document[number]
        except pdfium.PdfiumError:
            raise ExtractionFailed(f"Page {number + 1} of the PDF cannot be read.", reason="damaged") from None
        try:
            runs = runs_of(page)
            width, height = page.get_size()
        finally:
            page.close()
        characters += sum(len(run.text) for run in runs)
        limits.check_characters(characters)
        pages.append(PageLines(width, height, lines_of(in_reading_order(runs)), [], []))
    return pages


def _check_readable(pages: list[PageLines]) -> None:
    text = "".join(line.text for page in pages for line in page.body)
    if text.count(UNREADABLE) > len(text) // 2:
        raise ExtractionFailed(
            "The PDF draws its text without saying which letters it means. Give it to a text recogniser (OCR) first.",
            reason="no_text_layer",
        )


def _written(pages: list[PageLines]) -> PdfText:
    part_margins(pages)
    sizes = sizes_of([page.body for page in pages])
    bodies = [paragraphs_of(page.body, sizes) for page in pages]
    written = PdfText(vocabulary_of(pages))
    joins = _joins(pages, bodies)
    for number, page in enumerate(pages):
        _write_page(written, page, bodies[number], joins[number], joins[number + 1])
    return written


def _joins(pages: list[PageLines], bodies: list[list[Paragraph]]) -> list[bool]:
    """For each border between pages, the outer two included, whether a paragraph goes on across it."""
    joins = [False]
    for page, body, following in zip(pages, bodies, [*bodies[1:], []], strict=True):
        # With nothing but one paragraph on a page, its header and footer would have to stand inside a sentence.
        is_through = joins[-1] and len(body) == 1 and bool(page.header or page.footer)
        joins.append(not is_through and goes_on(body[-1] if body else None, following[0] if following else None))
    return joins


def _write_page(written: PdfText, page: PageLines, body: list[Paragraph], continues: bool, continued: bool) -> None:
    """Headers and footers stand beside the sentence that goes over the end of a page, never in it."""
    written.begin_page(continues)
    if not continues:
        written.write_margin(page.header)
    for number, paragraph in enumerate(body):
        if continued and number == len(body) - 1:
            written.write_margin(page.footer)
        written.write(paragraph, goes_on=continues and number == 0)
        if continues and number == 0:
            written.write_margin(page.header)
    if not continued:
        written.write_margin(page.footer)
    written.end_page(page)


def _details(document: pdfium.PdfDocument) -> Details:
    found = {
        name: words
        for name, value in document.get_metadata_dict(skip_empty=True).items()
        if (words := one_line(value)) and words.casefold() not in PLACEHOLDERS
    }
    more = {name.lower(): found[name] for name in ("Subject", "Keywords") if name in found}
    author = found.get("Author")
    return Details(
        title=found.get("Title"),
        authors=[author] if author else [],
        written_at=_moment(found.get("CreationDate")),
        more=more,
    )


def _moment(value: str | None) -> datetime | None:
    """A PDF date such as D:20260302103200+01'00'; UTC where it names no zone."""
    match = DATE.match(value or "")
    if not match:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    sign, hours, minutes = match.groups()[6:]
    try:
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
        zone = timezone(offset) if sign else UTC
        return datetime(year or 1, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone)
    except ValueError:
        return None
