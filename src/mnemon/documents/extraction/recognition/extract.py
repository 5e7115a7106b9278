"""A picture (PNG, JPEG, TIFF, WebP) as a document: the words that are recognised in it."""

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.pdf.lines import PageLines, lines_of
from mnemon.documents.extraction.pdf.order import in_reading_order
from mnemon.documents.extraction.pdf.written import text_of_pages
from mnemon.documents.extraction.recognition.pictures import recognised_runs
from mnemon.documents.extraction.recognition.tesseract import HOW_TO_GET_IT, RECOGNISED, recognise, recogniser
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "picture/1"


def extract_picture(content: bytes, limits: Limits) -> Extraction:
    if not limits.recognise:
        raise ExtractionFailed(
            f"The file is a picture, and text in pictures is not recognised here: {HOW_TO_GET_IT}, and leave "
            "MNEMON_OCR at auto.",
            reason="no_recogniser",
        )
    pictures = recognise(content, limits.recognise)
    limits.check_pages(len(pictures))
    pages = [
        PageLines(one.width, one.height, lines_of(in_reading_order(recognised_runs(one, one.height, 1.0))), [], [])
        for one in pictures
    ]
    limits.check_characters(sum(len(line.text) for page in pages for line in page.body))
    if not any(page.body for page in pages):
        raise ExtractionFailed("No text is recognised in the picture.", reason="empty")
    written, by = text_of_pages(pages), recogniser(limits.recognise)
    return Extraction(written.text, written.blocks, Details(more={RECOGNISED: by}), f"{VERSION} {by}", written.pages)
