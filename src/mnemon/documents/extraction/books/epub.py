"""EPUB: the chapters of a book in the order of its spine, each read as a page."""

import posixpath
from urllib.parse import unquote

from lxml import etree

from mnemon.documents.extraction.dates import moment
from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.html.extract import write_page
from mnemon.documents.extraction.html.tree import parse
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.package import Package
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "epub/1"
OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"
ROOT_FILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
PAGES = ("application/xhtml+xml", "text/html")


def extract_epub(content: bytes, limits: Limits) -> Extraction:
    package = Package(content, limits, "EPUB book")
    container = package.xml("META-INF/container.xml")
    named = None if container is None else next(container.iter(ROOT_FILE), None)
    name = None if named is None else named.get("full-path")
    book = package.xml(name)
    if book is None or name is None:
        raise ExtractionFailed("The EPUB book has no list of its contents.", reason="damaged")
    writer = TextWriter(limits)
    for chapter in _chapters(book, posixpath.dirname(name)):
        page = package.content(chapter)
        if page is not None:
            write_page(parse(decode(page)), writer)
    return Extraction(writer.text, writer.blocks, _details(book), VERSION)


def _chapters(book: etree._Element, folder: str) -> list[str]:
    """Each once, in the order of reading."""
    items = {
        one.get("id"): posixpath.normpath(posixpath.join(folder, unquote(one.get("href") or "")))
        for one in book.iter(OPF + "item")
        if one.get("media-type") in PAGES
    }
    return list(dict.fromkeys(items[key] for one in book.iter(OPF + "itemref") if (key := one.get("idref")) in items))


def _details(book: etree._Element) -> Details:
    return Details(
        title=one_line(book.findtext(f".//{DC}title")),
        authors=[name for one in book.iter(DC + "creator") if (name := one_line(one.text))],
        written_at=moment(book.findtext(f".//{DC}date")),
        language=one_line(book.findtext(f".//{DC}language")),
    )
