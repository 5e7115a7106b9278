"""Rich text (RTF): its words by striprtf, its structure by what they look like."""

import re

from striprtf.striprtf import rtf_to_text

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.hygiene import clean, one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.plain import read_plain
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "rtf/1"
_FIELD = {name: re.compile(rf"\\{name} ([^{{}}\\]{{1,500}})\}}") for name in ("title", "author")}
_TRAILING = re.compile(r"[ \t|]+$", re.MULTILINE)


def extract_rtf(content: bytes, limits: Limits) -> Extraction:
    source = content.decode("latin-1")
    if not source.lstrip().startswith("{\\rtf"):
        raise ExtractionFailed("The file is no rich text: it does not begin with {\\rtf.", reason="damaged")
    limits.check_characters(len(source) // 10)
    text = clean(_TRAILING.sub("", rtf_to_text(source, errors="replace"))).strip()  # type: ignore[no-untyped-call]
    found = read_plain(text, limits)
    said = {name: one_line(match[1]) for name, pattern in _FIELD.items() if (match := pattern.search(source))}
    author = said.get("author")
    details = Details(
        title=said.get("title") or found.details.title,
        authors=[author] if author else [],
        participants=found.details.participants,
        written_at=found.details.written_at,
    )
    return Extraction(found.text, found.blocks, details, VERSION)
