"""What the reading of a text gives: blocks, which chunks are made along, and within them parts, which are read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from mnemon.documents.structure.preamble import Preamble
from mnemon.documents.structure.sentences import Span

# The kind of text, as its sender says or as its lines look.
TextKind = Literal["email", "doc", "chat", "transcript", "note"]
# A record is a row of a table that names its values itself, "Task: report | Owner: Anna", and stands by itself.
BlockKind = Literal["heading", "paragraph", "list", "table", "quote", "code", "header", "message", "record"]
# A heading opens a section; a lead only announces what stands below it, as "Decisions:" above a list does.
PartKind = Literal["heading", "lead", "paragraph", "item", "row", "quote"]


@dataclass(frozen=True, slots=True)
class Block:
    """`text[start:end]` is one piece of structure. Blocks are in reading order and do not overlap."""

    kind: BlockKind
    start: int
    end: int
    # Of a heading, from 1; 0 for everything else.
    level: int = 0
    # Who said or wrote it, where the source says so: a line of a chat, a message of a mail.
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class StructurePart:
    """`text[start:end]`, without the mark, stamp or name before it. Parts are in order and do not overlap."""

    kind: PartKind
    start: int
    end: int
    sentences: tuple[Span, ...] = ()
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
    people: tuple[str, ...] = ()

    @property
    def talk(self) -> bool:
        return self.kind in ("chat", "transcript")

    @property
    def digest(self) -> str:
        return hashlib.sha256("\n".join((self.kind, *self.people)).encode()).hexdigest()[:16]


NO_HINTS = Hints()


@dataclass(frozen=True, slots=True)
class Structure:
    parts: tuple[StructurePart, ...]
    preamble: Preamble
    # The hints that it was read with, told by their digest: names that the text does not hold are not kept with it.
    read_with: str = NO_HINTS.digest
