"""Takes from a revision's structure what rules read: facts, items and rows, each with its heading and speaker."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from mnemon.documents.structure.headings import heading_title
from mnemon.documents.structure.preamble import Preamble
from mnemon.documents.structure.section_days import said_days
from mnemon.documents.structure.sections import Section, section_of
from mnemon.documents.structure.sentences import Span
from mnemon.documents.structure.structure import Structure, StructurePart
from mnemon.semantics.rules.clauses import split_facts
from mnemon.semantics.rules.deadlines import tells_deadline

_LABEL = re.compile(r"\W*(?P<label>[^\W\d_][^:\n]{0,60}?)\**:\**(?=\s)(?:\s+(?P<value>)(?=\S))?")
# An owner and perhaps a day, and nothing to do.
_WHOSE = re.compile(
    r"[(\[]?(?:owner|responsible|assignee|assigned to|who|due(?: date)?|deadline|wer|verantwortlich\w*|zuständig\w*"
    r"|frist|fällig(?: am)?|bis wann)\s*:\s*[^.:\n]{2,40}"
    r"(?:[,;.]\s*(?:due|by|until|deadline|bis|frist)\b[^.\n]{2,30})?[.)\]]*",
    re.IGNORECASE,
)
UnitForm = Literal["sentence", "item", "row"]


@dataclass(frozen=True)
class Unit:
    """`text` is exactly `[start, end)` of the revision's text."""

    start: int
    end: int
    text: str
    form: UnitForm = "sentence"
    section: Section | None = None
    heading: str = ""
    speaker: str | None = None
    ticked: bool | None = None
    # The first sentence of its item or paragraph: what a heading promises is said there.
    leads: bool = True
    cells: dict[str, str] = field(default_factory=dict)
    # What stands before the colon of its item: "Ada: done with the wall. Starts on the roof." is Ada's throughout.
    label: str = ""
    # Where the text itself says on which day this was said.
    day: date | None = None
    # Its own line names what it is, and not a heading above it: "Risk: if the permit is late, we stop."
    announced: bool = False


@dataclass(frozen=True)
class Layout:
    units: tuple[Unit, ...]
    preamble: Preamble
    # The heading that the text begins with.
    opening: str = ""

    def heading_at(self, position: int) -> str:
        """What stands above this character."""
        place = bisect_right(self.units, position, key=lambda unit: unit.start) - 1
        return self.units[place].heading if place >= 0 else ""


def layout_of(text: str, structure: Structure, today: date | None = None) -> Layout:
    """Older mail below or between the lines is left out: it has a document of its own.

    A day without its year is taken in the year of writing.
    """
    first = structure.parts[0] if structure.parts else None
    opening = (
        heading_title(text[first.start : first.end]).strip("#*_ :")
        if first and first.kind in ("heading", "lead")
        else ""
    )
    days = said_days(structure.parts, today)
    parts = (replace(part, day=day) for part, day in zip(structure.parts, days, strict=True))
    return Layout(tuple(_units(text, parts)), structure.preamble, opening)


def _units(text: str, parts: Iterable[StructurePart]) -> Iterator[Unit]:
    heading, section = "", None
    for part in parts:
        if part.kind in ("heading", "lead"):
            heading = heading_title(text[part.start : part.end]).strip("#*_ :")
            section = section_of(text[part.start : part.end])
        elif part.kind == "row":
            words = text[part.start : part.end]
            yield Unit(
                part.start, part.end, words, "row", section, heading, part.speaker, cells=dict(part.cells), day=part.day
            )
        elif part.kind != "quote":
            yield from _facts(text, part, heading, section)


def _facts(text: str, part: StructurePart, heading: str, section: Section | None) -> Iterator[Unit]:
    form: UnitForm = "item" if part.kind == "item" else "sentence"
    begin, named = part.start, False
    found = _LABEL.match(text, part.start, part.end) if part.kind == "item" else None
    value = part.value
    if found and found["value"] is not None and section is not Section.REFERENCE and section_of(found["label"]):
        # "- Decision: …" is one as "Decision: …" is, but not in a glossary.
        value = found.start("value")
    if value is not None:
        label = text[part.start : value].rstrip("* \t")
        announced = section_of(label.rstrip(".:"))
        # "Remarks:" begins something new, whatever the last heading promised.
        section = announced if announced or label.endswith(":") else section
        begin = value if announced else begin
        named = announced is not None and label.endswith(":")
        form = "item" if named else form
    for count, (start, end) in enumerate(_with_labels(text, split_facts(text, begin, part.end, part.sentences))):
        yield Unit(
            start, end, text[start:end], form, section, heading, part.speaker, part.ticked, count == 0, day=part.day,
            label=found["label"].strip() if found else "", announced=named and count == 0,
        )  # fmt: skip


def _with_labels(text: str, facts: Iterable[Span]) -> Iterator[Span]:
    """ "Rotate the keys. Owner: Ifeoma, due 23 October", "Ada writes the plan. Deadline is 29 May.": what stands behind
    a task and only says whose it is, or until when."""
    held: Span | None = None
    for start, end in facts:
        if held and (_WHOSE.fullmatch(text, start, end) or tells_deadline(text[start:end], text[held[0] : held[1]])):
            held = held[0], end
            continue
        if held:
            yield held
        held = start, end
    if held:
        yield held
