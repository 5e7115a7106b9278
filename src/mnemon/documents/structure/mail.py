"""Mail, also pasted as text: what its sender wrote, what he quotes of others, and where older mail begins."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mnemon.documents.structure.lines import QUOTED, RULE, Line, block_of
from mnemon.documents.structure.plain_blocks import plain_blocks
from mnemon.documents.structure.structure import Block

# "On Monday, Anna <anna@example.org> wrote:" in the languages that mail programs speak most.
WROTE = re.compile(
    r"\s*(?:On|Am|Le|El|Op|Il|Em|Den|W dniu)\b.{5,300}?\b(?:wrote|writes|schrieb|a écrit|escribió|schreef|ha scritto|"
    r"escreveu|skrev|napisał)\b.{0,80}:\s*$",
    re.DOTALL,
)
SHORT_WROTE = re.compile(r"\s*(?P<name>[^:\n]{2,100}?)\s+(?:wrote|writes|schrieb):\s*$")
WRITER = re.compile(
    r"(?:,|\d|[AP]M|Uhr|um)\s+(?P<name>[^,<>\d\n]{2,60}?)\s*(?:<[^<>]*>|\([^()]*\)|\[[^\[\]]*\])?\s*"
    r"(?:wrote|writes|schrieb|a écrit|escribió|schreef|ha scritto|escreveu|skrev|napisał)"
)
ORIGINAL = re.compile(
    r"\s*-{2,}\s*(?:Original Message|Forwarded Message|Original Appointment|Ursprüngliche Nachricht|"
    r"Weitergeleitete Nachricht|Message d'origine)|\s*Begin forwarded message",
    re.IGNORECASE,
)
OUTLOOK = re.compile(r"\s*\*?(?:From|Von|De|Da|Van)\s*:\*?\s+(?P<name>\S.*)$", re.IGNORECASE)
OUTLOOK_NEXT = re.compile(r"\s*\*?(?:Sent|Date|To|Subject|Gesendet|An|Betreff|Datum|Envoyé|À|Cc):\*?\s")
SIGN_OFF = re.compile(
    r"\s*(?:(?:(?:best|kind|warm|many)\s+)*(?:regards|wishes|cheers|thanks(?: again| a lot)?|thank you"
    r"|sincerely|yours(?: truly| sincerely)?|best|br|rgds|love)"
    r"|(?:mit |mit den )?(?:(?:freundlich|best|herzlich|schön|viel|lieb)e[nr]?\s+)+gr(?:ü|ue)(?:ß|ss)en?"
    r"|hochachtungsvoll|mfg|vg|lg)\s*[,.!]?\s*[\w.]{0,20}\s*",
    re.IGNORECASE,
)
SIGNATURE = re.compile(r"--\s*$")
_AND = re.compile(r"(?:and|then|und|dann)\s+", re.IGNORECASE)
_MARKS = re.compile(r"(?:[ \t]*>)*[ \t]?")
# Lines that an attribution may take.
_TALLEST = 3


def is_attribution(line: str) -> bool:
    """ "On Monday, Anna wrote:"; who wrote what is quoted below."""
    return len(line) < 500 and WROTE.match(line) is not None


def is_sign_off(line: str) -> bool:
    return SIGN_OFF.fullmatch(line) is not None


def is_signature(line: str) -> bool:
    return SIGNATURE.match(line) is not None


def starts_old_mail(lines: list[Line], at: int, thread: bool = False) -> bool:
    """A rule of underscores begins older mail where a sender stands below it; in any other text it is just a rule, and
    in a thread the next mail's."""
    if ORIGINAL.match(lines[at].text):
        return True
    ruled = not thread and RULE.match(lines[at].text) is not None
    return ruled and at + 1 < len(lines) and OUTLOOK.match(lines[at + 1].text) is not None


def is_thread(lines: Sequence[Line]) -> bool:
    """Mails one below the other, each with its own head, the first one at the top."""
    at = next((number for number, line in enumerate(lines) if not line.blank), None)
    return at is not None and at + 1 < len(lines) and _has_mail_head(lines, at)


def opens_next_mail(lines: Sequence[Line], at: int) -> bool:
    """Whether the line, a rule or the sign of a signature, is followed by the head of another mail at once."""
    below = next((number for number in range(at + 1, len(lines)) if not lines[number].blank), None)
    return below is not None and below + 1 < len(lines) and _has_mail_head(lines, below)


def _has_mail_head(lines: Sequence[Line], at: int) -> bool:
    return OUTLOOK.match(lines[at].text) is not None and OUTLOOK_NEXT.match(lines[at + 1].text) is not None


def mail_blocks(lines: list[Line], sender: str | None) -> Iterator[Block]:
    at = begin = 0
    while at < len(lines):
        found = _quote_at(lines, at)
        if not found:
            at += 1
            continue
        until, speaker = found
        yield from _written(lines[begin:at], sender)
        yield from block_of("quote", lines[at:until], speaker=speaker)
        at = begin = until
    yield from _written(lines[begin:], sender)


def _written(lines: list[Line], sender: str | None) -> Iterator[Block]:
    for block in plain_blocks(lines):
        yield replace(block, speaker=sender)


def _quote_at(lines: list[Line], at: int) -> tuple[int, str | None] | None:
    """The line after the quotation that begins here, and whose words it quotes."""
    line = lines[at].text
    if QUOTED.match(line):
        return _after_quoted(lines, at), None
    if ORIGINAL.match(line):
        return len(lines), _outlook_writer(lines, at + 1)
    if _is_outlook_header(lines, at):
        return len(lines), _outlook_writer(lines, at)
    if told := attribution_at([one.text for one in lines[at : at + _TALLEST]]):
        height, writer = told
        first = at + height
        while first < len(lines) and lines[first].blank:
            first += 1
        if first < len(lines) and QUOTED.match(lines[first].text):
            return _after_quoted(lines, first), writer
    return None


def attribution_at(lines: Sequence[str]) -> tuple[int, str | None] | None:
    """ "On Monday, Anna wrote:" at the head of these lines: how many it takes, and whose words come below."""
    for height in range(1, min(_TALLEST, len(lines)) + 1):
        words = "\n".join(lines[:height])
        if len(words) < 500 and (WROTE.match(words) or SHORT_WROTE.match(words)):
            return height, _writer(words)
    return None


def opens_quotation(text: str) -> bool:
    """Whether a passage begins with what it quotes, or by telling whose that is."""
    lines = text.lstrip().split("\n", _TALLEST)[:_TALLEST]
    return lines[0].startswith(">") or attribution_at(lines) is not None


def quoted_depth(line: str) -> tuple[int, str]:
    """How often a line is quoted, and what it says without the marks."""
    marks = _MARKS.match(line)
    assert marks is not None
    return marks[0].count(">"), line[marks.end() :]


def _is_outlook_header(lines: list[Line], at: int) -> bool:
    """`From:` and another header, after a blank line or a drawn one."""
    if at + 1 == len(lines) or not _has_mail_head(lines, at):
        return False
    return at == 0 or not lines[at - 1].text.strip(" \t_-=*>")


def _after_quoted(lines: list[Line], at: int) -> int:
    """After the lines marked as quoted; blank lines between two of them belong to them."""
    until = at + 1
    for number in range(until, len(lines)):
        if QUOTED.match(lines[number].text):
            until = number + 1
        elif not lines[number].blank:
            break
    return until


def _writer(words: str) -> str | None:
    match = WRITER.search(words) or SHORT_WROTE.match(words)
    return _AND.sub("", match["name"].strip(" \"'")) or None if match else None


def _outlook_writer(lines: list[Line], at: int) -> str | None:
    for line in lines[at : at + 4]:
        if match := OUTLOOK.match(line.text):
            return re.sub(r"\s*[<\[(].*$", "", match["name"]).strip(" \"'*") or None
    return None
