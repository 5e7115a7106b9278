"""The one reading of a text: goes down its lines, guided by the blocks that its format marks, and gives its parts."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from mnemon.documents.structure.day_marks import day_marks, with_days
from mnemon.documents.structure.entries import EntryHead, entry_heads
from mnemon.documents.structure.headings import is_lead, is_title
from mnemon.documents.structure.lines import (
    FENCE,
    RULE,
    UNDERLINE,
    Line,
    is_wrapped,
    item_mark,
    lines_of,
    listed_lines,
    widths_of,
)
from mnemon.documents.structure.mail import (
    is_attribution,
    is_sign_off,
    is_signature,
    is_thread,
    opens_next_mail,
    starts_old_mail,
)
from mnemon.documents.structure.name_heads import name_heads
from mnemon.documents.structure.notices import Notice, notices_in
from mnemon.documents.structure.plain_blocks import plain_blocks
from mnemon.documents.structure.preamble import is_field, read_preamble
from mnemon.documents.structure.section_days import in_their_years, section_marks, year_above
from mnemon.documents.structure.sections import Section, is_lead_in, section_of
from mnemon.documents.structure.sentences import sentences, trimmed
from mnemon.documents.structure.stamps import day_line, days_come_first, stamped_day
from mnemon.documents.structure.structure import NO_HINTS, Block, Hints, PartKind, Structure, StructurePart
from mnemon.documents.structure.tables import Table, is_ruler, read_record, read_row, table_opening
from mnemon.documents.structure.talk import SpeakerTurn, speakers_among, stands_alone, talk_blocks, turn_on

_ANGLE = re.compile(r"\s*>[ \t]+(?=[^\s>])")
_STAMP = 40
_RUN_IN = re.compile(r"[A-Z][\w '’#-]{2,40}[.:]\s+(?=\S)")


def read_structure(text: str, blocks: Sequence[Block] | None = None, hints: Hints = NO_HINTS) -> Structure:
    """Deterministic: the same text, blocks and hints give the same parts. Plain text brings no blocks."""
    lines = lines_of(text)
    if blocks is None:
        blocks = talk_blocks(lines) or list(plain_blocks(lines))
    preamble = read_preamble(text[: next((block.start for block in blocks if block.kind == "record"), None)])
    people = (*hints.people, *preamble.people)
    # In the export of a chat every message has its stamp: no other line tells of one.
    heads = (
        {} if any(block.kind == "message" for block in blocks) else entry_heads(_outside_records(lines, blocks), people)
    )
    found = list(_Reader(text, lines, blocks, hints, people, _below_headings(heads, lines, blocks)).read())
    if not hints.talk:
        found = list(with_days(found, day_marks(_outside_records(lines, blocks))))
        found = list(with_days(found, section_marks(text, found, blocks)))
    return Structure(tuple(in_their_years(found, year_above(text, found, blocks))), preamble, hints.digest)


def _below_headings(heads: dict[int, EntryHead], lines: list[Line], blocks: Sequence[Block]) -> dict[int, EntryHead]:
    """Without headings that are a day, where there are several: each opens a section, which ends with the next."""
    titles = [block.start for block in blocks if block.kind == "heading"]

    def opens_section(line: Line) -> bool:
        place = bisect_left(titles, line.start)
        return place < len(titles) and titles[place] < line.end

    bare = (line for line in lines if (head := heads.get(line.start)) and not head.speaker and not head.begin)
    sections = {line.start for line in bare if opens_section(line)}
    return {start: head for start, head in heads.items() if start not in sections or len(sections) == 1}


def _outside_records(lines: list[Line], blocks: Sequence[Block]) -> list[Line]:
    """The names of columns are no speakers, and the day in a row is no day of a log."""
    records = [(block.start, block.end) for block in blocks if block.kind == "record"]
    if not records:
        return lines
    starts = [start for start, _ in records]
    return [
        line for line in lines if (place := bisect_right(starts, line.start) - 1) < 0 or line.start >= records[place][1]
    ]


class _Reader:
    """Remembers what holds for the next line: heading, speaker, day, the paragraph or the table that is open."""

    def __init__(
        self,
        text: str,
        lines: list[Line],
        blocks: Sequence[Block],
        hints: Hints,
        people: Sequence[str],
        heads: dict[int, EntryHead],
    ) -> None:
        self.heads = heads
        self.text, self.lines, self.blocks, self.hints = text, lines, blocks, hints
        self.notices = notices_in(_outside_records(lines, blocks))
        self.turns = {line.start: turn for line in _outside_records(lines, blocks) if (turn := self._turn(line))}
        talking = self.turns.keys() - {start for start, notice in self.notices.items() if notice.sender is None}
        turns = [(line, self.turns[line.start]) for line in lines if line.start in talking]
        self.speakers = speakers_among(turns, text, hints.talk, people)
        self.day_first = days_come_first(turn.stamp for _, turn in turns)
        self.widths = widths_of(lines)
        self.listed = listed_lines(lines, self.widths)
        self.names = name_heads(lines, people) if not turns else {}
        # Whose items these are ends with them.
        self.of_items = False
        self.section: Section | None = None
        self.speaker: str | None = None
        self.day: date | None = None
        self.table: Table | None = None
        self.open: StructurePart | None = None
        self.begun = False
        self.thread = hints.kind == "email" and is_thread(lines)
        # Nothing but items has come since the last heading.
        self.announced = False

    def read(self) -> Iterator[StructurePart]:
        in_code, place = False, 0
        for number, line in enumerate(self.lines):
            while place < len(self.blocks) and self.blocks[place].end <= line.start:
                place += 1
            block = self.blocks[place] if place < len(self.blocks) and self.blocks[place].start < line.end else None
            if line.blank:
                yield from self._close()
                self.table = None
                continue
            if block and block.kind == "record":
                yield from self._close()
                row = read_record(line.text, line.start)
                yield StructurePart("row", row.start, row.end, cells=row.cells)
            elif FENCE.match(line.text):
                in_code = not in_code
                yield from self._close()
            elif in_code or (block and block.kind in ("code", "header")):
                yield from self._close()
            elif self.hints.kind == "email" and is_signature(line.text):
                yield from self._close()
                if not (self.thread and opens_next_mail(self.lines, number)):
                    return
            elif starts_old_mail(self.lines, number, self.thread):
                yield from self._close()
                yield from self._old_mail(line.start)
                return
            else:
                yield from self._line(number, line, block)
            self.begun = True
        yield from self._close()

    def _line(self, number: int, line: Line, block: Block | None) -> Iterator[StructurePart]:
        words = line.text
        if notice := self.notices.get(line.start):
            yield from self._notice(line, notice)
        elif self._is_quoted(line) or is_attribution(words) or self._is_quoted_mail(block):
            yield from self._quote(line)
        elif block and block.kind == "message" and block.start >= line.start and line.start not in self.turns:
            yield from self._close()
            # A name that no rule knows, such as a number: the format has marked whose it is.
            self.speaker, self.day = block.speaker, stamped_day(words[:_STAMP], self.day_first) or self.day
            self.open = StructurePart("paragraph", line.start, line.end)
        elif self.hints.talk and (day := day_line(words, stands_alone(self.lines, number))):
            yield from self._close()
            self.day = day
        elif is_sign_off(words) or is_field(words) or is_ruler(words) or UNDERLINE.match(words) or RULE.match(words):
            yield from self._close()
        elif self.table or table_opening(words):
            yield from self._close()
            yield from self._row(line)
        elif words.lstrip().startswith("|"):
            yield from self._close()
        elif (turn := self.turns.get(line.start)) and self._speaks(turn, line, block):
            yield from self._close()
            self.speaker = turn.speaker
            self.day = stamped_day(turn.stamp, self.day_first) or self.day
            if turn.begin < len(words):
                self.open = StructurePart("paragraph", line.start + turn.begin, line.end)
        elif (head := self.heads.get(line.start)) and self.begun:
            yield from self._entry(line, head)
        elif name := self.names.get(line.start):
            yield from self._close()
            self.speaker, self.section, self.of_items = name, None, True
        elif self._heads(number, block):
            yield from self._close()
            yield from self._enter("heading" if block and block.kind == "heading" else "lead", line.start, line.end)
        else:
            yield from self._words(number, line)

    def _notice(self, line: Line, notice: Notice) -> Iterator[StructurePart]:
        """Nobody's words: they are no part of the text."""
        yield from self._close()
        self.speaker, self.day = notice.sender, stamped_day(line.text[:_STAMP], self.day_first) or self.day

    def _entry(self, line: Line, head: EntryHead) -> Iterator[StructurePart]:
        """The day of a log, or a comment: what follows was said then, and by whom, until the next one."""
        yield from self._close()
        self.day, self.speaker = head.day, head.speaker
        if head.begin:
            self.open = StructurePart("item", line.start + head.begin, line.end)

    def _turn(self, line: Line) -> SpeakerTurn | None:
        """Tickets set the sign of a quotation before each comment."""
        marked = _ANGLE.match(line.text) if self.hints.kind != "email" else None
        if marked is None:
            return turn_on(line.text)
        turn = turn_on(line.text[marked.end() :])
        return replace(turn, begin=turn.begin + marked.end()) if turn and turn.sure else None

    def _is_quoted(self, line: Line) -> bool:
        """In mail always; elsewhere neither a comment with its stamp nor what a heading announces."""
        if not line.text.lstrip().startswith(">"):
            return False
        return self.hints.kind == "email" or not (
            line.start in self.turns or (self.announced and _ANGLE.match(line.text))
        )

    def _is_quoted_mail(self, block: Block | None) -> bool:
        return block is not None and block.kind == "quote" and self.hints.kind == "email"

    def _speaks(self, turn: SpeakerTurn, line: Line, block: Block | None) -> bool:
        if block and block.kind == "message" and block.start >= line.start:
            return True
        if turn.begin >= len(line.text):
            return turn.sure or (bool(turn.stamp) and turn.speaker in self.speakers)
        # Below "Actions", who is named before a colon does what follows.
        return turn.speaker in self.speakers and self.section is not Section.ACTIONS

    def _heads(self, number: int, block: Block | None) -> bool:
        if block and block.kind == "heading":
            return True
        lines = self.lines
        return is_lead(lines, number, self.hints.talk) or (not self.begun and is_title(lines, number))

    def _goes_on(self, number: int, line: Line, opened: StructurePart) -> bool:
        """Whether the line only goes on because the one before it was full."""
        if opened.kind == "quote" or (opened.kind == "item" and not line.text[:1].isspace()):
            return False
        return is_wrapped(self.lines, number, self.widths[number], number in self.listed)

    def _words(self, number: int, line: Line) -> Iterator[StructurePart]:
        opened, listed = self.open, _ANGLE.match(line.text)
        mark = item_mark(line.text) or listed
        self.announced = self.announced and mark is not None
        if listed:
            yield from self._close()
            self.open = StructurePart("item", line.start + listed.end(), line.end)
        elif mark:
            yield from self._close()
            ticked = None if mark["box"] is None else mark["box"] != " "
            self.open = StructurePart("item", line.start + mark.end(), line.end, ticked=ticked)
        elif opened and not self._next_message() and self._goes_on(number, line, opened):
            self.open = replace(opened, end=line.end)
        else:
            yield from self._close()
            self.speaker, self.of_items = (None if self.of_items else self.speaker), False
            self.open = StructurePart("paragraph", line.start, line.end)

    def _next_message(self) -> bool:
        """In a chat who goes on writing sends another message with every line."""
        return self.hints.kind == "chat" and self.speaker is not None

    def _row(self, line: Line) -> Iterator[StructurePart]:
        if self.table is None:
            self.table = table_opening(line.text)
        elif row := read_row(line.text, line.start, self.table):
            yield StructurePart("row", row.start, row.end, (), self.speaker, self.day, cells=row.cells)

    def _quote(self, line: Line) -> Iterator[StructurePart]:
        if self.open and self.open.kind == "quote":
            self.open = replace(self.open, end=line.end)
            return
        yield from self._close()
        self.open = StructurePart("quote", line.start, line.end)

    def _old_mail(self, start: int) -> Iterator[StructurePart]:
        if span := trimmed(self.text, start, len(self.text)):
            yield StructurePart("quote", *span, tuple(sentences(self.text, *span)))

    def _enter(self, kind: PartKind, start: int, end: int) -> Iterator[StructurePart]:
        if span := trimmed(self.text, start, end):
            self.section = section_of(self.text[span[0] : span[1]])
            self.speaker, self.announced = None, True
            yield StructurePart(kind, *span)

    def _close(self) -> Iterator[StructurePart]:
        opened, self.open = self.open, None
        if opened is None or (span := trimmed(self.text, opened.start, opened.end)) is None:
            return
        start, end = span
        if opened.kind == "paragraph" and is_lead_in(self.text, start, end):
            yield from self._enter("lead", start, end)
            return
        value = _RUN_IN.match(self.text, start, end) if opened.kind == "paragraph" else None
        parted = tuple(sentences(self.text, start, end))
        yield replace(
            opened, start=start, end=end, sentences=parted, speaker=self.speaker, day=self.day,
            value=value.end() if value else None,
        )  # fmt: skip
