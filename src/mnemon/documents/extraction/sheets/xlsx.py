"""Excel workbooks: every visible sheet with what its cells show; formulas are never computed."""

import re
from collections.abc import Iterator

from lxml import etree

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.office_details import core_details
from mnemon.documents.extraction.package import Package
from mnemon.documents.extraction.sheets.formats import NumberFormats, S
from mnemon.documents.extraction.tables.rows import write_rows
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Extraction

VERSION = "xlsx/1"
REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_COLUMN = re.compile(r"[A-Z]{1,3}")
_TRUTH = {"1": "yes", "0": "no"}

# What a row holds, by the number of the column: one cell at the far end of a sheet makes no million empty ones.
SparseRow = dict[int, str]


def extract_xlsx(content: bytes, limits: Limits) -> Extraction:
    package = Package(content, limits, "Excel workbook")
    main = next(iter(package.related("", "officeDocument")), "xl/workbook.xml")
    workbook = package.xml(main)
    if workbook is None:
        raise ExtractionFailed(f"The Excel workbook has no {main}.", reason="damaged")
    about = workbook.find(S + "workbookPr")
    since_1904 = about is not None and about.get("date1904") in ("1", "true")
    reader = _Cells(
        _shared(package.xml(next(iter(package.related(main, "sharedStrings")), None))),
        NumberFormats(package.xml(next(iter(package.related(main, "styles")), None)), since_1904),
    )
    writer = TextWriter(limits)
    targets = package.targets(main)
    for sheet in workbook.iter(S + "sheet"):
        if sheet.get("state") in ("hidden", "veryHidden"):
            continue
        root = package.xml(targets.get(sheet.get(REFERENCE) or ""))
        write_sheet(writer, sheet.get("name") or "", [] if root is None else list(reader.rows(root)))
    return Extraction(writer.text, writer.blocks, core_details(package), VERSION)


def write_sheet(writer: TextWriter, name: str, rows: list[SparseRow]) -> None:
    """Below its name; of the columns those that hold anything."""
    columns = sorted({column for row in rows for column in row})
    if columns:
        writer.block("heading", name, 1)
        write_rows(writer, ([row.get(column, "") for column in columns] for row in rows))


def _shared(root: etree._Element | None) -> list[str]:
    return [] if root is None else [_text(one) for one in root.iter(S + "si")]


def _text(element: etree._Element) -> str:
    """Its runs, without what tells how to say them."""
    return "".join(
        one.text or "" for one in element.iter(S + "t") if (above := one.getparent()) is None or above.tag != S + "rPh"
    )


class _Cells:
    def __init__(self, shared: list[str], formats: NumberFormats) -> None:
        self._shared, self._formats = shared, formats

    def rows(self, sheet: etree._Element) -> Iterator[SparseRow]:
        for row in sheet.iter(S + "row"):
            found: SparseRow = {}
            for place, cell in enumerate(row.iter(S + "c")):
                if words := self._words(cell).strip():
                    found[_column(cell.get("r"), place)] = words
            if found:
                yield found

    def _words(self, cell: etree._Element) -> str:
        kind, value = cell.get("t"), cell.findtext(S + "v")
        if kind == "inlineStr":
            return _text(cell)
        if not value:
            formula = cell.findtext(S + "f")
            # Nobody has computed it: the formula itself is all there is.
            return f"={formula}" if formula else ""
        if kind == "s":
            return self._shared[int(value)] if value.isdigit() and int(value) < len(self._shared) else ""
        if kind == "b":
            return _TRUTH.get(value, value)
        return value if kind in ("str", "e", "d") else self._formats.shown(value, cell.get("s"))


def _column(reference: str | None, place: int) -> int:
    letters = _COLUMN.match(reference or "")
    if letters is None:
        return place
    number = 0
    for letter in letters[0]:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
