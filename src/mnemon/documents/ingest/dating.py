"""When a document was written: as the file says, else by the date in its first lines, else by the date in its name.

A file of Microsoft's Office says when it was made, often from a template: there the first lines come first.
"""

import re
from datetime import UTC, datetime
from typing import Any

from mnemon.documents.ingest.content import Extraction
from mnemon.documents.structure.dates import midnight
from mnemon.documents.structure.preamble import caption_day
from mnemon.log.privacy.crypto_seal import REDACTED

HEAD_CHARACTERS = 1_000
IN_NAME = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_. ]?)(\d\d)\2(\d\d)(?!\d)")
# What tools that write the same file for the same input put there, and the template of a widely used one.
PLACEHOLDERS = frozenset(
    {*(datetime(year, 1, 1, tzinfo=UTC) for year in (1970, 1980, 2000)), datetime(2013, 12, 23, 23, 15, tzinfo=UTC)}
)


def written_at(extraction: Extraction, filename: str) -> datetime | None:
    stated = extraction.details.written_at
    if stated is None or stated in PLACEHOLDERS or not in_calendar(stated):
        return _date_in_text(extraction) or date_in_name(filename)
    return (_date_in_text(extraction) if extraction.details.dated_by_file else None) or stated


def _date_in_text(extraction: Extraction) -> datetime | None:
    """The day in the first row of a table is no day of writing."""
    in_head = next((block.start for block in extraction.blocks if block.kind == "record"), None)
    return date_in_head(extraction.text[:in_head])


def in_calendar(moment: datetime) -> bool:
    """Whether it has a universal time: the first and the last hours of the calendar have none in some time zones."""
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True


def recorded_moment(value: Any) -> datetime | None:
    """As an event tells it; nothing where that was erased, or has no universal time."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) and value != REDACTED else None
    return moment if moment is not None and in_calendar(moment) else None


def date_in_head(text: str) -> datetime | None:
    """The first whole date in the first lines, as headings and captions have it."""
    return midnight(caption_day(text[:HEAD_CHARACTERS].split("\n")))


def date_in_name(filename: str) -> datetime | None:
    """2026-01-12-weekly.md, minutes_20260112.txt: the year first, since no other order says one thing only."""
    for found in IN_NAME.finditer(filename):
        try:
            return datetime(int(found[1]), int(found[3]), int(found[4]), tzinfo=UTC)
        except ValueError:
            continue
    return None
