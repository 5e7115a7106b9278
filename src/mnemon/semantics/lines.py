"""Tells what kind of line a line is: heading, bullet, table row, somebody's words, older mail."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from mnemon.semantics.people import is_given_name
from mnemon.semantics.preamble import is_field
from mnemon.semantics.sections import section_of

_LINE = re.compile(r"[^\r\n\f]*(?:\r\n|\n|\r|\f|$)")
_BULLET = re.compile(
    r"\s*(?:[-*•‣▪◦+–—]|\(?\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3})+\.?"
    r"|\(?[a-z][.)])\s+(?:\[(?P<box>[ xX✓])\]\s*)?(?=\S)"
)
_CHECKBOX = re.compile(r"\s*\[(?P<box>[ xX✓])\]\s+(?=\S)")
_MARKED_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S|\s*(\*\*|__)[^*_]{2,60}\1:?\s*$")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,})\s*$")
_NUMBERED = re.compile(r"\s*\d{1,2}[.)]?\s+[A-Z]")
_TERMINAL = re.compile(r"[.!?;,]\s*$")
_ATTRIBUTION = re.compile(r"\s*(?:On\b.{4,120}\bwrote|Le\b.{4,100}\ba écrit|Am\b.{4,100}\bschrieb)[^:]{0,40}:\s*$")
_OLD_MAIL = re.compile(r"\s*(?:-{2,}\s*(?:Original Message|Forwarded message)|Begin forwarded message)", re.IGNORECASE)
# A rule of underscores: older mail where a sender stands below it, and in any other text just a rule.
_RULE = re.compile(r"\s*_{3,}\s*$")
_SENDER = re.compile(r"\s*\*?(?:From|Von|De|Da|Van)\s*:", re.IGNORECASE)
_SIGN_OFF = re.compile(
    r"\s*(?:(?:best|kind|warm|many)\s+)*(?:regards|wishes|cheers|thanks(?: again| a lot)?|thank you"
    r"|sincerely|yours(?: truly| sincerely)?|best|br|rgds|love)\s*[,.!]?\s*[\w.]{0,20}\s*",
    re.IGNORECASE,
)
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?"
_STAMP = rf"(?:\[?(?:\d{{1,4}}[-./]\d{{1,2}}[-./]\d{{1,4}},?\s+)?{_CLOCK}\]?(?:\s+-)?\s+)"
_LABEL = r"(?P<speaker>@?[^\s\d:|;>\[\]()*•#+-][^:|;>\[\]()\n]{0,38}?)"
_SAID = re.compile(rf"\s*(?P<stamp>{_STAMP})?<?{_LABEL}>?\s*(?P<after>[\[(]\d[\d:.]*[\])])?\s*:\s+(?=\S)")
_FIRST_PERSON = re.compile(rf"\s*{_LABEL}\s*:\s+(?:(?:ok|okay|yes|sure|so|and|well),?\s+)*(?:I|we)\b", re.IGNORECASE)
_NICK_SAID = re.compile(rf"\s*(?:{_STAMP})?<(?P<speaker>[\w.-]{{1,30}})>\s+(?=\S)")
_SPEAKER_ABOVE = re.compile(
    rf"\s*(?P<speaker>[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){{0,2}})\s+(?:\[|\()?{_CLOCK}(?:\]|\))?\s*$"
)
_NAME_LIKE = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z@][\w.’'-]*(?: (?:[A-Z][\w.’'-]*|de|van|von|der|bin|al))*")
_LONGEST_HEADING_WORDS = 8
_LONGEST_TITLE_WORDS = 16
_STATEMENT = re.compile(
    r"\b(?:I|we|will|shall|decided|agreed|please|is|are|was|were)\b|'ll\b|^\s*(?:decision|action)\s*:", re.IGNORECASE
)


@dataclass(frozen=True)
class Line:
    """`[start, end)` without the line's end."""

    start: int
    end: int
    text: str

    @property
    def blank(self) -> bool:
        return not self.text.strip()


@dataclass(frozen=True)
class Said:
    """Who speaks, and where the words begin within the line."""

    speaker: str
    begin: int


def split_lines(text: str) -> list[Line]:
    lines = []
    for match in _LINE.finditer(text):
        body = match[0].rstrip("\r\n\f")
        lines.append(Line(match.start(), match.start() + len(body), body))
    return lines


def bullet(line: str) -> re.Match[str] | None:
    return _BULLET.match(line) or _CHECKBOX.match(line)


def is_quoted(line: str) -> bool:
    return line.lstrip().startswith(">") or _ATTRIBUTION.match(line) is not None


def is_code_fence(line: str) -> bool:
    return line.lstrip().startswith(("```", "~~~"))


def is_sign_off(line: str) -> bool:
    return _SIGN_OFF.fullmatch(line) is not None


def starts_old_mail(line: str, following: str) -> bool:
    return bool(_OLD_MAIL.match(line) or (is_rule(line) and _SENDER.match(following)))


def is_rule(line: str) -> bool:
    return _RULE.match(line) is not None


def is_underline(line: str) -> bool:
    return _UNDERLINE.match(line) is not None


def is_heading(line: str, previous: str, following: str) -> bool:
    """Marked as one, or short, unfinished and standing above something."""
    stripped = line.strip()
    if _MARKED_HEADING.match(line):
        return True
    if not stripped or len(stripped.split()) > _LONGEST_HEADING_WORDS or is_field(line):
        return False
    if is_underline(following) and not bullet(line):
        return True
    if _numbered_heading(line, following):
        return True
    if bullet(line) or _TERMINAL.search(stripped) or "|" in stripped:
        return False
    if section_of(stripped) is not None:
        return True
    capitals = sum(letter.isupper() for letter in stripped)
    if capitals >= 3 and stripped.upper() == stripped and ": " not in stripped:
        return True
    if stripped.endswith(":"):
        return True
    below = bullet(following) is not None or following.lstrip().startswith("|")
    return below and not previous.strip() and ": " not in stripped


def is_title(line: str) -> bool:
    return (
        _TERMINAL.search(line) is None and _STATEMENT.search(line) is None and len(line.split()) <= _LONGEST_TITLE_WORDS
    )


def speakers_of(lines: list[Line], source_type: str, participants: tuple[str, ...]) -> frozenset[str]:
    """Labels that are people talking, and not "Remarks:" or "Total:"."""
    labels: Counter[str] = Counter()
    stamped: set[str] = set()
    for line in lines:
        if (match := _SAID.match(line.text)) and not is_field(line.text):
            labels[match["speaker"]] += 1
            if match["stamp"] or match["after"]:
                stamped.add(match["speaker"])
    speaking = {match["speaker"] for line in lines if (match := _FIRST_PERSON.match(line.text))}
    known = {name.lower() for name in participants} | {name.split()[0].lower() for name in participants if name.split()}
    talk = source_type in ("chat", "transcript")
    return frozenset(
        label
        for label, count in labels.items()
        if label in stamped
        or (label in speaking and is_given_name(label.split()[0]))
        or (talk and label.lower() in known)
        or (section_of(label) is None and _name_like(label) and _may_talk(label, talk, count))
    )


def said_on(line: str, speakers: frozenset[str]) -> Said | None:
    match = _SAID.match(line)
    if match and match["speaker"] in speakers:
        return Said(match["speaker"], match.end())
    if nick := _NICK_SAID.match(line):
        return Said(nick["speaker"], nick.end())
    return None


def speaker_above(line: str) -> str | None:
    """Chat exports that put name and time on a line of their own."""
    match = _SPEAKER_ABOVE.match(line)
    return match["speaker"] if match else None


def neighbours(lines: list[Line]) -> Iterator[tuple[Line, str, str]]:
    """Each line with the text before it and after it."""
    texts = ["", *(line.text for line in lines), ""]
    for position, line in enumerate(lines):
        yield line, texts[position], texts[position + 2]


def _numbered_heading(line: str, following: str) -> bool:
    """ "2. Heating" above its text, and not the second item of a list."""
    if not _NUMBERED.match(line) or _TERMINAL.search(line) or len(line.split()) > 6 or not following.strip():
        return False
    below = bullet(following)
    return below is None or re.match(r"\s*\d+\.\d+", following) is not None


def _may_talk(label: str, talk: bool, count: int) -> bool:
    """In talk one line is enough for whoever is plainly a person; elsewhere two lines make a speaker."""
    person = label.isupper() or is_given_name(label.split()[0]) or (talk and " " in label)
    return person if talk and count == 1 else count >= 2 and (talk or person)


def _name_like(label: str) -> bool:
    words = label.split()
    return len(words) <= 4 and (_NAME_LIKE.fullmatch(label) is not None or label.isupper() or len(words) == 1)
