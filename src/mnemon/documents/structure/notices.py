"""Notices of a chat program: lines of an export that it wrote by itself, and that are nobody's words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnemon.documents.structure.lines import Line

# "[02.03.26, 10:32:15] Anna: hello", "02/03/2026, 10:32 - +49 170 1234567: hello", and without a name what the program
# tells by itself.
STAMPED = re.compile(
    r"[\u200e\u200f\ufeff]*(?P<bracket>\[)?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}[:.]\d{2}(?:[:.]\d{2})?"
    r"(?:[ \u202f]?[AaPp]\.? ?[Mm]\.?)?(?(bracket)\]| -) (?:~ ?)?(?:(?P<name>[^:\n]{1,80}): ?)?"
)
_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2068\u2069 \t"
_ENCRYPTED = re.compile(
    r"(?:messages|calls|nachrichten|anrufe)\b.{0,60}\b(?:end-to-end encrypted|Ende-zu-Ende[- ]verschlüsselt)\b",
    re.IGNORECASE,
)
# What happened to the chat. Some exports set the name of the group, or of who did it, before it.
_OF_CHAT = re.compile(
    r"(?:you|.{1,60}?) (?:created (?:this |the )?(?:group|community|channel)\b|changed (?:the|this) (?:subject|group)\b"
    r"|changed (?:the|this) (?:group )?(?:name|icon|description)\b|changed (?:their|to a new) (?:phone )?number\b"
    r"|(?:joined|left)(?: using .{0,60})?\W*$|(?:was|were) (?:added|removed)\W*$|(?:added|removed) .{1,60}$"
    r"|pinned a message\b|turned (?:on|off) disappearing messages\b)"
    r"|(?:your |the )?security code (?:with .{1,60} )?changed\b"
    r"|(?:du hast|.{1,60}? hat) (?:(?:die|diese) (?:gruppe|community)\b.{0,80}\berstellt\W*$"
    r"|(?:den betreff|den gruppennamen|das gruppenbild|die gruppenbeschreibung)\b"
    r"|(?:die gruppe|die community) verlassen\W*$|.{1,60} (?:hinzugefügt|entfernt)\W*$)"
    r"|.{1,60}? (?:ist|bist) .{0,60}beigetreten\W*$|.{1,60}? (?:wurde|wurdest) (?:hinzugefügt|entfernt)\W*$"
    r"|(?:deine|die) sicherheitsnummer .{0,60}geändert\b",
    re.IGNORECASE,
)
# In the place of what somebody sent: a picture that was left out, a message that was taken back, a call.
_IN_PLACE = re.compile(
    r"<?(?:media|image|video|gif|audio|sticker|document|contact card|voice message|file) omitted>?"
    r"|<?(?:medien|bild|video|gif|audio|sticker|dokument|kontaktkarte|sprachnachricht|datei)"
    r" (?:ausgeschlossen|weggelassen)>?"
    r"|\S.{0,120}\((?:file attached|datei angehängt)\)|<(?:attached|anhang): [^>\n]{1,120}>|null"
    r"|(?:you deleted this message|this message was deleted|message deleted)(?: by admin .{1,60})?\.?"
    r"|du hast diese nachricht gelöscht\.?|diese nachricht wurde gelöscht\.?"
    r"|missed (?:voice|video|group) call(?: at .{1,12})?|verpasster (?:sprach|video|gruppen)anruf(?: um .{1,12})?"
    r"|waiting for this message\b.{0,80}",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\"“”„«»]")
# So many stamped lines that name who sent them show by themselves that the others are the program's.
_FEWEST_NAMED = 2


@dataclass(frozen=True, slots=True)
class Notice:
    """A line that is nobody's words. Who sent what it stands in the place of goes on speaking below it."""

    sender: str | None = None


def notices_in(lines: Sequence[Line]) -> Mapping[int, Notice]:
    """By the start of their line. What has a stamp and no name is one only in a chat: a log of work looks the same."""
    found: dict[int, Notice] = {}
    unnamed: list[int] = []
    named, others, below = 0, 0, False
    for line in lines:
        stamp = STAMPED.match(line.text)
        if stamp is None:
            # What goes on below such a line is of it.
            unnamed += [line.start] if below and not line.blank else []
            continue
        notice = _notice(line.text, stamp)
        below = notice is None and not stamp["name"]
        if notice:
            found[line.start] = notice
        elif below:
            unnamed.append(line.start)
        named, others = named + (notice is None and not below), others + below
    if named and (found or (named >= _FEWEST_NAMED and named > others)):
        found |= dict.fromkeys(unnamed, Notice())
    return found


def sender_of(line: str, stamp: re.Match[str]) -> str | None:
    """Whose name stands behind the stamp, and is no part of what the program tells."""
    notice = _notice(line, stamp)
    return notice.sender if notice else (stamp["name"] or "").strip(_MARKS) or None


def _notice(line: str, stamp: re.Match[str]) -> Notice | None:
    words, name = line[stamp.end() :], (stamp["name"] or "").strip(_MARKS)
    plain = words.strip(_MARKS)
    if _ENCRYPTED.match(plain):
        return Notice()
    # "Anna changed the subject to "Oven: news"" has a colon of its own; "Anna: Ben left" is what Anna says.
    by_program = not name or words[:1] in ("\u200e", "\u200f") or plain.startswith(f"{name} ")
    if _OF_CHAT.match(plain if by_program else name) and (by_program or _QUOTES.search(name)):
        return Notice()
    return Notice(name or None) if _IN_PLACE.fullmatch(plain) else None
