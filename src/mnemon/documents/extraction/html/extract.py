"""Web pages: their own text with its structure, without what stands around it."""

import re

from mnemon.documents.extraction.dates import moment
from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.html.boilerplate import left_out, main_range
from mnemon.documents.extraction.html.text import PageText
from mnemon.documents.extraction.html.tree import TEXT, Tree, parse
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "html/1"

# `<meta charset=…>`, `<meta http-equiv … content="text/html; charset=…">` or `<?xml … encoding=…?>`.
DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]{2,40})")
DECLARED_WITHIN = 4_096
TITLES = ("og:title", "twitter:title", "dc.title", "citation_title")
AUTHORS = ("author", "article:author", "dc.creator", "citation_author", "parsely-author")
DATES = (
    "article:published_time", "date", "dc.date", "dcterms.created", "citation_publication_date", "datepublished",
    "og:published_time", "article:modified_time", "last-modified",
)  # fmt: skip


def extract_html(content: bytes, limits: Limits) -> Extraction:
    declared = DECLARED.search(content[:DECLARED_WITHIN])
    page = decode(content, declared[1].decode("ascii") if declared else None)
    tree = parse(page)
    writer = TextWriter(limits)
    write_page(tree, writer)
    return Extraction(writer.text, writer.blocks, _details(tree), VERSION)


def write_page(tree: Tree, writer: TextWriter, mail: bool = False, speaker: str | None = None) -> None:
    """Write the text of a page; of a mail all that is shown, since all of it was sent to be read."""
    skipped = left_out(tree, mail)
    start, until = main_range(tree, skipped) if not mail else (0, len(tree.nodes))
    PageText(tree, skipped, writer, speaker).write(start, until)


def _details(tree: Tree) -> Details:
    said = _meta(tree)
    title = next((said[name] for name in TITLES if name in said), None) or _title(tree)
    author = next((said[name] for name in AUTHORS if name in said), None)
    dates = [said[name] for name in DATES if name in said] + _times(tree)
    html = next((node for node in tree.nodes[:20] if node.tag == "html"), None)
    return Details(
        title=title,
        authors=[author] if author and not author.startswith(("http:", "https:")) else [],
        written_at=next((found for date in dates if (found := moment(date))), None),
        language=one_line(html.attributes.get("lang")) if html else None,
        more={name: said[name] for name in ("description", "keywords") if name in said},
    )


def _meta(tree: Tree) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.nodes:
        if node.tag == "meta":
            attributes = node.attributes
            name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or ""
            if words := one_line(attributes.get("content")):
                found.setdefault(name.lower(), words)
    return found


def _title(tree: Tree) -> str | None:
    for number, node in enumerate(tree.nodes):
        if node.tag == "title":
            return one_line("".join(one.text for one in tree.nodes[number + 1 : node.until] if one.tag == TEXT))
    return None


def _times(tree: Tree) -> list[str]:
    return [node.attributes.get("datetime", "") for node in tree.nodes if node.tag == "time"][:1]
