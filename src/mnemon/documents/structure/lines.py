"""The lines of a text, the marks that they begin with, and the blocks found among them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mnemon.documents.structure.structure import Block, BlockKind

_SIGN = r"[-*+•‣◦▪●○–—·]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\(?[A-Z]\)"
BULLET = re.compile(rf"[ \t]*(?:{_SIGN})[ \t]+(?=\S)")
_ITEM = re.compile(rf"\s*(?:{_SIGN}|\d{{1,3}}(?:\.\d{{1,3}})+\.?)\s+(?:\[(?P<box>[ xX✓])\]\s*)?(?=\S)")
_CHECKBOX = re.compile(r"\s*\[(?P<box>[ xX✓])\]\s+(?=\S)")
# A line of a timeline: the time, well apart from what happened then.
_TIMED = re.compile(
    r"\s*\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?(?:UTC|CET|CEST|GMT|[ap]m))?(?:\s{2,}|\t|\s+[-–—]\s+)(?P<box>(?!))?(?=\S)"
)
QUOTED = re.compile(r" {0,3}>")
FENCE = re.compile(r"\s*(?:```|~~~)")
UNDERLINE = re.compile(r"[ \t]*(([=\-~^])\2{2,})[ \t]*$")
# Drawn across the page.
RULE = re.compile(r"\s*_{3,}\s*$")
# Nobody wraps at fewer. Text in longer lines often has a line for each paragraph, and in even longer ones always.
_NARROWEST_WRAPPED, _WIDEST_WRAPPED, _WIDEST = 40, 110, 160
# Lines that somebody wraps by hand are not all as long as the longest.
_RAGGED = 0.85
# One may part a heading from what it stands over.
_FEWEST_BREAKS = 2
_ENDED = re.compile(r"[.!?…;:][\"'”’)\]*_]*$")
_LABELLED = re.compile(r"\s*[^\W\d_][\w ,./'’&()-]{1,30}:\s")
UNFINISHED = re.compile(
    r"(?:[,\-–—&(]|\b(?:and|or|the|a|an|of|to|in|on|for|with|by|that|und|oder|der|die|das|den|dem|ein|eine|von|mit|für"
    r"|zu|im|am|auf|dass))$",
    re.IGNORECASE,
)


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


def item_mark(line: str) -> re.Match[str] | None:
    """What makes a line an item: a bullet, a number, a box to tick, the time in a timeline."""
    return _ITEM.match(line) or _CHECKBOX.match(line) or _TIMED.match(line)


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


def widths_of(lines: Sequence[Line]) -> list[int]:
    """For each line the length of the longest one among those that it stands with, up to the next blank line."""
    widths: list[int] = []
    begin = 0
    for at in range(len(lines) + 1):
        if at == len(lines) or lines[at].blank:
            widest = max((len(line.text.rstrip()) for line in lines[begin:at]), default=0)
            widths += [widest] * (at - begin) + ([0] if at < len(lines) else [])
            begin = at + 1
    return widths


def listed_lines(lines: Sequence[Line], widths: Sequence[int]) -> set[int]:
    """The numbers of lines that stand each for itself, as in notes: most breaks there end no sentence, and the line
    would have had room for more."""
    listed: set[int] = set()
    begin = 0
    for at in range(len(lines) + 1):
        if at == len(lines) or lines[at].blank:
            open_ends = [n for n in range(begin + 1, at) if not _ENDED.search(lines[n - 1].text.rstrip())]
            breaks = sum(_begins_anew(lines, number, widths[number]) for number in open_ends)
            quoted = any(QUOTED.match(line.text) for line in lines[begin:at])
            if breaks >= _FEWEST_BREAKS and 2 * breaks > len(open_ends) and not quoted:
                listed.update(range(begin, at))
            begin = at + 1
    return listed


def _begins_anew(lines: Sequence[Line], at: int, width: int) -> bool:
    return not lines[at].text.lstrip()[:1].islower() and not is_wrapped(lines, at, width)


def is_wrapped(lines: Sequence[Line], at: int, width: int, listed: bool = False) -> bool:
    """Whether a line goes on with the one before it: its first word did not fit there, or that one is unfinished. Of
    lines that stand each for itself one goes on only if it begins small."""
    before, line = lines[at - 1].text.rstrip(), lines[at].text.split(maxsplit=1)
    if not before or not line:
        return False
    if UNFINISHED.search(before):
        return True
    if listed and not line[0][:1].islower():
        return False
    if not _NARROWEST_WRAPPED <= width <= _WIDEST or _LABELLED.match(lines[at].text):
        return False
    if width > _WIDEST_WRAPPED:
        return _is_full(lines, at, width) and before[-1].isalnum() and _goes_on_small(lines, at, width)
    return len(before) + 1 + len(line[0]) > _RAGGED * width


def _is_full(lines: Sequence[Line], at: int, width: int) -> bool:
    """Whether the first word of this line did not fit into the one before it."""
    before, first = lines[at - 1].text.rstrip(), lines[at].text.split(maxsplit=1)[:1]
    return bool(before and first) and len(before) + 1 + len(first[0]) > width


def _goes_on_small(lines: Sequence[Line], at: int, width: int) -> bool:
    """A small letter goes on with a sentence, but not where every line begins so; a capital does below full lines."""
    wrapped_above = at > 1 and _is_full(lines, at - 1, width)
    return wrapped_above or (lines[at].text.lstrip()[:1].islower() and not lines[at - 1].text.lstrip()[:1].islower())
