"""What minutes say about themselves in their first lines: who was there, and when."""

import re
from datetime import UTC, datetime

PRESENT = re.compile(
    r"^[ \t>*#-]*(?:\*\*)?(?:participants|attendees|present|in attendance|attending|teilnehmer|anwesend|participantes|"
    r"présents)(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
DATED = re.compile(
    r"^[ \t>*#-]*(?:\*\*)?(?:date|meeting date|held on|datum)(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
# "(first week)", "for item 2": said of a name, no part of it.
ASIDE = re.compile(r"\s*\([^()]*\)|\s+(?:for|from|until|till|via|by)\s[^,;]*")
HEAD = 3_000
ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\.?\s+([A-Za-z]{3})[a-z]*\.?,?\s+(\d{4})\b")
MONTH_FIRST = re.compile(r"\b([A-Za-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")


def participants_in(text: str) -> list[str]:
    match = PRESENT.search(text, 0, HEAD)
    if not match:
        return []
    parts = re.split(r"[,;]| and | und | et ", ASIDE.sub("", match[1]))
    return [name for part in parts if 1 < len(name := part.strip(" .*_")) <= 80][:100]


def date_in(text: str) -> datetime | None:
    """The date in a `Date:` line. Orders such as 03/04/2026 say two things and are not read."""
    match = DATED.search(text, 0, HEAD)
    return match and date_within(match[1])


def date_within(words: str) -> datetime | None:
    """The first whole date that the words name, its day, month and year."""
    if found := ISO.search(words):
        return _moment(found[1], int(found[2]), found[3])
    if (found := DAY_FIRST.search(words)) and found[2].lower() in MONTHS:
        return _moment(found[3], MONTHS.index(found[2].lower()) + 1, found[1])
    if (found := MONTH_FIRST.search(words)) and found[1].lower() in MONTHS:
        return _moment(found[3], MONTHS.index(found[1].lower()) + 1, found[2])
    return None


def _moment(year: str, month: int, day: str) -> datetime | None:
    try:
        return datetime(int(year), month, int(day), tzinfo=UTC)
    except ValueError:
        return None
