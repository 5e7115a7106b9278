"""The text of a parsed page, written block by block."""

import re
from collections.abc import Iterator

from mnemon.documents.extraction.html.tree import TEXT, Tree
from mnemon.documents.extraction.writing import TextWriter

SPACE = re.compile(r"[ \t\r\f\n\u00a0]+")
HEADINGS = {f"h{level}": level for level in range(1, 7)}
LISTS = frozenset({"ul", "ol", "dl"})
ITEMS = frozenset({"li", "dt", "dd"})
BLOCKS = frozenset({
    "address", "article", "body", "blockquote", "caption", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "li", "main", "ol", "p",
    "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "ul",
})  # fmt: skip
CELLS = frozenset({"td", "th"})
CELL_BORDER = " | "
DEEPEST = 8


class PageText:
    """Walks the nodes once, from left to right, and writes what is not passed over."""

    def __init__(self, tree: Tree, skipped: set[int], writer: TextWriter, speaker: str | None = None) -> None:
        self._nodes, self._skipped, self._writer, self._speaker = tree.nodes, skipped, writer, speaker
        self._inline: list[str] = []

    def write(self, start: int, until: int) -> None:
        ends: list[int] = []
        at = start
        while at < until:
            while ends and ends[-1] <= at:
                ends.pop()
                self._end_paragraph()
            node = self._nodes[at]
            if at in self._skipped:
                at = node.until
            elif self._is_whole(at):
                self._end_paragraph()
                self._whole(at)
                at = node.until
            else:
                if node.tag in BLOCKS:
                    self._end_paragraph()
                    ends.append(node.until)
                self._inline.append(_words(node.tag, node.text))
                at += 1
        self._end_paragraph()

    def _is_whole(self, at: int) -> bool:
        """Whether the element becomes one block."""
        tag = self._nodes[at].tag
        return tag in HEADINGS or tag in LISTS or tag in ("pre", "blockquote") or (tag == "table" and self._is_data(at))

    def _whole(self, at: int) -> None:
        tag, until = self._nodes[at].tag, self._nodes[at].until
        if tag in HEADINGS:
            self._writer.block("heading", " ".join(self._lines(at, until)), HEADINGS[tag], self._speaker)
        elif tag in LISTS:
            self._writer.block("list", "\n".join(self._items(at)), 0, self._speaker)
        elif tag == "pre":
            self._writer.block("code", self._verbatim(at), 0, self._speaker)
        elif tag == "blockquote":
            self._writer.block("quote", "\n".join(self._lines(at, until)))
        else:
            self._writer.block("table", "\n".join(self._rows(at)), 0, self._speaker)

    def _end_paragraph(self) -> None:
        if self._inline:
            lines = "".join(self._inline).split("\n")
            self._inline = []
            self._writer.block("paragraph", "\n".join(_squeezed(lines)), 0, self._speaker)

    def _inside(self, start: int, until: int) -> Iterator[int]:
        """Numbers of the nodes that are not passed over."""
        at = start
        while at < until:
            if at in self._skipped:
                at = self._nodes[at].until
            else:
                yield at
                at += 1

    def _lines(self, start: int, until: int) -> Iterator[str]:
        """The text in a range, a line for each block in it."""
        parts: list[str] = []
        ends: list[int] = []
        for at in self._inside(start, until):
            node = self._nodes[at]
            while ends and ends[-1] <= at:
                ends.pop()
                parts.append("\n")
            if node.tag in BLOCKS:
                ends.append(node.until)
                parts.append("\n")
            parts.append(_words(node.tag, node.text))
        yield from _squeezed("".join(parts).split("\n"))

    def _verbatim(self, at: int) -> str:
        texts = (
            "\n" if self._nodes[one].tag == "br" else self._nodes[one].text
            for one in self._inside(at, self._nodes[at].until)
        )
        return "".join(texts).strip("\n")

    def _items(self, at: int) -> Iterator[str]:
        """A line for each item, indented as deep as its list is."""
        open_lists: list[tuple[int, bool, int]] = []
        mark, parts = "", list[str]()
        for one in self._inside(at, self._nodes[at].until):
            node = self._nodes[one]
            while open_lists and open_lists[-1][0] <= one:
                open_lists.pop()
            if node.tag in LISTS or node.tag in ITEMS:
                yield from _item(mark, parts)
                mark, parts = "", []
            if node.tag in LISTS:
                start = node.attributes.get("start", "1")
                open_lists.append((node.until, node.tag == "ol", int(start) if start.isdigit() else 1))
            elif node.tag in ITEMS and open_lists:
                until, ordered, count = open_lists[-1]
                sign = f"{count}. " if ordered else "- " if node.tag == "li" else "  " if node.tag == "dd" else ""
                mark = "  " * min(len(open_lists) - 1, DEEPEST) + sign
                open_lists[-1] = (until, ordered, count + 1)
            parts.append(" " if node.tag in BLOCKS else _words(node.tag, node.text).replace("\n", " "))
        yield from _item(mark, parts)

    def _is_data(self, at: int) -> bool:
        """Whether a table holds data: several cells in a row, and neither tables nor headings inside."""
        most, cells = 0, 0
        if self._nodes[at].attributes.get("role") in ("presentation", "none"):
            return False
        for node in self._nodes[at + 1 : self._nodes[at].until]:
            if node.tag == "table" or node.tag in HEADINGS:
                return False
            cells = 0 if node.tag == "tr" else cells + (node.tag in CELLS)
            most = max(most, cells)
        return most > 1

    def _rows(self, at: int) -> Iterator[str]:
        cells: list[str] = []
        number, until = at + 1, self._nodes[at].until
        while number < until:
            node = self._nodes[number]
            if number in self._skipped:
                number = node.until
                continue
            if node.tag == "tr" or node.tag == "caption":
                yield from _row(cells)
                cells = []
            if node.tag in CELLS or node.tag == "caption":
                cells.append(" ".join(self._lines(number, node.until)))
                number = node.until
            else:
                number += 1
        yield from _row(cells)


def _words(tag: str, text: str) -> str:
    if tag == TEXT:
        return SPACE.sub(" ", text)
    return "\n" if tag == "br" else ""


def _squeezed(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if words := SPACE.sub(" ", line).strip():
            yield words


def _item(mark: str, parts: list[str]) -> Iterator[str]:
    if words := SPACE.sub(" ", "".join(parts)).strip():
        yield mark + words


def _row(cells: list[str]) -> Iterator[str]:
    if any(cells):
        yield CELL_BORDER.join(cells)
