"""What a file says about itself, cut down to what is worth keeping: a hostile one may say a lot."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mnemon.documents.ingest.content import Extraction
from mnemon.documents.ingest.dating import written_at
from mnemon.documents.ingest.structured import MOST, cut, participants_of
from mnemon.documents.ingest.titles import OWN_TITLE, own_title

WRITTEN_ON = "written_on"


def as_told(extraction: Extraction, told: Mapping[str, Any]) -> Extraction:
    """What the sender says of a text comes before what it seems to say itself."""
    if not told:
        return extraction
    found, written = extraction.details, told.get("written_at")
    details = replace(
        found,
        title=told.get("title") or found.title,
        authors=[told["author"]] if told.get("author") else found.authors,
        participants=told.get("participants") or found.participants,
        written_at=datetime.fromisoformat(written) if written else found.written_at,
        dated_by_file=found.dated_by_file and not written,
    )
    return replace(extraction, details=details)


def described(extraction: Extraction, filename: str) -> dict[str, Any]:
    """The fields of the event that a revision is made of."""
    details, written = extraction.details, written_at(extraction, filename)
    more = {cut(name, 100): cut(value) for name, value in list(details.more.items())[:MOST]}
    # The moment is kept in universal time, where the author's day may have another date.
    more.pop(WRITTEN_ON, None)
    if written and written.date() != written.astimezone(UTC).date():
        more[WRITTEN_ON] = written.date().isoformat()
    if details.title:
        more["title"] = cut(details.title)
    if named := own_title(extraction):
        more[OWN_TITLE] = cut(named)
    if details.language:
        more["language"] = cut(details.language, 35)
    return {
        "written_at": written.isoformat() if written else None,
        "authors": [cut(name) for name in details.authors[:MOST]],
        "participants": participants_of(extraction),
        "details": more,
    }
