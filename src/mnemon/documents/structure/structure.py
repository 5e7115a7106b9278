"""What the reading of a text gives: its parts in reading order, each with what holds for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from mnemon.documents.structure.preamble import Preamble
from mnemon.documents.structure.sentences import Span

# The kind of text, as its sender says or as its lines look.
TextKind = Literal["email", "doc", "chat", "transcript", "note"]
# A heading opens a section; a lead only announces what stands below it, as "Decisions:" above a list does.
PartKind = Literal["heading", "lead", "paragraph", "item", "row", "quote"]


@dataclass(frozen=True, slots=True)
class Part:
    """`text[start:end]`, without the mark, stamp or name before it. Parts are in order and do not overlap."""

    kind: PartKind
    start: int
    end: int
    sentences: Sequence[Span] = ()
    # Who says it, and on which day, where the text tells.
    speaker: str | None = None
    day: date | None = None
    # Whether the box beside an item is ticked; None without a box.
    ticked: bool | None = None
    # Where the value begins, of "Remarks: none so far."
    value: int | None = None
    # Of a table's row: what stands below each heading.
    cells: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of a text before it is read; the same text may be read otherwise as a chat than as a note."""

    kind: TextKind = "doc"
    people: Sequence[str] = ()

    @property
    def talk(self) -> bool:
        return self.kind in ("chat", "transcript")


NO_HINTS = Hints()


@dataclass(frozen=True, slots=True)
class Structure:
    parts: Sequence[Part]
    preamble: Preamble
    hints: Hints = NO_HINTS
