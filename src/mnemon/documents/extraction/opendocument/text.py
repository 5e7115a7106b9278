"""Texts of LibreOffice (.odt) and, by the same blocks, its presentations (.odp)."""

from collections.abc import Iterator

from lxml import etree

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.opendocument.parts import (
    DRAW,
    PRESENTATION,
    TABLE,
    TEXT,
    count_of,
    details_of_package,
    opened,
    words_of,
)
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Extraction

ODT, ODP = "odt/1", "odp/1"
CELL_BORDER = " | "
DEEPEST = 50


def extract_odt(content: bytes, limits: Limits) -> Extraction:
    package, body = opened(content, limits, "OpenDocument text", "text")
    writer = TextWriter(limits)
    write_blocks(writer, body)
    return Extraction(writer.text, writer.blocks, details_of_package(package), ODT)


def extract_odp(content: bytes, limits: Limits) -> Extraction:
    package, body = opened(content, limits, "OpenDocument presentation", "presentation")
    writer = TextWriter(limits)
    pages = body.findall(DRAW + "page")
    limits.check_pages(len(pages))
    for number, page in enumerate(pages, 1):
        _write_page(writer, page, number)
    return Extraction(writer.text, writer.blocks, details_of_package(package), ODP)


def _write_page(writer: TextWriter, page: etree._Element, number: int) -> None:
    frames = page.findall(DRAW + "frame")
    titles = [one for one in frames if one.get(PRESENTATION + "class") == "title"]
    title = " ".join(" ".join(words_of(one).split()) for frame in titles for one in frame.iter(TEXT + "p"))
    writer.block("heading", f"Slide {number}: {title}" if title.strip() else f"Slide {number}", 1)
    for child in page:
        if child not in titles and child.tag != PRESENTATION + "notes":
            write_blocks(writer, child)
    for notes in page.findall(PRESENTATION + "notes"):
        said = " ".join(words for one in notes.iter(TEXT + "p") if (words := " ".join(words_of(one).split())))
        writer.block("paragraph", f"Notes: {said}" if said else "")


def write_blocks(writer: TextWriter, parent: etree._Element, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise ExtractionFailed(f"The document nests elements deeper than {DEEPEST}.", reason="hostile")
    for child in parent:
        if child.tag == TEXT + "h":
            writer.block("heading", " ".join(words_of(child).split()), count_of(child, TEXT + "outline-level", 9))
        elif child.tag == TEXT + "p":
            _write_paragraph(writer, child)
        elif child.tag == TEXT + "list":
            writer.block("list", "\n".join(_items(child)))
        elif child.tag == TABLE + "table":
            writer.block("table", "\n".join(_rows(child)))
        elif child.tag != TEXT + "tracked-changes":
            write_blocks(writer, child, depth + 1)


def _write_paragraph(writer: TextWriter, paragraph: etree._Element) -> None:
    writer.block("paragraph", words_of(paragraph))
    for note in paragraph.iter(TEXT + "note-body"):
        writer.block("paragraph", " ".join(" ".join(words_of(one).split()) for one in note.iter(TEXT + "p")))


def _items(found: etree._Element, depth: int = 0) -> Iterator[str]:
    if depth > DEEPEST:
        raise ExtractionFailed(f"The document nests lists deeper than {DEEPEST}.", reason="hostile")
    for item in found:
        for child in item:
            if child.tag == TEXT + "list":
                yield from _items(child, depth + 1)
            elif words := " ".join(words_of(child).split()):
                yield f"{'  ' * min(depth, 8)}- {words}"


def _rows(table: etree._Element) -> Iterator[str]:
    for row in table.iter(TABLE + "table-row"):
        cells = [
            " ".join(words for one in cell.iter(TEXT + "p") if (words := " ".join(words_of(one).split())))
            for cell in row.findall(TABLE + "table-cell")
        ]
        if any(cells):
            yield CELL_BORDER.join(cells)
