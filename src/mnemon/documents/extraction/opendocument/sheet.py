"""Sheets of LibreOffice (.ods): rows as they are shown, each told with its headings."""

from collections.abc import Iterator

from lxml import etree

from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.opendocument.parts import TABLE, TEXT, count_of, details_of_package, opened, words_of
from mnemon.documents.extraction.sheets.xlsx import SparseRow, write_sheet
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Extraction

VERSION = "ods/1"
# Cells and rows without a value are repeated a million times to the end of the sheet; those with one rarely.
MOST_REPEATED, FARTHEST = 100, 1 << 20


def extract_ods(content: bytes, limits: Limits) -> Extraction:
    package, body = opened(content, limits, "OpenDocument spreadsheet", "spreadsheet")
    writer = TextWriter(limits)
    for table in body.findall(TABLE + "table"):
        write_sheet(writer, table.get(TABLE + "name") or "", list(_rows(table)))
    return Extraction(writer.text, writer.blocks, details_of_package(package), VERSION)


def _rows(table: etree._Element) -> Iterator[SparseRow]:
    for row in table.iter(TABLE + "table-row"):
        found = _cells(row)
        if found:
            yield from [found] * count_of(row, TABLE + "number-rows-repeated", MOST_REPEATED)


def _cells(row: etree._Element) -> SparseRow:
    found: SparseRow = {}
    column = 0
    for cell in row:
        words = " ".join(part for one in cell.iter(TEXT + "p") if (part := " ".join(words_of(one).split())))
        repeated = count_of(cell, TABLE + "number-columns-repeated", MOST_REPEATED if words else FARTHEST)
        if words:
            found |= dict.fromkeys(range(column, column + repeated), words)
        column += repeated
    return found
