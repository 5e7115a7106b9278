"""The structure of plain minutes and notes: headings, lists, tables, quotes and paragraphs."""

import re
from collections.abc import Iterator

from mnemon.documents.content import Block, BlockKind
from mnemon.documents.extraction.lines import BULLET, QUOTED, Line, after, block_of

UNDERLINE = re.compile(r"[ \t]*([=\-~*_^])\1{2,}[ \t]*$")
NUMBERED = re.compile(r"[ \t]*(\d{1,2}(?:\.\d{1,2}){0,4})[.)]?[ \t]+(?=[^\W\d_])")
LABEL = re.compile(r"[ \t]*[^\W\d_]\w*(?:[ \t&/-]+\w+){0,2}:[ \t]*$")
LONGEST_HEADING = 80
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
    following = lines[at + 1].text if at + 1 < len(lines) else ""
    if len(line.strip()) > LONGEST_HEADING:
        return None
    if (underline := UNDERLINE.match(following)) and not UNDERLINE.match(line) and not BULLET.match(line):
        return "heading", at + 2, 1 if underline[1] == "=" else 2
    stands_free = at == 0 or lines[at - 1].blank
    if _in_capitals(line) and (stands_free or lines[at - 1].text.strip()[-1:] in ".!?:;"):
        return "heading", at + 1, 2
    if stands_free and _is_numbered_heading(lines, at):
        return "heading", at + 1, 1 + len(NUMBERED.match(line)[1].split("."))  # type: ignore[index]
    if stands_free and LABEL.match(line) and line.strip()[0].isupper():
        return "heading", at + 1, 3
    return None


def _in_capitals(line: str) -> bool:
    words = line.strip().rstrip(":")
    letters = [one for one in words if one.isalpha()]
    cased = [one for one in letters if one.isupper() or one.islower()]
    return (
        len(cased) >= 4
        and all(one.isupper() for one in cased)
        and words[-1] not in ".,;!?"
        and "|" not in words
        and not BULLET.match(line)
    )


def _is_numbered_heading(lines: list[Line], at: int) -> bool:
    """A short numbered line that stands alone: not an item with a sibling below it."""
    line = lines[at].text
    if not NUMBERED.match(line) or line.rstrip()[-1] in ".,;:!?" or len(line) > 60:
        return False
    following = after(lines, at, lambda one: one.blank)
    if following == len(lines):
        return False
    below = lines[following].text
    return not (BULLET.match(below) and NUMBERED.match(below))


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
