"""PowerPoint: slide by slide its title, its text, its tables and its notes."""

from collections.abc import Iterator

from lxml import etree

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.office_details import core_details
from mnemon.documents.extraction.package import Package
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Extraction

VERSION = "pptx/1"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
TITLES = ("title", "ctrTitle")
# Numbers, dates and footers of a slide say nothing of it.
LEFT_OUT = ("sldNum", "dt", "ftr", "hdr", "sldImg")
CELL_BORDER = " | "
DEEPEST = 9


def extract_pptx(content: bytes, limits: Limits) -> Extraction:
    package = Package(content, limits, "PowerPoint file")
    main = next(iter(package.related("", "officeDocument")), "ppt/presentation.xml")
    presentation = package.xml(main)
    if presentation is None:
        raise ExtractionFailed(f"The PowerPoint file has no {main}.", reason="damaged")
    writer, targets = TextWriter(limits), package.targets(main)
    names = [targets.get(one.get(REFERENCE) or "") for one in presentation.iter(P + "sldId")]
    limits.check_pages(len(names))
    for number, name in enumerate(filter(None, names), 1):
        slide = package.xml(name)
        if slide is not None and slide.get("show") not in ("0", "false"):
            _write_slide(writer, slide, number)
            _write_notes(writer, package, name)
    return Extraction(writer.text, writer.blocks, core_details(package), VERSION)


def _write_slide(writer: TextWriter, slide: etree._Element, number: int) -> None:
    shapes = list(_shapes(slide))
    title = next((" ".join(_lines(one)) for one in shapes if _place(one) in TITLES), "")
    writer.block("heading", f"Slide {number}: {title}" if title.strip() else f"Slide {number}", 1)
    for shape in shapes:
        place = _place(shape)
        if shape.tag == P + "graphicFrame":
            for table in shape.iter(A + "tbl"):
                writer.block("table", "\n".join(_rows(table)))
        elif place in ("body", "obj") and len(list(_lines(shape))) > 1:
            writer.block("list", "\n".join(_items(shape)))
        elif place not in (*TITLES, *LEFT_OUT):
            writer.block("paragraph", "\n".join(_lines(shape)))


def _write_notes(writer: TextWriter, package: Package, slide: str) -> None:
    for name in package.related(slide, "notesSlide")[:1]:
        root = package.xml(name)
        for shape in () if root is None else _shapes(root):
            if _place(shape) == "body" and (words := " ".join(_lines(shape))):
                writer.block("paragraph", f"Notes: {words}")


def _shapes(root: etree._Element) -> Iterator[etree._Element]:
    """In the order in which they are drawn; groups are looked into."""
    yield from root.iter(P + "sp", P + "graphicFrame")


def _place(shape: etree._Element) -> str | None:
    """What the layout has the shape for; None for one that was drawn freely."""
    found = next(shape.iter(P + "ph"), None)
    return None if found is None else found.get("type", "obj")


def _paragraphs(shape: etree._Element) -> Iterator[tuple[int, str]]:
    for paragraph in shape.iter(A + "p"):
        properties = paragraph.find(A + "pPr")
        level = "0" if properties is None else properties.get("lvl", "0")
        if words := " ".join(_words(paragraph).split()):
            yield min(int(level), DEEPEST) if level.isdigit() else 0, words


def _words(paragraph: etree._Element) -> str:
    return "".join(
        " " if one.tag == A + "br" else one.text or "" for one in paragraph.iter(A + "t", A + "br") if one is not None
    )


def _lines(shape: etree._Element) -> Iterator[str]:
    return (words for _, words in _paragraphs(shape))


def _items(shape: etree._Element) -> Iterator[str]:
    return (f"{'  ' * level}- {words}" for level, words in _paragraphs(shape))


def _rows(table: etree._Element) -> Iterator[str]:
    for row in table.iter(A + "tr"):
        cells = [" ".join(_lines(cell)) for cell in row.iter(A + "tc")]
        if any(cells):
            yield CELL_BORDER.join(cells)
