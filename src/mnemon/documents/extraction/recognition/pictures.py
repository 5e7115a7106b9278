"""Pictures and scanned pages as lines of a page, so that what reads a PDF goes on with them."""

from collections.abc import Iterator, Sequence
from statistics import median_high

import pypdfium2 as pdfium

from mnemon.documents.extraction.pdf.runs import TextRun
from mnemon.documents.extraction.recognition.tesseract import (
    RecognisedLine,
    RecognisedPicture,
    RecognisedWord,
    recognise,
)

# What scanners give, and what Tesseract was trained on; no page is drawn with more pixels than the second.
DOTS_PER_INCH, MOST_PIXELS = 300, 30_000_000
POINTS_PER_INCH = 72
# In heights of a line: cells and columns stand farther apart than words.
WIDE_GAP = 2.5
# Heights of recognised lines differ by chance; from here on a line is larger than the others.
LARGER = 1.25


def recognised_page(page: pdfium.PdfPage, languages: str) -> list[TextRun]:
    """The runs of a page of a PDF that is a picture, in the coordinates that the page is shown in."""
    width, height = page.get_size()
    scale = min(DOTS_PER_INCH / POINTS_PER_INCH, (MOST_PIXELS / max(width * height, 1)) ** 0.5)
    drawn = page.render(scale=scale, grayscale=True, may_draw_forms=False)
    pictures = recognise(_as_pnm(drawn), languages)
    return [run for picture in pictures for run in recognised_runs(picture, height, 1 / scale)]


def recognised_runs(picture: RecognisedPicture, height: float, scale: float) -> list[TextRun]:
    """Parted where a gap is wide; `height` is that of the page, `scale` the points in a pixel."""
    lines = [line for line in picture.lines if line.words]
    usual = median_high(_height(line) for line in lines) * scale if lines else 0.0
    runs: list[TextRun] = []
    before: RecognisedLine | None = None
    for line in lines:
        high = _height(line) * scale
        # Boxes are as tight as the letters: the lines of a paragraph are made to touch, as those of a font do.
        goes_on = before is not None and before.paragraph == line.paragraph
        top = _bottom(before) if before is not None and goes_on else min(word.top for word in line.words)
        for words in _parted(line.words):
            run = _run(words, scale)
            run.height = high if high > LARGER * usual else usual
            run.top, run.bottom = round(height - top * scale, 1), round(height - _bottom(line) * scale, 1)
            runs.append(run)
        before = line
    return runs


def _height(line: RecognisedLine) -> int:
    return _bottom(line) - min(word.top for word in line.words)


def _bottom(line: RecognisedLine) -> int:
    return max(word.bottom for word in line.words)


def _parted(words: Sequence[RecognisedWord]) -> Iterator[list[RecognisedWord]]:
    part: list[RecognisedWord] = []
    for word in words:
        if part and word.left - part[-1].right > WIDE_GAP * max(one.height for one in words):
            yield part
            part = []
        part.append(word)
    yield part


def _run(words: Sequence[RecognisedWord], scale: float) -> TextRun:
    """The letters of a word share its width."""
    widths: list[int] = []
    edge = words[0].left
    for word in words:
        if widths:
            widths.append(round(max(word.left - edge, 0) * scale * 10))
        widths += [round(word.width * scale * 10 / len(word.text))] * len(word.text)
        edge = word.right
    return TextRun(
        " ".join(word.text for word in words),
        left=round(words[0].left * scale, 1), bottom=0.0, right=round(edge * scale, 1), top=0.0, widths=tuple(widths),
    )  # fmt: skip


def _as_pnm(drawn: pdfium.PdfBitmap) -> bytes:
    """Grey, a byte for each pixel: a form without packing, for a reader at the other end of a pipe."""
    pixels, wide = bytes(drawn.buffer), drawn.width * drawn.n_channels
    rows = b"".join(pixels[at : at + wide] for at in range(0, drawn.stride * drawn.height, drawn.stride))
    return b"P5\n%d %d\n255\n" % (drawn.width, drawn.height) + rows
