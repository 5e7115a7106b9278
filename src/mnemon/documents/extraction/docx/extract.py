"""Word documents: headings, lists with their numbers, tables and notes in reading order; comments kept apart."""

from lxml import etree

from mnemon.documents.extraction.docx.body import Body
from mnemon.documents.extraction.docx.styles import Styles, W, numbering_of
from mnemon.documents.extraction.docx.text import Notes, paragraphs_in, read_paragraph
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.hygiene import clean, one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.office_details import core_details
from mnemon.documents.extraction.package import Package
from mnemon.documents.ingest.content import Extraction

VERSION = "docx/1"
MOST_MARGINS = 100


def extract_docx(content: bytes, limits: Limits) -> Extraction:
    package = Package(content, limits)
    main = next(iter(package.related("", "officeDocument")), "word/document.xml")
    document = package.xml(main)
    root = None if document is None else document.find(W + "body")
    if root is None:
        raise ExtractionFailed(f"The Word document has no {main}.", reason="damaged")
    body = Body(
        limits,
        Styles(_part(package, main, "styles")),
        numbering_of(_part(package, main, "numbering")),
        _notes(package, main, "footnote"),
        _notes(package, main, "endnote"),
        _comments(package, main),
    )
    body.margin(_margins(package, main, "header"))
    body.read(root)
    body.close()
    body.margin(_margins(package, main, "footer"))
    return Extraction(body.writer.text, body.writer.blocks, core_details(package), VERSION, remarks=body.remarks())


def _part(package: Package, main: str, kind: str) -> etree._Element | None:
    return package.xml(next(iter(package.related(main, kind)), None))


def _notes(package: Package, main: str, kind: str) -> dict[str, str]:
    """Texts of the footnotes or endnotes by their id; the lines that part them from the text are left out."""
    root = _part(package, main, f"{kind}s")
    return {
        note.get(W + "id") or "": _words(note)
        for note in (() if root is None else root.iter(W + kind))
        if note.get(W + "type") in (None, "normal")
    }


def _comments(package: Package, main: str) -> dict[str, tuple[str | None, str]]:
    root = _part(package, main, "comments")
    return {
        comment.get(W + "id") or "": (one_line(comment.get(W + "author")), clean(_words(comment)))
        for comment in (() if root is None else root.iter(W + "comment"))
    }


def _margins(package: Package, main: str, kind: str) -> str:
    """The lines of all headers or footers, each once."""
    lines: dict[str, None] = {}
    for name in package.related(main, kind)[:MOST_MARGINS]:
        root = package.xml(name)
        for paragraph in () if root is None else paragraphs_in(root):
            lines[" ".join(read_paragraph(paragraph, Notes()).text.split())] = None
    return "\n".join(line for line in lines if line)


def _words(parent: etree._Element) -> str:
    return " ".join(read_paragraph(paragraph, Notes()).text.strip() for paragraph in paragraphs_in(parent)).strip()
