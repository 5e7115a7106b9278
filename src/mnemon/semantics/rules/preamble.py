"""Reads the lines before the text proper: mail headers, "Present:", "Date:"."""

import re
from dataclasses import dataclass
from datetime import date
from email.utils import getaddresses, parsedate_to_datetime

from mnemon.semantics.rules.dates import read_dates
from mnemon.semantics.rules.people import NAME
from mnemon.semantics.rules.word_lists import words

_FIELD = re.compile(
    r"^\s*(?P<name>from|to|cc|bcc|date|sent|subject|re|reply-to|present|attend(?:ees|ance|ing)"
    r"|participants|apologies|absent"
    r"|location|place|time|facilitator|chair|minutes(?: by| taken by)?|author|message-id|mime-version"
    r"|content-type|next meeting"
    r"|x-[\w-]+|in-reply-to|references)\s*:\s*(?P<value>.*)$",
    re.IGNORECASE,
)
_PRESENT = frozenset({"present", "attendees", "attendance", "attending", "participants", "facilitator", "chair"})
_AUTHOR = re.compile(r"\((?:notes|reported|written|prepared|minutes)(?: by)?:? (?P<name>[A-Z][\w.’' -]+?)(?:,|\))")
_BESIDE_NAME = re.compile(
    r"\s*\([^)]*\)|\s+<[^>]*>|\s+(?:for|from|until|till|via|by)\s[^,;]*|,\s*(?:[A-Z]{2,4}|[a-z ]+)$"
)
_NAME = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[^\W\d_][\w.’'-]*(?: [^\W\d_][\w.’'-]*){0,3}")
# "Hi Felix", or "Felix," alone on its line.
_PEOPLE = rf"{NAME}(?:(?:,\s+|,?\s+and\s+|\s*&\s*){NAME})*"
_GREETING = re.compile(
    rf"\s*(?:(?i:hi|hello|hey|dear|good (?:morning|afternoon|evening))\s+(?P<hailed>{_PEOPLE})\s*[,!:.–-]?"
    rf"|(?P<named>{_PEOPLE}),)\s*$"
)
_NOBODY = words(
    "all best cheers colleagues everybody everyone folks friends hi kind madam regards sir sincerely team thanks yours"
)
_NO_YEAR_GIVEN = date(1, 1, 1)


@dataclass(frozen=True)
class Preamble:
    author: str | None = None
    recipients: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    written_on: date | None = None
    # "Hi Felix,": those to whom the text speaks.
    greeted: tuple[str, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        return (*((self.author,) if self.author else ()), *self.recipients, *self.present)


def is_field(line: str) -> bool:
    return _FIELD.match(line) is not None


def read_preamble(lines: list[str]) -> Preamble:
    """From the first lines of a document. The first mention of a field counts."""
    fields: dict[str, str] = {}
    for line in lines:
        if match := _FIELD.match(line):
            fields.setdefault(match["name"].lower(), match["value"].strip())
    opening = "\n".join(lines[:6])
    author = next(iter(_names(fields.get("from", ""))), None)
    if not author and (match := _AUTHOR.search(opening)):
        author = match["name"].strip()
    present = [name for key, value in fields.items() if key in _PRESENT for name in _names(value)]
    recipients = _names(fields.get("to", ""))
    written_on = _date(fields.get("date") or fields.get("sent"), opening)
    return Preamble(author, tuple(recipients), tuple(present), written_on, _greeted(lines))


def _greeted(lines: list[str]) -> tuple[str, ...]:
    """Those whom the first line that greets somebody names."""
    match = next((match for line in lines if (match := _GREETING.match(line))), None)
    names = re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", match["hailed"] or match["named"]) if match else []
    return tuple(name for name in names if not {word.lower() for word in name.split()} & _NOBODY)


def _names(value: str) -> list[str]:
    if "@" in value:
        return [name for name, _ in getaddresses([value]) if name]
    parts = [_BESIDE_NAME.sub("", part).strip() for part in re.split(r"[,;]|\band\b|&", _BESIDE_NAME.sub("", value))]
    return [part for part in parts if part[:1].isupper() and _NAME.fullmatch(part)]


def _date(field: str | None, opening: str) -> date | None:
    """The header's date, or else the first full date in the opening lines."""
    if field:
        try:
            return parsedate_to_datetime(field).date()
        except ValueError:
            pass
    for text in (field or "", opening):
        for mention in read_dates(text, _NO_YEAR_GIVEN.replace(year=2)):
            if mention.period.first.year > 1000 and mention.period.first == mention.period.last:
                return mention.period.first
    return None
