"""Quoted words as a reader wants them, without marks of Markdown. The quote itself stays exact."""

import re
from collections.abc import Sequence

from mnemon.ask.quoting.outlines import cells_of

_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_MARKS = re.compile(r"(\*\*|__|~~|`)(?=\S)(.+?)(?<=\S)\1")
_SINGLE = re.compile(r"(?<![\w*])[*_](?=\S)([^*_\n]+)(?<=\S)[*_](?![\w*])")
_OPENING = re.compile(r"^(?:[\s>#|]|[-*+•‣◦▪●○·]\s|\[[ xX✓]\]\s)+")
# Of a table whose rows name the column of each cell.
_NAMED_CELL = re.compile(r"\s*[^:|\n]{1,40}: ")
_EMOJI = re.compile(r":[a-z][a-z0-9_+-]+:")


def clean_words(quote: str, columns: Sequence[str] = ()) -> str:
    """On one line; a row of a table with the head of each column before its cell."""
    if columns:
        cells = [clean_words(cell) for cell in cells_of(quote)]
        named = [f"{clean_words(head)}: {cell}" for head, cell in zip(columns, cells, strict=False) if cell and head]
        if named and len(cells) <= len(columns):
            return "; ".join(named)
    if len(cells := quote.split(" | ")) > 1 and all(_NAMED_CELL.match(cell) for cell in cells):
        quote = "; ".join(cells)
    words = _OPENING.sub("", quote)
    words = _LINK.sub(r"\1", words)
    words = _SINGLE.sub(r"\1", _MARKS.sub(r"\2", words))
    words = _EMOJI.sub("", words)
    return " ".join(words.replace("\n>", "\n").split())
