"""What a document is called by itself: what its file declares, or the heading that it begins with."""

import re
from collections.abc import Sequence

from mnemon.documents.ingest.content import Extraction
from mnemon.documents.structure.headings import heading_title
from mnemon.documents.structure.structure import Block

# Where a revision keeps it among its details.
OWN_TITLE = "front_title"
LONGEST = 120

# Formats whose details are written with care, and those where they are left over from a template more often than not.
DECLARED = ("html", "epub", "eml", "rtf")
HEADED = ("md", "docx", "pdf", "odt", "html", "epub", "rtf", "pptx", "odp")
# Their headings are read from the text itself, and stand in its details for lack of others.
GUESSED = ("md", "txt")
# What programs write where nobody gave a title, and names of files.
_NO_TITLE = re.compile(
    r"microsoft (?:word|powerpoint|excel) - .*|(?:untitled|unbenannt|document|dokument|book|mappe|slide|folie)[ \d]*"
    r"|(?:powerpoint[- ])?(?:presentation|präsentation)[ \d]*|title|titel"
    r"|.*\.(?:docx?|pdf|pptx?|xlsx?|od[tps]|rtf|html?|txt|md|tex|dvi|indd|pages)",
    re.IGNORECASE,
)
_FIRST_SLIDE = re.compile(r"Slide 1: ?(.*)", re.DOTALL)
_NUMBERED = re.compile(r"\d+[.)]|[A-Z][.)]\s|§")


def own_title(extraction: Extraction) -> str | None:
    """None where the file's name tells more: a heading of one word, or one among equals, names no document."""
    kind = extraction.extractor.partition("/")[0]
    if said := extraction.details.more.get(OWN_TITLE):
        return said
    declared = None if kind in GUESSED else _declared(extraction.details.title)
    headed = _first_heading(extraction.text, extraction.blocks) if kind in HEADED else None
    return declared or headed if kind in DECLARED else headed or declared


def _declared(title: str | None) -> str | None:
    return title if title and not _NO_TITLE.fullmatch(title) else None


def _first_heading(text: str, blocks: Sequence[Block]) -> str | None:
    """The heading that everything else stands below."""
    body = [block for block in blocks if block.kind != "header"]
    if not body or body[0].kind != "heading":
        return None
    words = heading_title(text[body[0].start : body[0].end])
    if slide := _FIRST_SLIDE.fullmatch(words):
        return _named(slide[1])
    above = sum(block.kind == "heading" and block.level <= body[0].level for block in body)
    return None if above > 1 or _NUMBERED.match(words) else _named(words)


def _named(words: str) -> str | None:
    return words if len(words.split()) > 1 and len(words) <= LONGEST and not _NO_TITLE.fullmatch(words) else None
