"""The day on which a chunk was said: that of its turn, or the one day that its parts have."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from mnemon.documents.ingest.content import Chunk, Extraction
from mnemon.documents.structure.calendar_words import NO_YEAR, in_its_year
from mnemon.documents.structure.section_days import said_days
from mnemon.documents.structure.structure import Structure


@dataclass(frozen=True, slots=True)
class SaidDays:
    """Where each part begins, and its day."""

    starts: Sequence[int]
    days: Sequence[date | None]
    written: date | None

    @classmethod
    def of(cls, extraction: Extraction, structure: Structure | None) -> "SaidDays":
        stated = extraction.details.written_at
        if structure is None:
            return cls((), (), stated.date() if stated else None)
        written = stated.date() if stated else structure.preamble.written_on
        parts = [part for part in structure.parts if part.kind not in ("heading", "lead")]
        return cls([part.start for part in parts], said_days(parts, written), written)

    def on(self, made: Chunk) -> Chunk:
        """A day that the text gives without its year lies nearest to the day of writing."""
        day = in_its_year(made.said_on, self.written) if made.said_on else self._only_day(made)
        return replace(made, said_on=day if day and day.year != NO_YEAR else None)

    def _only_day(self, made: Chunk) -> date | None:
        """None where its parts were said on several days."""
        first, last = bisect_left(self.starts, made.start), bisect_left(self.starts, made.end)
        days = set(self.days[first:last])
        return days.pop() if len(days) == 1 else None
