"""The characters of a PDF page as runs: what stands on one line without a wide gap, with its place."""

import ctypes
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from statistics import median_high, median_low

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from mnemon.documents.extraction.hygiene import clean

LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
# Symbol fonts put their bullets into the private area.
BULLETS = {0xF0B7: "•", 0xF0A7: "•", 0xF0D8: "•", 0xF076: "•", 0xF02D: "–"}
HYPHEN_AT_LINE_END = (0x2, 0xFFFE)
# In heights of a letter. A gap this wide parts table cells and columns if it is far wider than those between the words
# of its line; where a line has no other gaps it must be wider still.
WIDE_GAP, WIDEST_GAP = 1.4, 3.0
FAR_WIDER = 2.2
FIRST_COMBINING = "\u0300"
UNREADABLE = "\ufffd"
STRAIGHT = 0.05
BOLD_FONTS = (b"bold", b"black", b"heavy", b"semibold", b"cmbx")
FIXED_FONTS = (b"courier", b"mono", b"consol", b"menlo", b"cmtt", b"fixed", b"typewriter")


@dataclass(slots=True)
class TextRun:
    """Text on one line; `widths` as in `Glyphs`. Coordinates are those of the page as it is shown."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    widths: tuple[int, ...] = ()
    # The height of most of its letters.
    height: float = 0.0
    bold: bool = False
    # In letters of one width, as programs are printed.
    fixed: bool = False

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def shares_row(self, other: "TextRun") -> bool:
        overlap = min(self.top, other.top) - max(self.bottom, other.bottom)
        return overlap > 0.5 * min(self.height, other.height)

    def shares_column(self, other: "TextRun") -> bool:
        overlap = min(self.right, other.right) - max(self.left, other.left)
        return overlap > 0.3 * min(self.right - self.left, other.right - other.left)


Box = tuple[float, float, float, float]


@dataclass(slots=True)
class _Line:
    """A run in the making."""

    pieces: list[str] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    turned: bool = False
    # The place of the last character that is not a space.
    last: Box | None = None

    def add(self, number: int, text: str, box: Box) -> None:
        if text == " " and (not self.pieces or self.pieces[-1] == " "):
            return
        if text >= FIRST_COMBINING and self.pieces and unicodedata.combining(text[0]):
            self.pieces[-1] = unicodedata.normalize("NFC", self.pieces[-1] + text)
            return
        self.pieces.append(text)
        self.boxes.append(box)
        self.numbers.append(number)
        if text != " ":
            self.last = box


def runs_of(page: pdfium.PdfPage) -> list[TextRun]:
    """The runs that can be seen on the page, in the order in which the file draws them."""
    shown = _Shown(page)
    text_page = page.get_textpage()
    try:
        lines = (part for line in _lines(text_page, shown) for part in _parted(line))
        return [run for line in lines if (run := _run(line, text_page)) and shown.holds(run)]
    finally:
        text_page.close()


class _Shown:
    """From the file's coordinates to those of the page as it is shown: cropped and turned."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self._left, self._bottom, right, top = page.get_bbox()
        self._wide, self._high = right - self._left, top - self._bottom
        self._turns = (page.get_rotation() // 90) % 4
        self._size: tuple[float, float] = page.get_size()

    def box(self, raw: pdfium_c.FS_RECTF) -> Box:
        left, right = raw.left - self._left, raw.right - self._left
        bottom, top = raw.bottom - self._bottom, raw.top - self._bottom
        if bottom > top:
            bottom, top = top, bottom
        match self._turns:
            case 1:
                return bottom, self._wide - right, top, self._wide - left
            case 2:
                return self._wide - right, self._high - top, self._wide - left, self._high - bottom
            case 3:
                return self._high - top, left, self._high - bottom, right
        return left, bottom, right, top

    def holds(self, run: TextRun) -> bool:
        return run.right > 0 and run.left < self._size[0] and run.top > 0 and run.bottom < self._size[1]

    def is_turned(self, angle: float) -> bool:
        """Whether text at this angle, in radians, does not stand upright as the page is shown."""
        quarter = 3.141592653589793 / 2
        rest: float = (angle + self._turns * quarter) % (4 * quarter)
        return STRAIGHT < rest < 4 * quarter - STRAIGHT


def _lines(text_page: pdfium.PdfTextPage, shown: _Shown) -> Iterator[_Line]:
    """Parts the characters where a line ends and where the place jumps."""
    raw, handle = pdfium_c.FS_RECTF(), text_page.raw
    at = ctypes.byref(raw)
    line = _Line()
    for number in range(text_page.count_chars()):
        code = pdfium_c.FPDFText_GetUnicode(handle, number)
        if code in (0xA, 0xD):
            yield line
            line = _Line()
            continue
        pdfium_c.FPDFText_GetLooseCharBox(handle, number, at)
        box = shown.box(raw)
        if not (text := _character(code)):
            continue
        if line.last and text != " " and _jumps(line.last, box):
            turned = shown.is_turned(pdfium_c.FPDFText_GetCharAngle(handle, number))
            if not (turned and (line.turned or len(line.boxes) == 1)):
                yield line
                line = _Line()
            line.turned = turned
        line.add(number, text, box)
    yield line


@cache
def _character(code: int) -> str:
    if code in HYPHEN_AT_LINE_END:
        return "-"
    if code == 0:
        # The file draws something, and does not say what it means.
        return UNREADABLE
    return LIGATURES.get(code) or BULLETS.get(code) or (clean(chr(code)) if code <= 0x10FFFF else "")


def _jumps(last: Box, box: Box) -> bool:
    """Whether a character at `box` does not go on with the line whose last one is at `last`."""
    if box[1] == last[1] and box[0] >= last[0]:
        return False
    high, height = last[3] - last[1], box[3] - box[1]
    overlap = min(last[3], box[3]) - max(last[1], box[1])
    return overlap < 0.3 * min(high, height) or box[0] < last[0] - max(high, height)


def _parted(line: _Line) -> Iterator[_Line]:
    """The line, parted at gaps that are wider than those between words."""
    start = 0
    for cut in [] if line.turned else _wide_gaps(line):
        yield _Line(line.pieces[start:cut], line.boxes[start:cut], line.numbers[start:cut])
        start = cut + 1
    yield _Line(line.pieces[start:], line.boxes[start:], line.numbers[start:], line.turned)


def _wide_gaps(line: _Line) -> list[int]:
    boxes = line.boxes
    gaps = {
        number: (boxes[number + 1][0] - boxes[number - 1][2]) / max(boxes[number + 1][3] - boxes[number + 1][1], 1)
        for number, piece in enumerate(line.pieces[:-1])
        if piece == " " and number
    }
    if len(gaps) > 1 and max(gaps.values()) < min(1.1 * min(gaps.values()), 2 * WIDEST_GAP):
        # All the same: justified text of few and long words.
        return []
    narrow = [gap for gap in gaps.values() if gap <= WIDE_GAP]
    least = max(WIDE_GAP, FAR_WIDER * median_low(narrow)) if narrow else WIDEST_GAP
    return [number for number, gap in gaps.items() if gap > least]


def _run(line: _Line, text_page: pdfium.PdfTextPage) -> TextRun | None:
    pieces, boxes = line.pieces, line.boxes
    if pieces and pieces[-1] == " ":
        pieces, boxes = pieces[:-1], boxes[:-1]
    if not pieces:
        return None
    solid = [box for box, piece in zip(boxes, pieces, strict=True) if piece != " "]
    left, right = min(box[0] for box in solid), max(box[2] for box in solid)
    down, up = (2, 0) if line.turned else (3, 1)
    fonts = _fonts(text_page, line)
    return TextRun(
        "".join(pieces),
        left=round(left, 1),
        bottom=round(min(box[1] for box in solid), 1),
        right=round(right, 1),
        top=round(max(box[3] for box in solid), 1),
        widths=() if line.turned else _widths(pieces, boxes, left, right),
        height=median_high(box[down] - box[up] for box in solid),
        bold=all(any(word in font for word in BOLD_FONTS) for font in fonts),
        fixed=all(any(word in font for word in FIXED_FONTS) for font in fonts),
    )


def _widths(pieces: list[str], boxes: list[Box], left: float, right: float) -> tuple[int, ...]:
    """Tenths of a point from each character to the next; nothing where they do not go from left to right."""
    starts = [box[0] for box in boxes]
    for number in [number for number, piece in enumerate(pieces) if len(piece) > 1][::-1]:
        # A ligature: its letters share its width.
        start, letters = starts[number], len(pieces[number])
        step = (max(([*starts, right])[number + 1], start) - start) / letters
        starts[number + 1 : number + 1] = [start + step * part for part in range(1, letters)]
    tenths = [round(edge * 10) for edge in (left, *starts[1:], right)]
    widths = tuple(after - before for before, after in pairwise(tenths))
    return widths if min(widths) >= -5 else ()


def _fonts(text_page: pdfium.PdfTextPage, line: _Line) -> list[bytes]:
    """Names of the fonts at the beginning, in the middle and at the end of the line, in small letters."""
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    return [
        name.value.lower()
        for number in {line.numbers[0], line.numbers[len(line.numbers) // 2], line.numbers[-1]}
        if pdfium_c.FPDFText_GetFontInfo(text_page.raw, number, name, 128, ctypes.byref(flags))
    ] or [b""]
