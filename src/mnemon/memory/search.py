"""Search: the objects of a branch by what they say, ranked like every other kind of text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import numpy as np
from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.documents.access import ANYONE, Reader
from mnemon.memory.errors import InvalidMemory
from mnemon.memory.objects import MemoryObject, Place
from mnemon.memory.reading import EVERY_OBJECT, Reading, Wanted
from mnemon.memory.vectors import MEMORY
from mnemon.memory.views import OBJECT, find_in, object_of
from mnemon.models.failures import EmbedderUnavailable
from mnemon.search.kinds import MEANING, WORDS
from mnemon.search.questions import Asked, Questions
from mnemon.search.ranking import (
    Floats,
    RankedCandidates,
    Ranking,
    bm25,
    is_relevant,
    rank,
    relevance_of,
    share_said,
)
from mnemon.search.terms import Opened, lookups, occurrences_of

MemorySearchMode = Literal["hybrid", "text", "semantic"]

FIND = """
SELECT emo_id, length, similarity, occurrences FROM mnemon.find_memories(
    %(one_of)s::text[], %(every)s::text[], %(bars)s::float8[], %(queries)s::tsquery[], %(weights)s::float8[],
    %(k1)s::float8, %(b)s::float8, %(average)s::float8,
    (SELECT string_agg('(' || phraseto_tsquery('english', piece)::text || ')', ' | ')::tsquery
       FROM unnest(%(unwanted)s::text[]) AS piece WHERE phraseto_tsquery('english', piece)::text <> ''),
    %(vector)s::vector, %(model)s, %(world)s, %(branches)s, %(bounds)s, %(type)s, %(tags)s, %(updated_since)s,
    %(subject_id)s, %(owner)s, %(agent_id)s, %(session_id)s, %(most)s)
"""
# How near in meaning an object is taken to be that says all of the question and has no vector yet: as near as good hits
# are. With 0 it would stand behind whatever is older, in the seconds after it was remembered.
NEAR_BY_WORDS = 0.6
# -word or -"some words": what the objects must not say.
_UNWANTED = re.compile(r'(?:^|\s)-("[^"]*"?|[^\s"]+)')


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """An object that was found, how relevant it is, and by what: its share of the words and its nearness in meaning."""

    object: MemoryObject
    score: float
    words: float
    meaning: float


@dataclass(frozen=True, slots=True)
class FoundObjects:
    """The best hits; `mode` says what they were found by, which is words alone where no model is at hand."""

    hits: list[MemoryHit]
    mode: MemorySearchMode


@dataclass(frozen=True)
class _Candidates:
    """What is known of the objects that may answer; row `n` of each array is object `n`."""

    ids: Sequence[UUID]
    said: Floats
    # NaN of what has no vector yet.
    similarity: Floats | None
    bm25: Floats
    # The share of the question's words that any object has.
    known: float

    def meaning(self, row: int) -> float:
        return max(float(np.nan_to_num(self.similarity[row])), 0.0) if self.similarity is not None else 0.0

    def nearness(self, mode: MemorySearchMode) -> Floats | None:
        """How near each is; by its words where its vector is not made yet."""
        if self.similarity is None:
            return None
        unknown = NEAR_BY_WORDS * self.said if mode != "semantic" else np.zeros_like(self.said)
        near: Floats = np.where(np.isnan(self.similarity), unknown, self.similarity)
        return near


class Search:
    """Finds objects of a branch by what they say."""

    def __init__(self, reading: Reading, questions: Questions, ranking: Ranking | None = None) -> None:
        self._reading = reading
        self._questions = questions
        self._ranking = ranking or Ranking()

    async def search(
        self,
        tenant: UUID,
        place: Place,
        text: str,
        *,
        mode: MemorySearchMode = "hybrid",
        wanted: Wanted = EVERY_OBJECT,
        limit: int = 10,
        reader: Reader = ANYONE,
    ) -> FoundObjects:
        """The best objects, each with its relevance. `-word` or `-"some words"` leaves out those that say it."""
        if "\0" in text:
            raise InvalidMemory("A search holds a zero byte, which no object has: leave it out.")
        unwanted = _UNWANTED.findall(text)

        async def find(asked: Asked) -> FoundObjects:
            if mode == "semantic" and asked.lexical_only:
                raise EmbedderUnavailable(asked.lexical_only)
            asks = {"unwanted": unwanted, "most": max(limit, self._ranking.candidates)} | wanted.values
            return await self._find(tenant, place, asked, mode, asks, limit, reader)

        text = _UNWANTED.sub(" ", text).strip() or text
        return await self._questions.ask(tenant, MEMORY, text, find, by_meaning=mode != "text")

    async def _find(
        self, tenant: UUID, place: Place, asked: Asked, mode: MemorySearchMode, asks: dict[str, Any], limit: int,
        reader: Reader,
    ) -> FoundObjects:  # fmt: skip
        async with self._reading.transaction(tenant, reader) as connection:
            view, _ = await self._reading.view_in(connection, tenant, place)
            found = await self._candidates(connection, asked, mode, asks | view.values)
            standing = self._rank(found, mode)
            best = [found.ids[row] for row in standing.order[:limit]]
            objects = await find_in(connection, view, best, columns=OBJECT)
        hits = [
            MemoryHit(
                object_of(objects[found.ids[row]]),
                float(standing.score[row]),
                float(found.said[row]),
                found.meaning(row),
            )
            for row in standing.order[:limit]
        ]
        return FoundObjects(hits, "text" if asked.lexical_only else mode)

    async def _candidates(
        self, connection: Connection, asked: Asked, mode: MemorySearchMode, asks: dict[str, Any]
    ) -> _Candidates:
        opened = await asked.open(connection, MEMORY)
        values = (
            asks
            | lookups(opened.terms if mode != "semantic" else ()).values
            | {
                "queries": [term.query for term in opened.terms],
                "weights": [term.weight if term.texts else 0.0 for term in opened.terms],
                "k1": self._ranking.k1,
                "b": self._ranking.b,
                "average": opened.corpus.average_length,
                "vector": asked.vector,
                "model": asked.model.model_id if asked.model else None,
            }
        )
        async with connection.cursor(row_factory=tuple_row, binary=True) as cursor:
            await cursor.execute(FIND, values)
            return self._measured(await cursor.fetchall(), opened, asked.vector is not None)

    def _measured(self, rows: Sequence[tuple[Any, ...]], opened: Opened, dense: bool) -> _Candidates:
        ids, length, similarity, letters = zip(*rows, strict=True) if rows else ((), (), (), ())
        occurrences = occurrences_of(letters, len(opened.terms))
        average = max(opened.corpus.average_length, 1.0)
        lengths = np.array(length, dtype=np.float64)
        return _Candidates(
            ids,
            share_said(occurrences > 0, opened.weights),
            np.array(similarity, dtype=np.float64) if dense else None,
            bm25(occurrences, lengths, opened.weights, average, self._ranking),
            opened.known,
        )

    def _rank(self, found: _Candidates, mode: MemorySearchMode) -> RankedCandidates:
        parts = {WORDS: found.bm25} if mode != "semantic" else {}
        near = found.nearness(mode)
        if near is not None:
            parts[MEANING] = near
        relevance = relevance_of(found.said, near)
        relevant = is_relevant(relevance, found.said, found.known, dense=near is not None)
        return rank(parts, relevance, relevant, MEMORY.weights, self._ranking)
