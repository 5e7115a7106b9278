"""What a file becomes: one text, its structure, where it stands on the page, and its chunks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from mnemon.documents.structure.structure import Block


@dataclass(frozen=True, slots=True)
class Glyphs:
    """A run of text on one line of a page, with its rectangle in PDF points from the lower left corner."""

    start: int
    end: int
    left: float
    bottom: float
    right: float
    top: float
    # How far each character reaches to the right, in tenths of a point; empty where only the whole run is known.
    widths: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """`text[start:end]` is what stands on page `number`, counted from 1."""

    number: int
    start: int
    end: int
    width: float
    height: float
    glyphs: Sequence[Glyphs] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment beside the text, kept apart from it; it is about `text[start:end]`."""

    start: int
    end: int
    author: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Details:
    """What a file says about itself. Nothing of it is trusted more than the text."""

    title: str | None = None
    authors: Sequence[str] = ()
    participants: Sequence[str] = ()
    written_at: datetime | None = None
    # That moment is when the file was made, perhaps as a copy of a template: a day in its first lines comes before it.
    dated_by_file: bool = False
    language: str | None = None
    # For example message id, subject, sender and receivers of a mail.
    more: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The canonical text of one revision. The same bytes and the same extractor always give the same."""

    text: str
    blocks: Sequence[Block]
    details: Details
    # The name and version of the code that made it, such as "pdf/1".
    extractor: str
    pages: Sequence[Page] = ()
    remarks: Sequence[Remark] = ()
    # The reading of its parts, as it is stored; empty where nobody has read them.
    structure: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that is searched and quoted: `text[start:end]` of the revision, always exactly."""

    ordinal: int
    start: int
    end: int
    text: str
    headings: Sequence[str]
    tokens: int
    first_page: int | None = None
    last_page: int | None = None
    # Of a turn of a talk: who says it. The day on which it was said, where the text tells.
    speaker: str | None = None
    said_on: date | None = None
