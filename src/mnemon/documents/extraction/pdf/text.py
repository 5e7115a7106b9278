"""The canonical text of a PDF, written from its paragraphs, with the place of every run."""

import re
from collections.abc import Sequence
from dataclasses import replace

from mnemon.documents.extraction.pdf.blocks import ITEM, Paragraph
from mnemon.documents.extraction.pdf.lines import PageLine, PageLines
from mnemon.documents.extraction.pdf.runs import TextRun
from mnemon.documents.ingest.content import Glyphs, Page
from mnemon.documents.structure.structure import Block, BlockKind

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
LAST_WORD = re.compile(r"([^\W\d_]+)-$")
FIRST_WORD = re.compile(r"[^\W\d_]+")
UNFINISHED = re.compile(r"[\w,;-]$")
CELL_BORDER = " | "
# Words that are written with a hyphen wherever the line ends.
HYPHENATED = frozenset({"well", "self", "non", "ex", "high", "low", "long", "short", "cross", "half"})


class PdfText:
    """Writes paragraph after paragraph and remembers where each run went."""

    def __init__(self, vocabulary: frozenset[str]) -> None:
        self.blocks: list[Block] = []
        self.pages: list[Page] = []
        self._vocabulary = vocabulary
        self._parts: list[str] = []
        self._length = 0
        self._glyphs: list[Glyphs] = []
        self._page_start = 0

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def begin_page(self, goes_on: bool) -> None:
        """White space between two pages belongs to neither; a sentence that goes on is parted by one space."""
        if not goes_on:
            self._break()
        self._page_start, self._glyphs = self._length, []

    def end_page(self, page: PageLines) -> None:
        number = len(self.pages) + 1
        self.pages.append(Page(number, self._page_start, self._length, page.width, page.height, self._glyphs))

    def write(self, paragraph: Paragraph, goes_on: bool = False) -> None:
        """Add a block, or more lines to the last one."""
        if goes_on and self.blocks:
            last = self.blocks[-1]
            self._join(paragraph.lines[0])
            if not self._glyphs:
                self._page_start = self._length
            self._lines(paragraph)
            self.blocks[-1] = Block(last.kind, last.start, self._length, last.level)
            return
        self._break()
        start = self._length
        self._lines(paragraph)
        self.blocks.append(Block(paragraph.kind, start, self._length, paragraph.level))

    def write_margin(self, lines: Sequence[PageLine]) -> None:
        if lines:
            self.write(Paragraph("header", list(lines)))

    def _lines(self, paragraph: Paragraph) -> None:
        for number, line in enumerate(paragraph.lines):
            if number:
                if _stands_alone(paragraph.kind, line):
                    self._add("\n")
                else:
                    self._join(line)
            for cell, run in enumerate(line.runs):
                if cell:
                    self._add(CELL_BORDER if paragraph.kind == "table" else " ")
                self._run(run)

    def _run(self, run: TextRun) -> None:
        start = self._length
        self._add(run.text)
        self._glyphs.append(Glyphs(start, self._length, run.left, run.bottom, run.right, run.top, run.widths))

    def _join(self, following: PageLine) -> None:
        """What stands between two lines of one paragraph: a space, nothing, or a hyphen that goes."""
        last = self._parts[-1]
        broken = LAST_WORD.search(last)
        first = FIRST_WORD.match(following.runs[0].text)
        if not broken or not first:
            self._add("" if last.endswith("-") else " ")
        elif self._is_one_word(broken[1], first.group()):
            self._drop_last_character()

    def _is_one_word(self, head: str, tail: str) -> bool:
        """Whether the hyphen is only there because the line ended: by the document's own words, else by their look."""
        if (head + tail).casefold() in self._vocabulary:
            return True
        if f"{head}-{tail}".casefold() in self._vocabulary:
            return False
        return tail[0].islower() and not head.isupper() and head.casefold() not in HYPHENATED

    def _drop_last_character(self) -> None:
        self._parts[-1] = self._parts[-1][:-1]
        self._length -= 1
        if self._glyphs:
            self._glyphs[-1] = _without_hyphen(self._glyphs[-1])
        elif self.pages:
            # The word was parted between two pages.
            page = self.pages[-1]
            glyphs = [*page.glyphs[:-1], _without_hyphen(page.glyphs[-1])]
            self.pages[-1] = replace(page, end=page.end - 1, glyphs=glyphs)

    def _break(self) -> None:
        if self._length and self._parts[-1] != "\n\n":
            self._add("\n\n")

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)


def _without_hyphen(run: Glyphs) -> Glyphs:
    """The hyphen keeps its place on the page: it belongs to the character before it."""
    widths = (*run.widths[:-2], sum(run.widths[-2:])) if len(run.widths) > 1 else ()
    return replace(run, end=run.end - 1, widths=widths)


def _stands_alone(kind: BlockKind, line: PageLine) -> bool:
    return kind in ("table", "header", "code") or (kind == "list" and bool(ITEM.match(line.text)))


def vocabulary_of(pages: Sequence[PageLines]) -> frozenset[str]:
    """Every word that stands within a line, in small letters; what is parted at a line's end is not among them."""
    words: set[str] = set()
    for page in pages:
        for line in page.body:
            text = line.text.casefold()
            found = WORD.findall(text)
            words.update(found[:-1] if text.endswith("-") else found)
    return frozenset(words)


def goes_on(before: Paragraph | None, after: Paragraph | None) -> bool:
    """Whether a paragraph at the end of a page is continued at the top of the next."""
    if before is None or after is None or before.kind not in ("paragraph", "list") or after.kind != "paragraph":
        return False
    first = after.lines[0]
    return (
        bool(UNFINISHED.search(before.text))
        and abs(first.height - before.lines[-1].height) < 0.1 * first.height
        and (first.text[0].islower() or before.text.endswith(("-", ",")))
    )
