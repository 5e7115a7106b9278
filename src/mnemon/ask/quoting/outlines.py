"""What lines of a text are by their outline: a title in bold, the head of a comment, a row whose cells stand apart."""

import re
from collections.abc import Sequence

from mnemon.documents.structure.lines import Line, item_mark
from mnemon.documents.structure.talk import turn_on

# "**2. Heat in hall 3**": no sentence, and nothing that it says itself ("**Budget: 4,000 EUR**").
_BOLD = re.compile(r"(\*\*|__|\*)(?=\S)(?P<words>[^*\n]{2,90}?)(?<=\S)\1:?\s*")
_SAYS = re.compile(r"[.!?…]\W*$|:\s+\S")
_MOST_WORDS = 10
_APART = re.compile(r"\s{2,}|\t")
_CELLS = 3
_BLANK = re.compile(r"[\s–—?./*-]*|n\.?/?a\.?|t\.?b\.?[ad]\.?|k\. ?a\.", re.IGNORECASE)
_DAY = re.compile(r"\d\D+\d|\d\s*[^\W\d_]{3}")


def bold_title(words: str) -> str | None:
    """The words of a line that is nothing but a title in bold; None for any other line."""
    found = _BOLD.fullmatch(words.strip())
    title = found["words"].strip() if found else ""
    return title if title and len(title.split()) <= _MOST_WORDS and not _SAYS.search(title) else None


def comment_heads(lines: Sequence[Line]) -> set[int]:
    """Lines that give nothing but a day or time and who says what stands below, where there are two of them or more:
    "24 Nov 17:40 – Tariq Benson"."""
    heads = {
        line.start for line in lines
        if (turn := turn_on(line.text)) and turn.stamp and _DAY.search(turn.stamp)
        and not line.text[turn.begin :].strip() and " " in turn.speaker
    }  # fmt: skip
    return heads if len(heads) > 1 else set()


def cells_apart(words: str) -> list[str]:
    """The cells of a row that are parted by white space alone."""
    return _APART.split(words.strip())


def cells_of(row: str) -> list[str]:
    """As they stand in a row of a table, whatever parts them."""
    parts = row.strip().strip("|").split("|") if "|" in row else cells_apart(row)
    return [part.strip() for part in parts]


def is_blank(cell: str) -> bool:
    """A dash, a question mark, nothing: what is asked for there is not said."""
    return _BLANK.fullmatch(cell) is not None


def aligned_rows(lines: Sequence[Line]) -> set[int]:
    """Rows that are parted by white space alone; one has another above or below it."""
    many = [
        len(cells_apart(line.text)) >= _CELLS and item_mark(line.text) is None and "|" not in line.text
        for line in lines
    ]
    return {
        line.start for number, line in enumerate(lines)
        if many[number] and any(many[max(0, number - 1) : number] + many[number + 1 : number + 2])
    }  # fmt: skip
