"""The body of a Word document, written block by block."""

from collections.abc import Iterator, Mapping

from lxml import etree

from mnemon.documents.extraction.docx.styles import Numbering, Styles, W, number, value
from mnemon.documents.extraction.docx.text import (
    LEFT_OUT,
    Notes,
    ParagraphText,
    inner,
    paragraphs_in,
    read_paragraph,
)
from mnemon.documents.extraction.hygiene import clean
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Remark
from mnemon.documents.structure.structure import BlockKind

CELL_BORDER = " | "
# Each comment's place costs a pass over its paragraph.
MOST_MARKS = 1_000
WRAPPERS = frozenset(W + name for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"))


class Body:
    """Reads paragraphs and tables in order; items of a list are held back until the list is complete."""

    def __init__(
        self,
        limits: Limits,
        styles: Styles,
        numbering: Numbering,
        footnotes: Mapping[str, str],
        endnotes: Mapping[str, str],
        comments: Mapping[str, tuple[str | None, str]],
    ) -> None:
        self.writer = TextWriter(limits)
        self._styles, self._numbering = styles, numbering
        self._footnotes, self._endnotes, self._comments = footnotes, endnotes, comments
        self._notes = Notes()
        self._items: ParagraphText | None = None
        self._carried: ParagraphText | None = None
        self._last_notes: list[str] = []
        self._places: dict[str, tuple[int, int]] = {}
        self._has_title = False

    def read(self, parent: etree._Element) -> None:
        for child in inner(parent):
            if child.tag == W + "p":
                self._paragraph(child)
            elif child.tag == W + "tbl":
                self._table(child)
            elif child.tag in WRAPPERS:
                self.read(child)

    def close(self) -> None:
        """Write what was held back, and the endnotes."""
        if self._carried:
            self._write("paragraph", self._carried)
        self._end_list()
        for note_id in self._last_notes:
            self._note("endnote", note_id, self._endnotes)

    def margin(self, text: str) -> None:
        self.writer.block("header", text)

    def remarks(self) -> list[Remark]:
        return [
            Remark(*self._places.get(comment_id, (0, 0)), author, text)
            for comment_id, (author, text) in self._comments.items()
        ]

    def _paragraph(self, element: etree._Element) -> None:
        properties = element.find(W + "pPr")
        found = read_paragraph(element, self._notes, self._carried)
        self._carried = None
        if properties is not None and properties.find(f"{W}rPr/{W}del") is not None:
            # The end of this paragraph is deleted: the next one goes on with it.
            self._carried = found
            return
        self._place(found, properties)
        for box in found.boxes:
            self.read(box)

    def _place(self, found: ParagraphText, properties: etree._Element | None) -> None:
        style_id = value(properties, "pStyle")
        level = self._level(style_id, properties)
        name = next((style.name for style in self._styles.chain(style_id)), "")
        mark, depth = self._mark(style_id, properties) if found.text.strip() else ("", 0)
        if level:
            self._heading(found, level, mark)
        elif mark or name.startswith("toc "):
            self._item(found, mark, depth)
        else:
            self._write("quote" if name in ("quote", "intense quote") else "paragraph", found)

    def _level(self, style_id: str | None, properties: etree._Element | None) -> int:
        own = number(value(properties, "outlineLvl"))
        if own is not None:
            return own + 1 if own < 9 else 0
        return self._styles.heading_level(style_id)

    def _mark(self, style_id: str | None, properties: etree._Element | None) -> tuple[str, int]:
        """The bullet or number that Word prints before the paragraph, and how deep it is indented."""
        list_id, depth = value(properties, "numPr/numId"), number(value(properties, "numPr/ilvl"))
        for style in self._styles.chain(style_id):
            list_id = style.list_id if list_id is None else list_id
            depth = style.depth if depth is None else depth
        deep = min(max(depth or 0, 0), 8)
        return (self._numbering.mark(list_id, deep) if list_id else ""), deep

    def _heading(self, found: ParagraphText, level: int, mark: str) -> None:
        if level < 0:
            self._has_title = True
        whole = ParagraphText()
        whole.add(f"{mark} " if mark else "")
        whole.take(found, one_line=True)
        self._write("heading", whole, 1 if level < 0 else level + self._has_title)

    def _item(self, found: ParagraphText, mark: str, depth: int) -> None:
        if self._items is None:
            self._items = ParagraphText()
        else:
            self._items.add("\n")
        self._items.add("  " * depth + (f"{mark} " if mark else ""))
        self._items.take(found)

    def _end_list(self) -> None:
        items, self._items = self._items, None
        if items:
            self._write("list", items)

    def _table(self, element: etree._Element) -> None:
        rows = [list(_inside(row, "tc")) for row in _inside(element, "tr") if not _is_deleted(row)]
        if len(rows) == 1 and len(rows[0]) == 1:
            self.read(rows[0][0])
            return
        table = ParagraphText()
        for row in rows:
            line = self._row(row)
            if line.text.replace("|", "").strip():
                table.add("\n" if table.length else "")
                table.take(line)
        self._write("table", table)

    def _row(self, cells: list[etree._Element]) -> ParagraphText:
        line = ParagraphText()
        for place, cell in enumerate(cells):
            line.add(CELL_BORDER if place else "")
            for count, paragraph in enumerate(paragraphs_in(cell)):
                line.add(" " if count else "")
                line.take(read_paragraph(paragraph, self._notes), one_line=True)
        return line

    def _write(self, kind: BlockKind, found: ParagraphText, level: int = 0) -> None:
        if kind != "list":
            if not found.text.strip():
                return
            self._end_list()
        raw = found.text
        start = self.writer.block(kind, raw, level)
        blank = len(clean(raw)) - len(clean(raw).lstrip())
        for comment, begins, offset in found.marks[:MOST_MARKS]:
            at = min(start + max(len(clean(raw[:offset])) - blank, 0), self.writer.length)
            self._places[comment] = (at, at) if begins else (self._places.get(comment, (at, at))[0], at)
        for note_id in found.footnotes:
            self._note("footnote", note_id, self._footnotes)
        self._last_notes += found.endnotes

    def _note(self, kind: str, note_id: str, notes: Mapping[str, str]) -> None:
        if notes.get(note_id):
            self.writer.block("paragraph", f"{self._notes.mark(kind, note_id)} {notes[note_id]}")


def _inside(parent: etree._Element, name: str) -> Iterator[etree._Element]:
    """The rows of a table or the cells of a row, wrapped or not."""
    for child in inner(parent):
        if child.tag == W + name:
            yield child
        elif child.tag in WRAPPERS and child.tag not in LEFT_OUT:
            yield from _inside(child, name)


def _is_deleted(row: etree._Element) -> bool:
    return row.find(f"{W}trPr/{W}del") is not None
