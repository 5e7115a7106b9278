"""Tells what kind of line a line is: heading, bullet, table row, somebody's words, older mail."""

import re
from collections import Counter
from dataclasses import dataclass

from mnemon.semantics.rules.people import UPPER, is_given_name
from mnemon.semantics.rules.preamble import is_field
from mnemon.semantics.rules.sections import section_of

_LINE = re.compile(r"[^\r\n\f]*(?:\r\n|\n|\r|\f|$)")
_BULLET = re.compile(
    r"\s*(?:[-*•‣▪◦+–—]|\(?\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3})+\.?"
    r"|\(?[a-z][.)])\s+(?:\[(?P<box>[ xX✓])\]\s*)?(?=\S)"
)
# A line of a timeline: the time, well apart from what happened then.
_TIMED = re.compile(
    r"\s*\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?(?:UTC|CET|CEST|GMT|[ap]m))?(?:\s{2,}|\t|\s+[-–—]\s+)(?P<box>(?!))?(?=\S)"
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
_NICK_SAID = re.compile(rf"\s*(?P<stamp>{_STAMP})?<(?P<speaker>[\w.-]{{1,30}})>\s+(?=\S)")
_LEADING_STAMP = re.compile(rf"\s*{_STAMP}")
_WHOLE_NAME = rf"(?P<speaker>[{UPPER}][\w.’'-]*(?: [{UPPER}][\w.’'-]*){{0,3}})"
_SPEAKER_ABOVE = re.compile(rf"\s*{_WHOLE_NAME}\s+(?:\[|\()?(?:\S+,?\s+)?{_CLOCK}(?:\]|\))?\s*$")
_SPEAKER_AFTER_CLOCK = re.compile(rf"\s*[\[(]?{_CLOCK}(?:[.,]\d{{3}})?[\])]?(?:\s+[-–])?\s+{_WHOLE_NAME}\s*:?\s*$")
_NAME_LIKE = re.compile(
    rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[{UPPER}@][\w.’'-]*(?: (?:[{UPPER}][\w.’'-]*|de|van|von|der|bin|al))*"
)
# "12/26 Playground", "3.1 Costs", "§ 4 Fees".
_ITEM_NUMBER = re.compile(r"^(?:§\s*)?\d{1,3}(?:[./]\d{1,4})*[.):]?\s+")
_LEADING_NUMBER = re.compile(r"\s*(\d{1,2})[.)]?\s")
_NUMBERED_TITLE = re.compile(rf"\s*(?P<number>\d{{1,2}})(?:\.\d{{1,2}})*[.)]?\s+[{UPPER}]")
_LONGEST_HEADING_WORDS = 8
_LONGEST_NUMBERED_TITLE_WORDS = 6
_LONGEST_BARE_HEADING_WORDS = 4
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
    stamp: str = ""


@dataclass(frozen=True)
class Around:
    """A line, the lines before and after it, and the nearest ones above and below that are not blank."""

    line: Line
    previous: str
    following: str
    above: str = ""
    below: str = ""


def split_lines(text: str) -> list[Line]:
    lines = []
    for match in _LINE.finditer(text):
        body = match[0].rstrip("\r\n\f")
        lines.append(Line(match.start(), match.start() + len(body), body))
    return lines


def bullet(line: str) -> re.Match[str] | None:
    return _BULLET.match(line) or _CHECKBOX.match(line) or _TIMED.match(line)


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


def is_heading(around: Around, talk: bool) -> bool:
    """Marked as one, or short, unfinished and standing above something. In talk a few bare words are an answer."""
    line, previous, following = around.line.text, around.previous, around.following
    stripped = line.strip()
    if _MARKED_HEADING.match(line):
        return True
    if not stripped or len(stripped.split()) > _LONGEST_HEADING_WORDS or is_field(line):
        return False
    if is_underline(following) and not bullet(line):
        return True
    if _numbered_heading(line, following) or _numbered_title(around):
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
    if previous.strip() or ": " in stripped:
        return False
    return (
        bullet(following) is not None
        or following.lstrip().startswith("|")
        or (not talk and _stands_above(stripped, following))
    )


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
        elif match := _SPEAKER_AFTER_CLOCK.match(line.text):
            labels[match["speaker"]] += 1
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
        return Said(match["speaker"], match.end(), match["stamp"] or "")
    if nick := _NICK_SAID.match(line):
        return Said(nick["speaker"], nick.end(), nick["stamp"] or "")
    return None


def speaker_above(line: str, speakers: frozenset[str]) -> str | None:
    """Exports that put name and time on a line of their own. "12:30 Lunch" is no speaker unless known for one."""
    if match := _SPEAKER_ABOVE.match(line):
        return match["speaker"]
    match = _SPEAKER_AFTER_CLOCK.match(line)
    return match["speaker"] if match and match["speaker"] in speakers else None


def leading_stamp(line: str) -> str:
    match = _LEADING_STAMP.match(line)
    return match[0] if match else ""


def neighbours(lines: list[Line]) -> list[Around]:
    texts = ["", *(line.text for line in lines), ""]
    below = ""
    nearest_below = []
    for text in reversed(texts[2:]):
        below = text if text.strip() else below
        nearest_below.append(below)
    above, found = "", []
    for position, line in enumerate(lines):
        previous = texts[position]
        above = previous if previous.strip() else above
        found.append(Around(line, previous, texts[position + 2], above, nearest_below[-1 - position]))
    return found


def _numbered_heading(line: str, following: str) -> bool:
    """ "2. Heating" above its text, and not the second item of a list."""
    if not _NUMBERED.match(line) or _TERMINAL.search(line) or len(line.split()) > 6 or not following.strip():
        return False
    below = bullet(following)
    return below is None or re.match(r"\s*\d+\.\d+", following) is not None


def _numbered_title(around: Around) -> bool:
    """ "4. Open questions" between blank lines: no item of a list, since neither 3 nor 5 is its neighbour."""
    line = around.line.text
    match = _NUMBERED_TITLE.match(line)
    if match is None or around.previous.strip() or around.following.strip() or not around.below:
        return False
    if _STATEMENT.search(line) or _TERMINAL.search(line) or ": " in line:
        return False
    beside = {int(item[1]) for text in (around.above, around.below) if (item := _LEADING_NUMBER.match(text))}
    number = int(match["number"])
    listed = bool(beside & {number - 1, number + 1}) and section_of(line) is None
    return not listed and len(line.split()) <= _LONGEST_NUMBERED_TITLE_WORDS


def _stands_above(line: str, following: str) -> bool:
    """A few words without a verb, the first with a capital, above a longer line that begins anew."""
    begins = following.lstrip()[:1]
    return (
        (begins.isupper() or begins.isdigit())
        and _ITEM_NUMBER.sub("", line)[:1].isupper()
        and len(line.split()) <= _LONGEST_BARE_HEADING_WORDS
        and len(following.split()) > len(line.split())
        and _STATEMENT.search(line) is None
    )


def _may_talk(label: str, talk: bool, count: int) -> bool:
    """In talk one line is enough for whoever is plainly a person; elsewhere two lines make a speaker."""
    person = label.isupper() or is_given_name(label.split()[0]) or (talk and " " in label)
    return person if talk and count == 1 else count >= 2 and (talk or person)


def _name_like(label: str) -> bool:
    words = label.split()
    return len(words) <= 4 and (_NAME_LIKE.fullmatch(label) is not None or label.isupper() or len(words) == 1)
