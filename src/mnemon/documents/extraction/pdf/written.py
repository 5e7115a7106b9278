"""The pages of a PDF as one text: paragraphs that go on across pages, margins beside them."""

from mnemon.documents.extraction.pdf.blocks import Paragraph, paragraphs_of, sizes_of
from mnemon.documents.extraction.pdf.lines import PageLines, part_margins
from mnemon.documents.extraction.pdf.text import PdfText, goes_on, vocabulary_of


def text_of_pages(pages: list[PageLines]) -> PdfText:
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
