"""Turns of talk, in whatever file it stands: where each begins and ends, who speaks, and on which day."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

from mnemon.documents.structure.stamps import day_line
from mnemon.documents.structure.structure import Block, Structure, StructurePart
from mnemon.documents.structure.talk import turn_on

# Where at least every second part of a text is somebody's turn, what follows a turn without a name goes on with it.
MOSTLY = 2
_LONGEST_LABEL = 200
# What shares a passage with nothing else.
ALONE = ("message", "record")


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """`text[start:end]`, the name before it included."""

    start: int
    end: int
    speaker: str
    day: date | None


@dataclass(frozen=True, slots=True)
class SpokenBlock:
    """A block, and which turn it belongs to: the place where that begins; None for what nobody says."""

    block: Block
    turn: int | None = None
    day: date | None = None


def spoken_blocks(text: str, blocks: Sequence[Block], structure: Structure) -> Iterator[SpokenBlock]:
    """The blocks, parted where a turn begins or ends within one. Messages, which are turns already, get their day, and
    records stand by themselves as turns do."""
    days = [(part.start, part.day) for part in structure.parts]
    turns = turns_of(text, structure) if any(block.kind not in ALONE for block in blocks) else []
    place = 0
    for block in blocks:
        if block.kind in ALONE:
            yield SpokenBlock(block, block.start, _day_within(days, block))
            continue
        while place < len(turns) and turns[place].end <= block.start:
            place += 1
        if block.kind in ("heading", "table", "code", "header"):
            yield SpokenBlock(block)
        else:
            yield from _parted(text, block, islice(turns, place, None))


def turns_of(text: str, structure: Structure) -> list[SpokenTurn]:
    """Each line that names its speaker begins a turn. In order."""
    starts = [_labelled(text, part) for part in structure.parts]
    mostly = sum(start is not None for start in starts) * MOSTLY >= len(starts)
    turns: list[SpokenTurn] = []
    for start, part in zip(starts, structure.parts, strict=True):
        if start is not None and part.speaker:
            turns.append(SpokenTurn(start, part.end, part.speaker, part.day))
        elif mostly and turns and part.speaker == turns[-1].speaker and part.kind in ("paragraph", "item"):
            turns[-1] = replace(turns[-1], end=part.end)
    return turns


def day_of_headings(headings: Sequence[str]) -> date | None:
    """The day that the nearest heading names, as those of a session do."""
    return next((day for heading in reversed(headings) if (day := day_line(heading))), None)


def _labelled(text: str, part: StructurePart) -> int | None:
    """Where the line begins that names the part's speaker: its own, or the one above it that has nothing else."""
    if part.speaker is None or part.kind != "paragraph":
        return None
    start = text.rfind("\n", 0, part.start) + 1
    if text[start : part.start].strip():
        return start if _names(text[start : part.end], part.speaker) else None
    above_end = len(text[max(0, start - _LONGEST_LABEL) : start].rstrip()) + max(0, start - _LONGEST_LABEL)
    above = text.rfind("\n", 0, above_end) + 1
    turn = turn_on(text[above:above_end])
    return above if turn and turn.speaker == part.speaker and above + turn.begin >= above_end else None


def _names(line: str, speaker: str) -> bool:
    turn = turn_on(line.split("\n", 1)[0])
    return turn is not None and turn.speaker == speaker


def _parted(text: str, block: Block, turns: Iterable[SpokenTurn]) -> Iterator[SpokenBlock]:
    at = block.start
    for turn in turns:
        if turn.start >= block.end:
            break
        begin, end = max(turn.start, at), min(turn.end, block.end)
        yield from _rest(text, block, at, begin)
        if begin < end and not text[begin:end].isspace():
            yield SpokenBlock(
                replace(block, kind="message", start=begin, end=end, speaker=turn.speaker), turn.start, turn.day
            )
        at = max(at, end)
    yield from _rest(text, block, at, block.end)


def _rest(text: str, block: Block, start: int, end: int) -> Iterator[SpokenBlock]:
    if start < end and not text[start:end].isspace():
        yield SpokenBlock(replace(block, start=start, end=end))


def _day_within(days: Sequence[tuple[int, date | None]], block: Block) -> date | None:
    place = bisect_left(days, block.start, key=lambda one: one[0])
    return days[place][1] if place < len(days) and days[place][0] < block.end else None
