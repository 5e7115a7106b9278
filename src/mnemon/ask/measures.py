"""What is known of each passage that may answer: how often it has each word, how near its meaning is, who speaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from mnemon.search.ranking import Floats
from mnemon.search.terms import occurrences_of

PassagePlace = tuple[UUID, int]

# Neighbours that can matter: those whose middles are little more than a radius from the hit's, so that the short
# passages next to it are judged with their own neighbours too. Long chunks have none.
REACH = 9
NEARBY = 1.2
COLUMNS = 12


@dataclass(frozen=True)
class Measures:
    """Passages in the order of their documents; row `n` of each array is passage `n`."""

    places: Sequence[PassagePlace]
    # Hits, and the short passages beside them. The others are there for their words only.
    candidate: NDArray[np.bool_]
    centre: Floats
    length: Floats
    speakers: Sequence[str | None]
    # On which day each was said, of talk that tells.
    days: Sequence[date | None]
    # Which share of its sentences are questions.
    asks: Floats
    similarity: Floats | None
    occurrences: Floats
    in_headings: Floats


def measures_of(rows: Sequence[tuple[Any, ...]], terms: int, dense: bool) -> Measures:
    """From the rows of `mnemon.find_chunks`."""
    columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * COLUMNS
    revisions, ordinals, away, starts, ends, length, speakers, days, asks, similarity, occurrences, in_headings = (
        columns
    )
    return Measures(
        places=list(zip(revisions, ordinals, strict=True)),
        candidate=np.array(away, dtype=np.float64) <= 1,
        centre=(np.array(starts, dtype=np.float64) + np.array(ends, dtype=np.float64)) / 2,
        length=np.array(length, dtype=np.float64),
        speakers=speakers,
        days=days,
        asks=np.array(asks, dtype=np.float64),
        similarity=np.array(similarity, dtype=np.float64) if dense else None,
        occurrences=occurrences_of(occurrences, terms),
        in_headings=occurrences_of(in_headings, terms),
    )
