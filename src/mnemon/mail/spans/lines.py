"""The lines of a message's text while they are being labelled."""

import re
from collections.abc import Iterator

from mnemon.mail.spans.labels import SpanLabel
from mnemon.mail.spans.patterns import LONGEST_LINE, may_begin


class MailLines:
    """All lines of a text by their number, without their line feeds, and what each was found to be.

    Side by side in lists: a line is looked at so often that an object for each would take more time than all patterns.
    """

    __slots__ = ("candidates", "depths", "labels", "own", "quoted", "text", "texts")

    def __init__(self, text: str) -> None:
        self.text = text
        self.texts = texts = text.split("\n")
        self.labels: list[SpanLabel | None] = [None] * len(texts)
        self.depths = [0] * len(texts)
        # Numbers of the lines that may bear marks of a quotation, of those that bear none and are not blank, and of
        # those among the latter that begin as one of the patterns may.
        self.quoted: list[int] = []
        self.own: list[int] = []
        self.candidates: list[int] = []
        for number, words in enumerate(texts):
            if ">" in words[:4]:
                self.quoted.append(number)
            elif words and not words.isspace():
                self.own.append(number)
                if may_begin(words[:3]):
                    self.candidates.append(number)

    def __len__(self) -> int:
        return len(self.texts)

    def mark(self, number: int, label: SpanLabel, depth: int = 0) -> None:
        self.labels[number], self.depths[number] = label, depth

    def is_blank(self, number: int) -> bool:
        words = self.texts[number]
        return not words or words.isspace()

    def is_short(self, number: int) -> bool:
        return len(self.texts[number]) <= LONGEST_LINE

    def that_may_be(self, pattern: re.Pattern[str]) -> Iterator[int]:
        """Numbers of the lines without a label that begin as the pattern says, as long as they have none."""
        match, labels, texts = pattern.match, self.labels, self.texts
        for number in self.candidates:
            if labels[number] is None and match(texts[number]) and len(texts[number]) <= LONGEST_LINE:
                yield number

    def full_before(self, number: int) -> int | None:
        """The nearest line before this one that is not blank."""
        number -= 1
        while number >= 0 and self.is_blank(number):
            number -= 1
        return number if number >= 0 else None

    def full_after(self, number: int) -> int | None:
        number += 1
        while number < len(self.texts) and self.is_blank(number):
            number += 1
        return number if number < len(self.texts) else None
