"""The text inside a Word paragraph: tracked changes as accepted, notes by their mark, comments by their place."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from mnemon.documents.extraction.docx.styles import W

ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"

LITERAL = {
    W + "tab": "\t",
    W + "ptab": "\t",
    W + "br": "\n",
    W + "cr": "\n",
    W + "noBreakHyphen": "-",
}
# Deleted or moved away, or not text at all.
LEFT_OUT = frozenset(
    W + name for name in ("del", "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rPr", "sdtPr", "fldData")
)
TEXT_BOX = W + "txbxContent"


@dataclass(slots=True)
class ParagraphText:
    """What a paragraph says, and what hangs on it."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    footnotes: list[str] = field(default_factory=list)
    endnotes: list[str] = field(default_factory=list)
    # Id of a comment, whether it begins or ends, and the offset in the raw text; in order.
    marks: list[tuple[str, bool, int]] = field(default_factory=list)
    boxes: list[etree._Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def take(self, other: "ParagraphText", one_line: bool = False) -> None:
        """Go on with all that another paragraph says."""
        self.marks += [(comment, begins, self.length + offset) for comment, begins, offset in other.marks]
        self.footnotes += other.footnotes
        self.endnotes += other.endnotes
        # As many characters as before, so that the marks stay right.
        self.add(other.text.replace("\n", " ").replace("\t", " ") if one_line else other.text)


@dataclass(slots=True)
class Notes:
    """Numbers notes in the order in which the text refers to them."""

    seen: dict[tuple[str, str], int] = field(default_factory=dict)

    def mark(self, kind: str, note_id: str) -> str:
        return f"[{self.seen.setdefault((kind, note_id), len(self.seen) + 1)}]"


def read_paragraph(paragraph: etree._Element, notes: Notes, before: ParagraphText | None = None) -> ParagraphText:
    """The paragraph's text, after that of the one `before` it whose end is deleted."""
    found = before or ParagraphText()
    for element in inner(paragraph):
        _read(element, found, notes)
    return found


def inner(element: etree._Element) -> Iterator[etree._Element]:
    """The children, with the first of alternative contents in place of all of them."""
    for child in element:
        if child.tag != ALTERNATIVES:
            yield child
        elif len(child):
            choice = child.find(CHOICE)
            yield from inner(child[0] if choice is None else choice)


def _read(element: etree._Element, found: ParagraphText, notes: Notes) -> None:
    tag = element.tag
    if tag in (W + "t", MATH_TEXT):
        found.add(element.text or "")
    elif tag in LITERAL:
        found.add(LITERAL[tag])
    elif tag == W + "sym":
        found.add(_symbol(element))
    elif tag in (W + "footnoteReference", W + "endnoteReference"):
        _refer(element, found, notes)
    elif tag in (W + "commentRangeStart", W + "commentRangeEnd"):
        found.marks.append((element.get(W + "id") or "", tag == W + "commentRangeStart", found.length))
    elif tag == W + "commentReference":
        found.marks.append((element.get(W + "id") or "", False, found.length))
    elif tag == TEXT_BOX:
        found.boxes.append(element)
    elif tag not in LEFT_OUT:
        for child in inner(element):
            _read(child, found, notes)


def _refer(element: etree._Element, found: ParagraphText, notes: Notes) -> None:
    kind = "footnote" if element.tag == W + "footnoteReference" else "endnote"
    note_id = element.get(W + "id") or ""
    found.add(notes.mark(kind, note_id))
    (found.footnotes if kind == "footnote" else found.endnotes).append(note_id)


def _symbol(element: etree._Element) -> str:
    try:
        code = int(element.get(W + "char") or "", 16)
    except ValueError:
        return ""
    # Symbol fonts: the private area, as in bullets and ticks.
    return "•" if 0xF000 <= code <= 0xF0FF else chr(code) if 0x20 <= code < 0xD800 else ""


def paragraphs_in(parent: etree._Element) -> Iterator[etree._Element]:
    """Every paragraph below an element, in order, tables and text boxes included."""
    for child in inner(parent):
        if child.tag == W + "p":
            yield child
        elif child.tag not in LEFT_OUT:
            yield from paragraphs_in(child)
