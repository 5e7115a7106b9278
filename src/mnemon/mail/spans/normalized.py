"""The new text of a message alone, and the way back to where it stands."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from mnemon.mail.spans.labels import LabelledSpan

GAP = "\n"


@dataclass(frozen=True, slots=True)
class NormalizedBody:
    """`text` is what the sender wrote himself. `pieces` are (offset here, offset in the source, length), in order."""

    text: str
    pieces: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, source: str, spans: Sequence[LabelledSpan]) -> "NormalizedBody":
        texts: list[str] = []
        pieces: list[tuple[int, int, int]] = []
        at = 0
        for span in spans:
            if span.label != "new" or not (words := source[span.start : span.end].strip()):
                continue
            start = source.index(words, span.start)
            if texts:
                texts.append(GAP)
                at += len(GAP)
            pieces.append((at, start, len(words)))
            texts.append(words)
            at += len(words)
        return cls("".join(texts), tuple(pieces))

    def source_offset(self, offset: int) -> int:
        """Where in the source the character stands that is at `offset` here; a gap belongs to what is before it."""
        place = max(bisect_right(self.pieces, offset, key=lambda piece: piece[0]) - 1, 0)
        here, there, length = self.pieces[place]
        return there + min(max(offset - here, 0), length)

    def source_ranges(self, start: int, end: int) -> list[tuple[int, int]]:
        """The ranges of the source that `text[start:end]` is made of: more than one where something stands between."""
        found = []
        for here, there, length in self.pieces:
            first, last = max(start, here), min(end, here + length)
            if first < last:
                found.append((there + first - here, there + last - here))
        return found
