"""The blocks of plain minutes and notes: headings, lists, tables, quotes and paragraphs."""

from collections.abc import Iterator

from mnemon.documents.structure.headings import heading_at
from mnemon.documents.structure.lines import BULLET, QUOTED, Line, after, block_of
from mnemon.documents.structure.structure import Block, BlockKind


def plain_blocks(lines: list[Line]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        if lines[at].blank:
            at += 1
        elif heading := heading_at(lines, at):
            until, level = heading
            yield from block_of("heading", lines[at:until], level)
            at = until
        else:
            kind, until = _other(lines, at)
            yield from block_of(kind, lines[at:until])
            at = until


def _other(lines: list[Line], at: int) -> tuple[BlockKind, int]:
    line = lines[at]
    if QUOTED.match(line.text):
        return "quote", after(lines, at, lambda one: bool(QUOTED.match(one.text)))
    if BULLET.match(line.text):
        return "list", _after_list(lines, at)
    if separator := _separator(lines, at):
        return "table", after(lines, at, lambda one: separator in one.text)
    return "paragraph", _after_paragraph(lines, at)


def _after_list(lines: list[Line], at: int) -> int:
    """Items and the lines that go on with them; one blank line between two items does not end the list."""
    at += 1
    while at < len(lines):
        if lines[at].blank:
            following = lines[at + 1] if at + 1 < len(lines) else lines[at]
            if following.blank or not BULLET.match(following.text) or heading_at(lines, at + 1):
                return at
        elif not BULLET.match(lines[at].text) and heading_at(lines, at):
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
        if BULLET.match(lines[at].text) or QUOTED.match(lines[at].text) or heading_at(lines, at):
            return at
        at += 1
    return at
