"""The lines of a text that stays as it is, and the blocks found among them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mnemon.documents.ingest.content import Block, BlockKind

BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦▪●○–—·]|\(?\d{1,3}[.)]|\(?[a-zA-Z][)])[ \t]+\S")
QUOTED = re.compile(r" {0,3}>")


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line feed."""

    start: int
    end: int
    text: str

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def lines_of(text: str, start: int = 0) -> list[Line]:
    found = []
    for line in text[start:].split("\n"):
        found.append(Line(start, start + len(line), line))
        start += len(line) + 1
    return found


def block_of(kind: BlockKind, lines: Sequence[Line], level: int = 0, speaker: str | None = None) -> Iterator[Block]:
    """One block over these lines, from the first that is not white space to the last; none if all are blank."""
    full = [line for line in lines if not line.blank]
    if full:
        end = full[-1].start + len(full[-1].text.rstrip())
        yield Block(kind, full[0].start + full[0].indent, end, level, speaker)


def after(lines: list[Line], at: int, belongs: Callable[[Line], bool]) -> int:
    """The number of the first line past `at` that does not belong, or the number of lines."""
    at += 1
    while at < len(lines) and belongs(lines[at]):
        at += 1
    return at
