"""PDF through pdfium: one text in reading order, and where each of its characters stands on which page."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.pdf.lines import PageLines, lines_of
from mnemon.documents.extraction.pdf.order import in_reading_order
from mnemon.documents.extraction.pdf.runs import UNREADABLE, TextRun, runs_of
from mnemon.documents.extraction.pdf.written import text_of_pages
from mnemon.documents.extraction.recognition.pictures import recognised_page
from mnemon.documents.extraction.recognition.tesseract import HOW_TO_GET_IT, RECOGNISED, recogniser
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "pdf/1"

# What programs write where nobody gave a title or a name.
PLACEHOLDERS = frozenset({"untitled", "anonymous", "unspecified", "unknown", "none", "(anonymous)", "(unspecified)"})
DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?'?|Z)?")


def extract_pdf(content: bytes, limits: Limits) -> Extraction:
    document = _opened(content)
    try:
        limits.check_pages(len(document))
        pages, recognised = _read_pages(document, limits)
        if not any(page.body for page in pages):
            raise ExtractionFailed(
                f"The PDF has no text layer: its {len(pages)} pages are pictures, {_why_not(limits)}.",
                reason="no_text_layer",
            )
        _check_readable(pages, limits)
        details = _details(document)
    finally:
        document.close()
    written = text_of_pages(pages)
    if not recognised:
        return Extraction(written.text, written.blocks, details, VERSION, written.pages)
    by = recogniser(limits.recognise)
    which = "" if len(recognised) == len(pages) else f", pages {', '.join(map(str, recognised))}"
    details = replace(details, more={**details.more, RECOGNISED: by + which})
    return Extraction(written.text, written.blocks, details, f"{VERSION} {by}", written.pages)


def _why_not(limits: Limits) -> str:
    if limits.recognise:
        return "and no text is recognised in them"
    return f"whose text is not recognised here: {HOW_TO_GET_IT}, and leave MNEMON_OCR at auto"


def _opened(content: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium_c.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            raise ExtractionFailed(
                "The PDF is encrypted and needs a password: save it without one.", reason="encrypted"
            ) from None
        raise ExtractionFailed(f"The file is a damaged PDF: {str(error).rstrip('.')}.", reason="damaged") from None


def _read_pages(document: pdfium.PdfDocument, limits: Limits) -> tuple[list[PageLines], list[int]]:
    """The pages, and the numbers of those whose text had to be recognised."""
    pages, recognised, characters = [], [], 0
    for number in range(len(document)):
        try:
            page = document[number]
        except pdfium.PdfiumError:
            raise ExtractionFailed(f"Page {number + 1} of the PDF cannot be read.", reason="damaged") from None
        try:
            runs = runs_of(page)
            if limits.recognise and _is_picture(page, runs) and (found := recognised_page(page, limits.recognise)):
                runs = found
                recognised.append(number + 1)
            width, height = page.get_size()
        finally:
            page.close()
        characters += sum(len(run.text) for run in runs)
        limits.check_characters(characters)
        pages.append(PageLines(width, height, lines_of(in_reading_order(runs)), [], []))
    return pages, recognised


def _is_picture(page: pdfium.PdfPage, runs: list[TextRun]) -> bool:
    """Nothing to read on it, though something is drawn; or letters of which nobody knows what they mean."""
    text = "".join(run.text for run in runs)
    if not text:
        return next(iter(page.get_objects(max_depth=2)), None) is not None
    return _is_unreadable(text)


def _is_unreadable(text: str) -> bool:
    return text.count(UNREADABLE) > len(text) // 2


def _check_readable(pages: list[PageLines], limits: Limits) -> None:
    text = "".join(line.text for page in pages for line in page.body)
    if _is_unreadable(text):
        raise ExtractionFailed(
            f"The PDF draws its text without saying which letters it means, {_why_not(limits)}.",
            reason="no_text_layer",
        )


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
