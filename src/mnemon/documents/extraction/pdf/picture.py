"""The picture of a page: drawn by pdfium, written as PNG."""

import base64
import struct
import zlib
from pathlib import Path

import pypdfium2 as pdfium
from pydantic import BaseModel

from mnemon.documents.extraction.errors import ExtractionFailed

# Pixels: wide enough to read on a dense screen, and no page larger than this many of them.
WIDTH, MOST_PIXELS = 1240, 6_000_000


class PageToDraw(BaseModel):
    """A page of a file, counted from 1."""

    path: Path
    page: int


class DrawnPage(BaseModel):
    """A picture, in the form that a process can hand over."""

    png: str


def draw_page(wanted: PageToDraw) -> DrawnPage:
    document = pdfium.PdfDocument(wanted.path)
    try:
        if wanted.page > len(document):
            raise ExtractionFailed(f"The file has {len(document)} pages.", reason="no_such_page")
        page = document[wanted.page - 1]
        width, height = page.get_size()
        scale = min(WIDTH / width, (MOST_PIXELS / (width * height)) ** 0.5)
        bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=False)
        drawn = _png(bitmap)
        page.close()
    except pdfium.PdfiumError as failure:
        raise ExtractionFailed(f"The page cannot be drawn: {failure}.", reason="damaged") from None
    finally:
        document.close()
    return DrawnPage(png=base64.b64encode(drawn).decode())


def _png(bitmap: pdfium.PdfBitmap) -> bytes:
    """PNG has lines of pixels, each behind a byte that says how it is filtered."""
    colour = {1: 0, 3: 2, 4: 6}[bitmap.n_channels]
    pixels, row = bytes(bitmap.buffer), bitmap.width * bitmap.n_channels
    lines = b"".join(b"\0" + pixels[at : at + row] for at in range(0, bitmap.stride * bitmap.height, bitmap.stride))
    header = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _part(b"IHDR", header) + _part(b"IDAT", zlib.compress(lines, 6)) + _part(b"IEND", b"")


def _part(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
