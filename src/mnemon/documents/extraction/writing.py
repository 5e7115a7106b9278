"""Writes a canonical text block by block, for formats whose text is put together and not kept as it is."""

from collections.abc import Iterable
from dataclasses import replace

from mnemon.documents.extraction.hygiene import clean
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.structure.structure import Block, BlockKind


class TextWriter:
    """Blocks with a blank line between them. The text that is given is cleaned; what is blank is left out."""

    def __init__(self, limits: Limits) -> None:
        self.blocks: list[Block] = []
        self.length = 0
        self._parts: list[str] = []
        self._limits = limits

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def block(self, kind: BlockKind, text: str, level: int = 0, speaker: str | None = None) -> int:
        """Add a block and give the offset at which it begins."""
        words = clean(text).strip()
        if not words:
            return self.length
        if self.length:
            self._add("\n\n")
        start = self.length
        self._add(words)
        self._limits.check_characters(self.length)
        self.blocks.append(Block(kind, start, self.length, level, speaker))
        return start

    def verbatim(self, text: str, blocks: Iterable[Block]) -> None:
        """Add a clean text as it is, with the blocks that were found in it."""
        if not text or text.isspace():
            return
        if self.length:
            self._add("\n\n")
        start = self.length
        self._add(text.rstrip())
        self._limits.check_characters(self.length)
        self.blocks += [replace(block, start=block.start + start, end=block.end + start) for block in blocks]

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)
