"""The rectangles of a quote cover its words on the page as it is rendered, and little else."""

import io

import numpy as np
import pypdfium2 as pdfium
import pytest

from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.pdf.extract import extract_pdf
from mnemon.documents.ingest.content import Glyphs, Page
from mnemon.documents.ingest.places import Rectangle, rectangles
from tests.documents.pdf_samples import columns, heading, lines, pdf, together

SCALE = 3


def dark(content: bytes, page: int) -> np.ndarray:
    """Which pixels of the rendered page are inked; row 0 is the top."""
    document = pdfium.PdfDocument(content)
    image = document[page].render(scale=SCALE, grayscale=True).to_numpy()
    document.close()
    return image.reshape(image.shape[:2]) < 128


def inside(shape: tuple[int, ...], found: list[Rectangle], height: float, slack: float = 0.7) -> np.ndarray:
    mask = np.zeros(shape, dtype=bool)
    for _, left, bottom, right, top in found:
        rows = slice(max(round((height - top - slack) * SCALE), 0), round((height - bottom + slack) * SCALE))
        mask[rows, max(round((left - slack) * SCALE), 0) : round((right + slack) * SCALE)] = True
    return mask


@pytest.mark.parametrize("quote", ["decided to move", "customers", "hall have gone up by a third, and", "A"])
def test_rectangles_cover_the_inked_words_and_not_their_neighbours(quote) -> None:
    content = pdf(together(heading("Minutes"), columns))
    found = extract_pdf(content, DEFAULT_LIMITS)
    start = found.text.index(quote)
    places = rectangles(found.pages, start, start + len(quote))
    ink = dark(content, 0)
    mask = inside(ink.shape, places, found.pages[0].height)
    others = [
        place
        for left, right in ((0, start), (start + len(quote), len(found.text)))
        for place in rectangles(found.pages, left, right)
    ]
    other_mask = inside(ink.shape, others, found.pages[0].height, slack=0)
    assert (ink & mask).sum() > 20 * len(quote)
    assert not (ink & ~mask & ~other_mask).any()
    # What belongs to other words is not claimed, but for a hair at the borders.
    assert (ink & mask & other_mask).sum() < 0.15 * (ink & mask).sum()
    assert mask.mean() < 0.05


def test_all_rectangles_together_cover_all_ink() -> None:
    content = pdf(together(heading("Minutes"), columns, lines("Table", "of", "words", x=300, y=300, size=8)))
    found = extract_pdf(content, DEFAULT_LIMITS)
    ink = dark(content, 0)
    mask = inside(ink.shape, rectangles(found.pages, 0, len(found.text)), found.pages[0].height)
    assert not (ink & ~mask).any()


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_rectangles_are_right_on_turned_and_cropped_pages(turn) -> None:
    document = pdfium.PdfDocument(pdf(together(lines("First line of words."), lines("second part", y=500))))
    document[0].set_rotation(turn)
    document[0].set_cropbox(40, 60, 560, 800)
    file = io.BytesIO()
    document.save(file)
    content = file.getvalue()
    found = extract_pdf(content, DEFAULT_LIMITS)
    ink = dark(content, 0)
    assert ink.shape[0] == pytest.approx(found.pages[0].height * SCALE, abs=3)
    for quote in ("First line of words.", "second part"):
        start = found.text.index(quote)
        mask = inside(ink.shape, rectangles(found.pages, start, start + len(quote)), found.pages[0].height)
        assert (ink & mask).sum() > 200
    whole = inside(ink.shape, rectangles(found.pages, 0, len(found.text)), found.pages[0].height)
    assert not (ink & ~whole).any()


def test_a_quote_over_two_pages_has_rectangles_on_both() -> None:
    found = extract_pdf(pdf(lines("The board has decided that"), lines("it goes on.")), DEFAULT_LIMITS)
    start = found.text.index("decided that it goes")
    places = rectangles(found.pages, start, start + len("decided that it goes"))
    assert [place[0] for place in places] == [1, 2]
    assert places[0][1] > 72 + 60
    assert places[1][3] < 72 + 40


def test_a_span_without_places_has_none() -> None:
    assert rectangles([], 0, 10) == []
    page = Page(1, 0, 4, 100, 100, [Glyphs(0, 4, 10, 10, 50, 20)])
    assert rectangles([page], 4, 9) == []
    assert rectangles([page], 1, 2) == [(1, 10, 10, 50, 20)]
