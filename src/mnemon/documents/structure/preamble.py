"""Reads the lines before the text proper, of minutes and of mails: who wrote it, to whom, who was there, and when."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from email.utils import getaddresses, parsedate_to_datetime

from mnemon.documents.structure.dates import whole_day
from mnemon.documents.structure.names import NAME
from mnemon.documents.structure.sentences import sentences

_DATED = (
    "date", "sent", "meeting date", "held on", "datum", "gesendet", "last changed", "last updated", r"date of \w+",
    "stand", "erfasst", "erstellt",
)  # fmt: skip
# "Stand: 20.04.2026" dates a sheet; "Stand: läuft" tells something.
_ONLY_WITH_DATE = r"(?!(?:stand|erfasst|erstellt)\s*:\s*\D*$)"
_PRESENT = (
    "participants", "attendees", "present", "in attendance", "attending", "attendance", "teilnehmer(?:innen)?",
    "teilnehmende", "anwesende?", "participantes", "présents", "facilitator", "chair",
)  # fmt: skip
_OTHER = (
    "from", "to", "cc", "bcc", "subject", "re", "reply-to", "apologies", "absent", "location", "place", "time",
    "minutes(?: by| taken by)?", "message-id", "mime-version", "content-type", "next meeting",
    r"x-[\w-]+", "in-reply-to", "references", "von", "an", "betreff", "kopie", "entschuldigt", "ort", "uhrzeit",
    "protokoll(?:führung|ant|antin)?", "nächste sitzung", "nächster termin",
)  # fmt: skip
# Who wrote it, where no mail says from whom it is.
_WRITTEN_BY = (
    "author", "(?:prepared|written|reported|compiled|submitted) by", r"verfasser(?:in)?", r"autor(?:in)?",
    "(?:erstellt|verfasst|berichtet) von",
)  # fmt: skip
_NAMES = "|".join((*_DATED, *_PRESENT, *_OTHER, *_WRITTEN_BY))
_FIELD = re.compile(
    rf"[ \t>*#_]*(?:-[ \t]+)?{_ONLY_WITH_DATE}(?P<name>{_NAMES})(?:\*\*|__)?[ \t]*:(?:\*\*|__)?"
    r"[ \t]*(?P<value>.*)$",
    re.IGNORECASE,
)
_AUTHOR = re.compile(r"\((?:notes|reported|written|prepared|minutes)(?: by)?:? (?P<name>[A-Z][\w.’' -]+?)(?:,|\))")
# "(first week)", "for item 2": said of a name, no part of it.
_BESIDE_NAME = re.compile(
    r"\s*\([^)]*\)|\s+<[^>]*>|\s+(?:for|from|until|till|via|by)\s[^,;]*|,\s*(?:[A-Z]{2,4}|[a-z ]+)$"
)
_AND = re.compile(r"[,;]|\b(?:and|und|et|y)\b|&")
_PLAIN_NAME = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[^\W\d_][\w.’'-]*(?: [^\W\d_][\w.’'-]*){0,3}")
# "Hi Felix", or "Felix," alone on its line.
_PEOPLE = rf"{NAME}(?:(?:,\s+|,?\s+(?:and|und)\s+|\s*&\s*){NAME})*"
_GREETING = re.compile(
    rf"\s*(?:(?i:hi|hello|hey|dear|good (?:morning|afternoon|evening)|hallo|liebe[r]?|sehr geehrte[r]?|moin|servus"
    rf"|guten (?:tag|morgen|abend))\s+(?P<hailed>{_PEOPLE})\s*[,!:.–-]?"
    rf"|(?P<named>{_PEOPLE}),)\s*$"
)
_TELLS_OF = re.compile(rf"(?P<names>{_PEOPLE})\s+(?!and\b|und\b)[a-zäöü]")
_NOBODY = frozenset({
    "all", "alle", "best", "cheers", "colleagues", "everybody", "everyone", "folks", "friends", "hi", "kind", "madam",
    "regards", "sir", "sincerely", "team", "thanks", "yours", "zusammen", "kollegen", "kolleginnen", "damen", "herren",
    "runde", "leute",
})  # fmt: skip
_LINES = 40
_LONGEST_LINE = 2_000
# A date further down, or in a sentence, is about something else.
_HEAD_LINES, _LONGEST_CAPTION = 3, 160
_ENDS_A_SENTENCE = re.compile(r"[.!?][\"'”’)]*$")
# "The open day is on 24 April 2027", as slides and chats say it: a sentence all the same.
_TELLS_A_DAY = re.compile(
    r"\b(?:is|are|was|were|will|takes? place|begins?|starts?|ends?|opens?|closes?|ist|sind|war|wird|werden|findet"
    r"|finden|beginnt|beginnen|endet|läuft)\b.*\b(?:on|by|from|until|till|for|am|bis|ab|vom|zum)\b\W+(?:\w+\W+)?\d",
    re.IGNORECASE,
)
_TOLD = re.compile(r"(?:^\W*(?:held|made|signed|recorded) on |, dated )(?P<when>[^,;]{6,40})", re.IGNORECASE)
_TOLD_LINES = 6


@dataclass(frozen=True, slots=True)
class Preamble:
    """What the first lines say. The first mention of a field counts."""

    author: str | None = None
    recipients: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    # By a field such as `Date:`, else by a caption. Orders such as 03/04/2026 say two things and are not read.
    written_on: date | None = None
    # "Hi Felix,": those to whom the text speaks.
    greeted: tuple[str, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """Those who are named; "the clerk" and "everybody" were there too."""
        named = (name for name in self.present if not name[:1].islower())
        return (*((self.author,) if self.author else ()), *self.recipients, *named)


def is_field(line: str) -> bool:
    return _FIELD.match(line) is not None


def read_preamble(text: str) -> Preamble:
    lines = [line for line in text[: _LINES * _LONGEST_LINE].split("\n", _LINES)[:_LINES] if len(line) <= _LONGEST_LINE]
    fields: dict[str, str] = {}
    for line in lines:
        if match := _FIELD.match(line):
            fields.setdefault(match["name"].lower(), match["value"].strip())
    written_by = next((value for key, value in fields.items() if _is_one_of(key, _WRITTEN_BY)), "")
    author = next(iter(_names(fields.get("from") or fields.get("von") or written_by)), None)
    if not author and (match := _AUTHOR.search("\n".join(lines[:6]))):
        author = match["name"].strip()
    present = tuple(one for key, value in fields.items() if _is_one_of(key, _PRESENT) for one in _parts(value))[:100]
    dated = (_field_day(value) for key, value in fields.items() if _is_one_of(key, _DATED))
    written_on = next((day for day in dated if day), None) or caption_day(lines) or _told_day(lines)
    return Preamble(
        author, tuple(_names(fields.get("to") or fields.get("an", ""))), present, written_on, _greeted(lines)
    )


def _is_one_of(key: str, names: tuple[str, ...]) -> bool:
    return any(re.fullmatch(name, key) for name in names)


def caption_day(lines: list[str]) -> date | None:
    """The first whole date in the first lines, as headings and captions have it."""
    head = [line.strip() for line in lines if line.strip()][:_HEAD_LINES]
    captions = (line for line in head if len(line) <= _LONGEST_CAPTION and not _is_sentence(line))
    return next((found for line in captions if (found := whole_day(line))), None)


def _is_sentence(line: str) -> bool:
    return bool(_ENDS_A_SENTENCE.search(line) or _TELLS_A_DAY.search(line))


def _told_day(lines: list[str]) -> date | None:
    """ "Held on 21 April 2026 in Gothenburg.", "between the two of them, dated 3 February 2025." """
    found = (match for line in lines[:_TOLD_LINES] if (match := _TOLD.search(line)))
    return next((day for match in found if (day := whole_day(match["when"]))), None)


def _field_day(value: str) -> date | None:
    try:
        return parsedate_to_datetime(value).date()
    except (ValueError, TypeError, IndexError, OverflowError):
        return whole_day(value)


def _greeted(lines: list[str]) -> tuple[str, ...]:
    """Those whom the first line that greets somebody names."""
    match = next((match for line in lines if (match := _GREETING.match(line))), None)
    names = re.split(r",\s*(?:and\s+)?|\s+(?:and|und)\s+|\s*&\s*", match["hailed"] or match["named"]) if match else []
    return tuple(name for name in names if not {word.lower() for word in name.split()} & _NOBODY)


def _listed(value: str) -> Iterator[str]:
    """ "Ada, Ben. Cem joined by phone.": the list ends with its sentence; of the next one whom it begins with."""
    for count, (start, end) in enumerate(sentences(value)):
        told = value[start:end].strip(" .")
        if count and (match := _TELLS_OF.match(told)):
            yield match["names"]
        elif told:
            yield told


def _names(value: str) -> list[str]:
    return [part for part in _parts(value) if not part[:1].islower()]


def _parts(value: str) -> list[str]:
    if "@" in value:
        return [name for name, _ in getaddresses([value]) if name]
    value = ", ".join(_listed(value))
    parts = [_BESIDE_NAME.sub("", part).strip(" .*_") for part in _AND.split(_BESIDE_NAME.sub("", value))]
    return [part for part in parts if len(part) <= 80 and _PLAIN_NAME.fullmatch(part)]
