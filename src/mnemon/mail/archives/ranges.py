"""The byte ranges that an archive is made of."""

from dataclasses import dataclass
from typing import Literal

# How lines that begin with "From " were kept from looking like the next message.
Escaping = Literal["mboxo", "mboxrd", "none"]


@dataclass(frozen=True, slots=True)
class ArchivedMessage:
    """`length` bytes from `offset` on are one message; `content` is what was sent, without the line that parts it."""

    offset: int
    length: int
    content: bytes
    # The line "From …" before it; empty where the format has none.
    separator: bytes = b""
    escaping: Escaping = "none"


@dataclass(frozen=True, slots=True)
class ArchiveDefect:
    """Bytes that are no message, and why."""

    offset: int
    length: int
    reason: str


ArchiveRange = ArchivedMessage | ArchiveDefect
