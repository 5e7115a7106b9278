"""What all OpenDocument files have in common: their parts, the words of a paragraph, what they say of themselves."""

from collections.abc import Iterator

from lxml import etree

from mnemon.documents.extraction.dates import moment
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.package import Package
from mnemon.documents.ingest.content import Details

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TEXT, TABLE, DRAW, META, PRESENTATION = (
    f"{{{_ODF}{name}:1.0}}" for name in ("office", "text", "table", "drawing", "meta", "presentation")
)
_DC = "{http://purl.org/dc/elements/1.1/}"
_LITERAL = {TEXT + "tab": "\t", TEXT + "line-break": "\n"}
# Remarks stand beside the text, deleted words are gone; notes are written after their paragraph.
_LEFT_OUT = frozenset({OFFICE + "annotation", TEXT + "tracked-changes", TEXT + "note", TEXT + "ruby-text"})
MOST_SPACES = 100
DEEPEST = 200


def opened(content: bytes, limits: Limits, what: str, kind: str) -> tuple[Package, etree._Element]:
    """The package, and of its content the part that is the text, the presentation or the spreadsheet."""
    package = Package(content, limits, what)
    manifest = package.xml("META-INF/manifest.xml")
    if manifest is not None and any(str(one.tag).endswith("}encryption-data") for one in manifest.iter()):
        raise ExtractionFailed(f"The {what} is encrypted: save it without a password.", reason="encrypted")
    root = package.xml("content.xml")
    body = None if root is None else root.find(f"{OFFICE}body/{OFFICE}{kind}")
    if body is None:
        raise ExtractionFailed(f"The {what} has no content.", reason="damaged")
    return package, body


def words_of(element: etree._Element) -> str:
    return "".join(_parts(element, 0))


def _parts(element: etree._Element, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        raise ExtractionFailed(f"The text nests elements deeper than {DEEPEST}.", reason="hostile")
    yield element.text or ""
    for child in element:
        if child.tag in _LITERAL:
            yield _LITERAL[str(child.tag)]
        elif child.tag == TEXT + "s":
            yield " " * count_of(child, TEXT + "c", MOST_SPACES)
        elif child.tag not in _LEFT_OUT:
            yield from _parts(child, depth + 1)
        yield child.tail or ""


def count_of(element: etree._Element, name: str, most: int) -> int:
    """How often something is repeated; a hostile file says a billion times."""
    said = element.get(name, "1")
    return min(int(said), most) if said.isdigit() and len(said) < 12 else 1


def details_of_package(package: Package) -> Details:
    root = package.xml("meta.xml")
    if root is None:
        return Details()
    author = one_line(root.findtext(f".//{META}initial-creator")) or one_line(root.findtext(f".//{_DC}creator"))
    keywords = [words for one in root.iter(META + "keyword") if (words := one_line(one.text))]
    return Details(
        title=one_line(root.findtext(f".//{_DC}title")),
        authors=[author] if author else [],
        written_at=moment(root.findtext(f".//{META}creation-date")),
        language=one_line(root.findtext(f".//{_DC}language")),
        more={"keywords": ", ".join(keywords)} if keywords else {},
    )
