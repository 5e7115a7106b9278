"""Reads a text into units: sentences, list items and table rows, each with its heading, speaker and place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from mnemon.documents.ingest.sentences import trimmed
from mnemon.semantics.rules import lines as kinds
from mnemon.semantics.rules.lines import Around, Line, neighbours, speakers_of, split_lines
from mnemon.semantics.rules.preamble import Preamble, is_field, read_preamble
from mnemon.semantics.rules.sections import Section, section_of
from mnemon.semantics.rules.sentences import split_sentences
from mnemon.semantics.rules.stamps import day_line, days_come_first, stamped_day
from mnemon.semantics.rules.tables import Row, Table, is_ruler, read_row, table_opening

Form = Literal["sentence", "item", "row"]

_PREAMBLE_LINES = 40
# "The Harbour shall", and then a list of what.
_LEAD_IN = re.compile(r"\b(?:shall|will|must|agrees to|undertakes to)\s*:?\s*$")
_SIGNATURE = re.compile(r"--\s*$")
_RUN_IN = re.compile(r"[A-Z][\w '’#-]{2,40}[.:]\s+(?=\S)")


@dataclass(frozen=True)
class Unit:
    """`text` is exactly `[start, end)` of the revision's text."""

    start: int
    end: int
    text: str
    form: Form = "sentence"
    section: Section | None = None
    heading: str = ""
    speaker: str | None = None
    ticked: bool | None = None
    # The first sentence of its item or paragraph: what a heading promises is said there.
    leads: bool = True
    cells: dict[str, str] = field(default_factory=dict)
    # Where the text itself says on which day this was said.
    day: date | None = None


@dataclass(frozen=True)
class Layout:
    units: tuple[Unit, ...]
    preamble: Preamble


def read_layout(text: str, source_type: str = "doc", participants: tuple[str, ...] = ()) -> Layout:
    """Older mail below or between the lines is left out: it has a document of its own."""
    lines = split_lines(text)
    preamble = read_preamble([line.text for line in lines[:_PREAMBLE_LINES]])
    speakers = speakers_of(lines, source_type, (*participants, *preamble.people))
    return Layout(tuple(_Reader(text, source_type, speakers).read(lines)), preamble)


class _Reader:
    """Goes down the lines and remembers what holds for the next one."""

    def __init__(self, text: str, source_type: str, speakers: frozenset[str]) -> None:
        self.text = text
        self.source_type = source_type
        self.speakers = speakers
        self.heading = ""
        self.section: Section | None = None
        self.speaker: str | None = None
        self.table: Table | None = None
        self.block: tuple[int, int] | None = None
        self.form: Form = "sentence"
        self.ticked: bool | None = None
        self.begun = False
        self.talk = source_type in ("chat", "transcript")
        self.day: date | None = None
        self.day_first = True

    def read(self, lines: list[Line]) -> Iterator[Unit]:
        in_code = False
        self.day_first = days_come_first(kinds.leading_stamp(line.text) for line in lines)
        for around in neighbours(lines):
            line, following = around.line, around.following
            if kinds.is_code_fence(line.text):
                yield from self._flush()
                in_code = not in_code
                continue
            if in_code:
                continue
            signed = self.source_type == "email" and _SIGNATURE.match(line.text)
            if signed or kinds.starts_old_mail(line.text, following):
                break
            yield from self._line(line, around)
            self.begun = self.begun or not line.blank
        yield from self._flush()

    def _line(self, line: Line, around: Around) -> Iterator[Unit]:
        if line.blank:
            yield from self._flush()
            self.table = None
        elif (
            kinds.is_quoted(line.text)
            or kinds.is_sign_off(line.text)
            or is_field(line.text)
            or is_ruler(line.text)
            or kinds.is_underline(line.text)
            or kinds.is_rule(line.text)
        ):
            yield from self._flush()
        elif self.table or table_opening(line.text):
            yield from self._flush()
            yield from self._row(line)
        elif line.text.lstrip().startswith("|"):
            yield from self._flush()
        elif self.section is not Section.ACTIONS and (said := kinds.said_on(line.text, self.speakers)):
            yield from self._flush()
            self.speaker = said.speaker
            self.day = stamped_day(said.stamp, self.day_first) or self.day
            self.block = (line.start + said.begin, line.end)
        elif self.talk and (day := day_line(line.text)):
            yield from self._flush()
            self.day = day
        elif speaker := kinds.speaker_above(line.text, self.speakers):
            yield from self._flush()
            self.speaker = speaker
        elif kinds.is_heading(around, self.talk) or self._is_title(line, around.following):
            yield from self._flush()
            self._enter(line.text)
        else:
            yield from self._words(line)

    def _is_title(self, line: Line, following: str) -> bool:
        """The first line, unfinished, above an empty one and more text."""
        if self.begun or following.strip() or not kinds.is_title(line.text):
            return False
        return bool(self.text[line.end :].strip())

    def _words(self, line: Line) -> Iterator[Unit]:
        match = kinds.bullet(line.text)
        if match:
            yield from self._flush()
            self.form = "item"
            self.ticked = None if match["box"] is None else match["box"] != " "
            self.block = (line.start + match.end(), line.end)
        elif self.block and not self._next_message() and (self.form != "item" or line.text[:1].isspace()):
            self.block = (self.block[0], line.end)
        else:
            yield from self._flush()
            self.block = (line.start, line.end)

    def _next_message(self) -> bool:
        """In a chat who goes on writing sends another message with every line."""
        return self.source_type == "chat" and self.speaker is not None

    def _row(self, line: Line) -> Iterator[Unit]:
        if self.table is None:
            self.table = table_opening(line.text)
            return
        row = read_row(line.text, line.start, self.table)
        if row:
            yield self._unit(row.start, row.end, form="row", row=row)

    def _enter(self, heading: str) -> None:
        self.heading = heading.strip().strip("#*_ :")
        self.section = section_of(heading)
        self.speaker = None

    def _flush(self) -> Iterator[Unit]:
        if self.block and (span := trimmed(self.text, *self.block)):
            start, end = span
            if self.form == "sentence" and _LEAD_IN.search(self.text, start, end):
                self._enter(self.text[start:end])
                self.section = Section.ACTIONS
                self.block = None
                return
            section, form = self.section, self.form
            if self.form == "sentence" and (run_in := _RUN_IN.match(self.text, start, end)):
                announced = section_of(run_in[0].rstrip(" .:\n"))
                # "Remarks:" begins something new, whatever the last heading promised.
                section = announced if announced or run_in[0].rstrip().endswith(":") else section
                start = run_in.end() if announced else start
                form = "item" if announced and ":" in run_in[0] else form
            for count, span in enumerate(split_sentences(self.text, start, end)):
                yield self._unit(*span, form=form, section=section, leads=count == 0)
        self.block, self.form, self.ticked = None, "sentence", None

    def _unit(
        self,
        start: int,
        end: int,
        *,
        form: Form,
        section: Section | None = None,
        row: Row | None = None,
        leads: bool = True,
    ) -> Unit:
        return Unit(
            start,
            end,
            self.text[start:end],
            form,
            self.section if row else section,
            self.heading,
            self.speaker,
            self.ticked,
            leads,
            row.cells if row else {},
            self.day,
        )
