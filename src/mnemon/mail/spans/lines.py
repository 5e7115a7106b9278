"""The lines of a message's text while they are being labelled."""

import re
from collections.abc import Iterator

from mnemon.mail.spans.labels import SpanLabel
from mnemon.mail.spans.patterns import LONGEST_LINE


class MailLine:
    """One line without its line feed, and what it was found to be."""

    __slots__ = ("blank", "depth", "label", "start", "text")

    def __init__(self, start: int, text: str) -> None:
        self.start, self.text = start, text
        self.blank = not text or text.isspace()
        self.label: SpanLabel | None = None
        self.depth = 0

    @property
    def short(self) -> bool:
        return len(self.text) <= LONGEST_LINE

    def mark(self, label: SpanLabel, depth: int = 0) -> None:
        self.label, self.depth = label, depth


class MailLines(list[MailLine]):
    """All lines of a text, found by their number or by where they begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        # Numbers of the lines that may bear marks of a quotation, and of those that bear none and are not blank.
        self.quoted: list[int] = []
        self.own: list[int] = []
        start = 0
        for number, words in enumerate(text.split("\n")):
            line = MailLine(start, words)
            self.append(line)
            if ">" in words[:4]:
                self.quoted.append(number)
            elif not line.blank:
                self.own.append(number)
            start += len(words) + 1

    def that_may_be(self, pattern: re.Pattern[str]) -> Iterator[int]:
        """Numbers of the lines without a label that begin as the pattern says, as long as they have none."""
        match = pattern.match
        for number in self.own:
            line = self[number]
            if line.label is None and match(line.text) and line.short:
                yield number

    def full_before(self, number: int) -> int | None:
        """The nearest line before this one that is not blank."""
        number -= 1
        while number >= 0 and self[number].blank:
            number -= 1
        return number if number >= 0 else None

    def full_after(self, number: int) -> int | None:
        number += 1
        while number < len(self) and self[number].blank:
            number += 1
        return number if number < len(self) else None
