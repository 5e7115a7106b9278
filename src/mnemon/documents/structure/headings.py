"""Tells which lines head what stands below them: headings, which open a section, and leads, which only announce."""

import re

from mnemon.documents.structure.lines import BULLET, UNDERLINE, Line, after, item_mark
from mnemon.documents.structure.names import UPPER
from mnemon.documents.structure.preamble import is_field
from mnemon.documents.structure.sections import section_of

_NUMBERED = re.compile(r"[ \t]*(?:§[ \t]*)?(\d{1,2}(?:\.\d{1,2}){0,4})[.)]?[ \t]+(?=[^\W\d_])")
_LABEL = re.compile(r"[ \t]*[^\W\d_]\w*(?:[ \t&/-]+\w+){0,2}:[ \t]*$")
_GREETING = re.compile(r"\s*(?:hi|hello|hey|dear|hallo|liebe|lieber|sehr|bonjour|hola)\b", re.IGNORECASE)
# "## Costs", "**Costs**", "== Costs ==".
_MARKED = re.compile(r"\s{0,3}#{1,6}\s+\S|\s*(\*\*|__)[^*_]{2,60}\1:?\s*$|\s*(={2,5})\s*[^=\s][^=]{0,76}?\s*\2\s*$")
_CAPITALISED_NUMBER = re.compile(r"\s*\d{1,2}[.)]?\s+[A-Z]")
_NUMBERED_TITLE = re.compile(rf"\s*(?P<number>\d{{1,2}})(?:\.\d{{1,2}})*[.)]?\s+[{UPPER}]")
_LEADING_NUMBER = re.compile(r"\s*(\d{1,2})[.)]?\s")
# "12/26 Playground", "3.1 Costs", "§ 4 Fees".
_ITEM_NUMBER = re.compile(r"^(?:§\s*)?\d{1,3}(?:[./]\d{1,4})*[.):]?\s+")
_TERMINAL = re.compile(r"[.!?;,]\s*$")
_STATEMENT = re.compile(
    r"\b(?:I|we|will|shall|decided|agreed|please|is|are|was|were)\b|'ll\b|^\s*(?:decision|action)\s*:", re.IGNORECASE
)
_LONGEST = 80
# A longer numbered line with text right below it is the first line of that text.
_LONGEST_WITH_TEXT = 40
_MOST_LEAD_WORDS, _MOST_NUMBERED_WORDS, _MOST_BARE_WORDS, _MOST_TITLE_WORDS = 8, 6, 4, 16

_TITLE_UNDERLINE = re.compile(r"[ \t]*[=\-~_*#^]{3,}[ \t]*")
_HASHES = re.compile(r"^#{1,6}(?:\s+|$)|\s+#+$|^={2,5}\s*(?=[^=\s])|(?<=[^=\s])\s*={2,5}$")
_MARKUP = re.compile(r"[*_`~]+|\[([^\]]*)\]\([^)]*\)")
_LONGEST_TITLE = 1_000


def heading_title(raw: str) -> str:
    """The words of a heading, without the marks that make it one."""
    lines = raw[:_LONGEST_TITLE].strip().split("\n")
    if len(lines) > 1 and _TITLE_UNDERLINE.fullmatch(lines[-1]):
        lines.pop()
    plain = " ".join(" ".join(lines).split())
    words = _HASHES.sub("", plain)
    return _MARKUP.sub(lambda found: found[1] or "", words).strip().rstrip(":") or plain


def heading_at(lines: list[Line], at: int) -> tuple[int, int] | None:
    """The line after a heading that begins here, and its level. Only what any reader takes for a heading."""
    line = lines[at].text
    if len(line.strip()) > _LONGEST:
        return None
    stands_free = at == 0 or lines[at - 1].blank
    if stands_free and at + 1 < len(lines) and (sign := _underline(line, lines[at + 1].text)):
        return at + 2, 1 if sign == "=" else 2
    if _in_capitals(line) and (stands_free or lines[at - 1].text.strip()[-1:] in ".!?:;"):
        return at + 1, 2
    if stands_free and (depth := _numbered_depth(lines, at)):
        return at + 1, 1 + depth
    if stands_free and _LABEL.match(line) and line.strip()[0].isupper() and not _GREETING.match(line):
        return at + 1, 3
    return None


def is_lead(lines: list[Line], at: int, talk: bool) -> bool:
    """Marked, or short, unfinished and standing above something. In talk a few bare words are an answer."""
    line, previous, following = lines[at].text, _text(lines, at - 1), _text(lines, at + 1)
    if _MARKED.match(line):
        return True
    stripped = line.strip()
    if len(line) > 500 or len(stripped.split()) > _MOST_LEAD_WORDS or is_field(line):
        return False
    if UNDERLINE.match(following) and not item_mark(line):
        return True
    if _heads_a_number(line, following) or _is_numbered_title(lines, at):
        return True
    if item_mark(line) or _TERMINAL.search(stripped) or "|" in stripped:
        return False
    if section_of(stripped) is not None or stripped.endswith(":"):
        return True
    capitals = sum(letter.isupper() for letter in stripped)
    if capitals >= 3 and stripped.upper() == stripped and ": " not in stripped:
        return True
    if previous.strip() or ": " in stripped:
        return False
    return (
        item_mark(following) is not None
        or following.lstrip().startswith(("|", "> "))
        or (not talk and _stands_above(stripped, following))
    )


def is_title(lines: list[Line], at: int) -> bool:
    """The first line, unfinished, above an empty one and more text."""
    line = lines[at].text
    if at + 1 >= len(lines) or not lines[at + 1].blank or after(lines, at, lambda one: one.blank) == len(lines):
        return False
    return not _TERMINAL.search(line) and not _STATEMENT.search(line) and len(line.split()) <= _MOST_TITLE_WORDS


def _text(lines: list[Line], at: int) -> str:
    return lines[at].text if 0 <= at < len(lines) else ""


def _underline(line: str, following: str) -> str | None:
    """The sign that the next line underlines this one with, about as long as it is."""
    found = UNDERLINE.match(following)
    if not found or UNDERLINE.match(line) or BULLET.match(line) or line.rstrip()[-1] in ".,;":
        return None
    return found[2] if len(line.strip()) <= 2 * len(found[1]) and len(found[1]) <= 2 * len(line.strip()) + 4 else None


def _in_capitals(line: str) -> bool:
    words = line.strip().rstrip(":")
    return (
        words.isupper()
        and sum(one.isupper() for one in words) >= 4
        and words[0].isalnum()
        and words[-1] not in ".,;!?"
        and "|" not in words
        and not BULLET.match(line)
    )


def _numbered_depth(lines: list[Line], at: int) -> int:
    """How deep a short numbered line that stands alone is numbered; 0 for an item with a sibling below it."""
    line = lines[at].text
    found = _NUMBERED.match(line)
    if not found or line.rstrip()[-1] in ".,;:!?" or len(line) > 60:
        return 0
    # "§ 12 applies" may begin a line of running text.
    if line.lstrip().startswith("§") and at and not lines[at - 1].blank:
        return 0
    following = after(lines, at, lambda one: one.blank)
    if following == at + 1 and len(line) > _LONGEST_WITH_TEXT:
        return 0
    if following == len(lines) or (BULLET.match(lines[following].text) and _NUMBERED.match(lines[following].text)):
        return 0
    return 0 if _goes_on(lines, at, found[1]) else found[1].count(".") + 1


def _goes_on(lines: list[Line], at: int, number: str) -> bool:
    """Whether the line above, blank ones aside, has the number before: then both are items of a loose list."""
    before = _LEADING_NUMBER.match(_text(lines, _above(lines, at)))
    return before is not None and number.isdigit() and int(before[1]) == int(number) - 1


def _above(lines: list[Line], at: int) -> int:
    at -= 1
    while at > 0 and lines[at].blank:
        at -= 1
    return at


def _heads_a_number(line: str, following: str) -> bool:
    """ "2. Heating" above its text, and not the second item of a list."""
    if not _CAPITALISED_NUMBER.match(line) or _TERMINAL.search(line) or not following.strip():
        return False
    below = item_mark(following)
    is_item = below is not None and re.match(r"\s*\d+\.\d+", following) is None
    return len(line.split()) <= _MOST_NUMBERED_WORDS and not is_item


def _is_numbered_title(lines: list[Line], at: int) -> bool:
    """ "4. Open questions" between blank lines: no item of a list, since neither 3 nor 5 is its neighbour."""
    line = lines[at].text
    match = _NUMBERED_TITLE.match(line)
    if match is None or _text(lines, at - 1).strip() or _text(lines, at + 1).strip():
        return False
    below = after(lines, at, lambda one: one.blank)
    if below == len(lines) or _STATEMENT.search(line) or _TERMINAL.search(line) or ": " in line:
        return False
    beside = {int(item[1]) for one in (_above(lines, at), below) if (item := _LEADING_NUMBER.match(_text(lines, one)))}
    number = int(match["number"])
    listed = bool(beside & {number - 1, number + 1}) and section_of(line) is None
    return not listed and len(line.split()) <= _MOST_NUMBERED_WORDS


def _stands_above(line: str, following: str) -> bool:
    """A few words without a verb, the first with a capital, above a longer line that begins anew."""
    begins = following.lstrip()[:1]
    return (
        (begins.isupper() or begins.isdigit())
        and _ITEM_NUMBER.sub("", line)[:1].isupper()
        and len(line.split()) <= _MOST_BARE_WORDS
        and len(following.split()) > len(line.split())
        and _STATEMENT.search(line) is None
    )
