"""An extraction with its parts read. Imported by the subprocess that reads files, so it imports little."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from mnemon.documents.ingest.content import Extraction
from mnemon.documents.structure.reading import read_structure
from mnemon.documents.structure.stored import dump_structure
from mnemon.documents.structure.structure import Block, Hints, TextKind

LONGEST, MOST = 500, 50


def with_structure(extraction: Extraction, told: str | None = None) -> Extraction:
    """Read as the kind of text that its sender tells of, or that it looks like."""
    hints = Hints(text_kind(extraction.blocks, told), tuple(participants_of(extraction)))
    return replace(extraction, structure=dump_structure(read_structure(extraction.text, extraction.blocks, hints)))


def text_kind(blocks: Sequence[Block], told: str | None) -> TextKind:
    """What the sender said; else what the lines look like."""
    kind: TextKind | None = next((kind for kind in get_args(TextKind) if kind == told), None)
    return kind or ("chat" if any(block.kind == "message" for block in blocks) else "doc")


def participants_of(extraction: Extraction) -> list[str]:
    """As many of them as are worth keeping, as they are recorded."""
    return [cut(name) for name in extraction.details.participants[:MOST]]


def cut(text: str, longest: int = LONGEST) -> str:
    """Also without what PostgreSQL cannot keep: zero bytes and halves of characters."""
    if text.isascii() and "\x00" not in text:
        return text[:longest]
    return text.replace("\x00", "").encode("utf-8", "replace").decode()[:longest]
