"""The structure of plain minutes and notes: headings, lists, tables, quotes and paragraphs."""

import re
from collections.abc import Iterator

from mnemon.documents.extraction.lines import BULLET, QUOTED, Line, after, block_of
from mnemon.documents.ingest.content import Block, BlockKind

UNDERLINE = re.compile(r"[ \t]*(([=\-~^])\2{2,})[ \t]*$")
NUMBERED = re.compile(r"[ \t]*(\d{1,2}(?:\.\d{1,2}){0,4})[.)]?[ \t]+(?=[^\W\d_])")
LABEL = re.compile(r"[ \t]*[^\W\d_]\w*(?:[ \t&/-]+\w+){0,2}:[ \t]*$")
GREETING = re.compile(r"\s*(?:hi|hello|hey|dear|hallo|liebe|lieber|sehr|bonjour|hola)\b", re.IGNORECASE)
LONGEST_HEADING = 80
# A longer numbered line with text right below it is the first line of that text.
LONGEST_WITH_TEXT = 40
Found = tuple[BlockKind, int, int]


def plain_blocks(lines: list[Line]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        if lines[at].blank:
            at += 1
            continue
        kind, until, level = _heading(lines, at) or _other(lines, at)
        yield from block_of(kind, lines[at:until], level)
        at = until


def _heading(lines: list[Line], at: int) -> Found | None:
    line = lines[at].text
    if len(line.strip()) > LONGEST_HEADING:
        return None
    stands_free = at == 0 or lines[at - 1].blank
    if stands_free and at + 1 < len(lines) and (sign := _underline(line, lines[at + 1].text)):
        return "heading", at + 2, 1 if sign == "=" else 2
    if _in_capitals(line) and (stands_free or lines[at - 1].text.strip()[-1:] in ".!?:;"):
        return "heading", at + 1, 2
    if stands_free and (depth := _numbered_depth(lines, at)):
        return "heading", at + 1, 1 + depth
    if stands_free and LABEL.match(line) and line.strip()[0].isupper() and not GREETING.match(line):
        return "heading", at + 1, 3
    return None


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
    found = NUMBERED.match(line)
    if not found or line.rstrip()[-1] in ".,;:!?" or len(line) > 60:
        return 0
    following = after(lines, at, lambda one: one.blank)
    if following == at + 1 and len(line) > LONGEST_WITH_TEXT:
        return 0
    if following == len(lines) or (BULLET.match(lines[following].text) and NUMBERED.match(lines[following].text)):
        return 0
    return found[1].count(".") + 1


def _other(lines: list[Line], at: int) -> Found:
    line = lines[at]
    if QUOTED.match(line.text):
        return "quote", after(lines, at, lambda one: bool(QUOTED.match(one.text))), 0
    if BULLET.match(line.text):
        return "list", _after_list(lines, at), 0
    if separator := _separator(lines, at):
        return "table", after(lines, at, lambda one: separator in one.text), 0
    return "paragraph", _after_paragraph(lines, at), 0


def _after_list(lines: list[Line], at: int) -> int:
    """Items and the lines that go on with them; one blank line between two items does not end the list."""
    at += 1
    while at < len(lines):
        if lines[at].blank:
            following = lines[at + 1] if at + 1 < len(lines) else lines[at]
            if following.blank or not BULLET.match(following.text) or _heading(lines, at + 1):
                return at
        elif not BULLET.match(lines[at].text) and _heading(lines, at):
            return at
        at += 1
    return at


def _separator(lines: list[Line], at: int) -> str | None:
    """What divides the cells, if this line and the next are rows of a table."""
    for separator in ("\t", "|"):
        count = lines[at].text.count(separator)
        if count and at + 1 < len(lines) and lines[at + 1].text.count(separator) == count:
            return separator
    return None


def _after_paragraph(lines: list[Line], at: int) -> int:
    at += 1
    while at < len(lines) and not lines[at].blank:
        if BULLET.match(lines[at].text) or QUOTED.match(lines[at].text) or _heading(lines, at):
            return at
        at += 1
    return at
