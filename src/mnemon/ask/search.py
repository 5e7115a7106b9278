"""Hybrid search over a tenant's passages: by words and by meaning, with their neighbours, put together as one order."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from mnemon.ask.candidates import SearchScope, find_candidates, scope_of
from mnemon.ask.filters import EVERYTHING, revisions_of
from mnemon.ask.hits import PassageHit, read_hits
from mnemon.ask.inputs import PassageFilters
from mnemon.ask.learned.cross_encoder import CrossEncoder, StatementReader
from mnemon.ask.measures import Measures, PassagePlace
from mnemon.ask.reranker import Reranker
from mnemon.ask.rereading import REREAD, ReadPassages, passages_to_read, read_together
from mnemon.ask.scoring import has_words, parts_of, relevance_in_context
from mnemon.db.database import Connection, Database
from mnemon.documents.access import ANYONE, Reader, read_as
from mnemon.documents.ingest.chunk_store import PASSAGE
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Embedder
from mnemon.models.minilm.graph import DIMENSION, NAME, REVISION
from mnemon.search.questions import Asked, EmbedderOf, Questions
from mnemon.search.ranking import Floats, Ranking, is_relevant, rank, share_said
from mnemon.search.terms import Corpus, Term
from mnemon.telemetry import counter, histogram

RERANKED = 30
# The model whose weights the cross-encoder adapts.
LOCAL = ModelInUse(f"{NAME}@{REVISION}", DIMENSION)

SEARCHES = counter("mnemon_searches_total", "Searches, by whether meaning took part.", ("mode",))
SECONDS = histogram("mnemon_search_seconds", "Time of one search.")


@dataclass(frozen=True)
class Ranked:
    """Every passage that was looked at, best first, with what its place rests on. Those in `below` come nearest of what
    is not relevant enough to be shown."""

    asked: Asked
    filters: PassageFilters
    terms: Sequence[Term]
    corpus: Corpus
    scope: SearchScope
    measures: Measures
    # Row numbers of the measures, best first, with the score of each and the part's share in it.
    order: Sequence[int]
    below: Sequence[int]
    score: Floats
    shares: dict[str, Floats]
    parts: dict[str, Floats]

    @property
    def lexical_only(self) -> str | None:
        return self.asked.lexical_only

    @property
    def places(self) -> list[PassagePlace]:
        return [self.measures.places[row] for row in self.order]


@dataclass(frozen=True)
class FoundPassages:
    """One page of a search's result."""

    hits: Sequence[PassageHit]
    total: int
    next_offset: int | None
    mode: str
    lexical_only: str | None
    reranked: bool
    filters: PassageFilters
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return {
            "items": [hit.as_json() for hit in self.hits],
            "total": self.total,
            "next_offset": self.next_offset,
            "mode": self.mode,
            "lexical_only": self.lexical_only,
            "reranked": self.reranked,
            "filters": self.filters.applied(),
        }


class Searcher:
    """Searches for whoever asks; the tenant comes with the question."""

    def __init__(
        self, database: Database, embedder_of: EmbedderOf, ranking: Ranking, reranker: Reranker | None = None,
        encoder: CrossEncoder | None = None, statement_reader: StatementReader | None = None,
    ) -> None:  # fmt: skip
        self.database = database
        self.ranking = ranking
        self.questions = Questions(database, embedder_of)
        self._reranker = reranker
        self._encoder = encoder
        self.statement_reader = statement_reader

    async def close(self) -> None:
        if self._reranker:
            await self._reranker.close()
        for encoder in (self._encoder, self.statement_reader):
            if encoder:
                encoder.close()

    async def search(
        self, tenant: UUID, question: str, filters: PassageFilters = EVERYTHING, *, limit: int = 10, offset: int = 0,
        explain: bool = False, reader: Reader = ANYONE,
    ) -> FoundPassages:  # fmt: skip
        """The best passages for a question that the reader may see, a page at a time."""
        began = time.perf_counter()
        first, last = (0, max(RERANKED, offset + limit)) if self._reranker else (offset, offset + limit)
        # As many are ranked on every page: all are cut from the same order.
        ranked, hits = await self.find(
            tenant, question, filters, wanted=limit, shown=slice(first, last), explain=explain, reader=reader
        )
        hits, reranked = await self._rerank(question, hits)
        if self._reranker:
            hits = hits[offset : offset + limit]
        total = len(ranked.order)
        SEARCHES.labels("lexical" if ranked.lexical_only else "hybrid").inc()
        seconds = time.perf_counter() - began
        SECONDS.observe(seconds)
        return FoundPassages(
            hits=hits,
            total=total,
            next_offset=offset + limit if offset + limit < total else None,
            mode="lexical" if ranked.lexical_only else "hybrid",
            lexical_only=ranked.lexical_only,
            reranked=reranked,
            filters=filters,
            seconds=seconds,
        )

    async def find(
        self, tenant: UUID, question: str, filters: PassageFilters, *, wanted: int, shown: slice, explain: bool = False,
        reader: Reader = ANYONE, misses: int = 0,
    ) -> tuple[Ranked, Sequence[PassageHit]]:  # fmt: skip
        """Rank what the reader may see, and read the part of the order that is to be shown; where nothing is relevant,
        so many of what came nearest."""

        async def search(asked: Asked) -> tuple[Ranked, Sequence[PassageHit]]:
            async with self.database.transaction(tenant) as tx:
                await read_as(tx, reader)
                ranked = await self.rank(tx, asked, filters, wanted)
                read = await self._to_reread(tx, ranked)
            if self._encoder and read:
                ranked = await read_together(self._encoder, ranked, read)
            async with self.database.transaction(tenant) as tx:
                await read_as(tx, reader)
                rows = ranked.order[shown] if ranked.order else ranked.below[:misses]
                return ranked, await read_hits(tx, ranked, rows, explain)

        return await self.questions.ask(tenant, PASSAGE, question, search)

    async def rank(
        self, tx: Connection, asked: Asked, filters: PassageFilters = EVERYTHING, wanted: int = 10
    ) -> Ranked:
        """Find candidates, measure them with their neighbours, and put them in order."""
        opened = await asked.open(tx, PASSAGE)
        terms, corpus = opened.terms, opened.corpus
        scope = await scope_of(tx, await revisions_of(tx, filters), corpus)
        most = max(self.ranking.candidates, wanted)
        measures = await find_candidates(tx, scope, asked, opened, self.ranking, most)
        parts = parts_of(measures, terms, corpus, self.ranking, asked.question)
        said = share_said(has_words(measures), opened.weights)
        relevance = relevance_in_context(measures, said, self.ranking)
        relevant = is_relevant(relevance, said, opened.known, dense=measures.similarity is not None)
        rows = np.flatnonzero(measures.candidate)
        standing = rank(
            {name: values[rows] for name, values in parts.items()},
            relevance[rows], relevant[rows], PASSAGE.weights, self.ranking,
        )  # fmt: skip
        return Ranked(
            asked=asked, filters=filters, terms=terms, corpus=corpus, scope=scope, measures=measures,
            order=[int(rows[place]) for place in standing.order],
            below=[int(rows[place]) for place in standing.below],
            score=_spread(standing.score, rows, len(measures.places)),
            shares={name: _spread(values, rows, len(measures.places)) for name, values in standing.shares.items()},
            parts=parts,
        )  # fmt: skip

    async def _to_reread(self, tx: Connection, ranked: Ranked) -> ReadPassages:
        """None where the reader has no part in it: without the local model, or with another reranker."""
        local = ranked.asked.vector is not None and ranked.asked.model == LOCAL
        if self._encoder is None or self._reranker is not None or not local:
            return ()
        return await passages_to_read(tx, await read_hits(tx, ranked, ranked.order[:REREAD]))

    def embedder_in_use(self, asked: Asked) -> Embedder | None:
        """The embedder that made the question's vector."""
        return self.questions.embedder_of(asked.model.model_id) if asked.model and asked.vector is not None else None

    async def _rerank(self, question: str, hits: Sequence[PassageHit]) -> tuple[Sequence[PassageHit], bool]:
        if self._reranker is None or not hits:
            return hits, False
        best, rest = hits[:RERANKED], hits[RERANKED:]
        relevance = await self._reranker.relevance(question, [hit.text for hit in best])
        if relevance is None:
            return hits, False
        scored = [replace(hit, relevance=value) for hit, value in zip(best, relevance, strict=True)]
        return [*sorted(scored, key=lambda hit: -(hit.relevance or 0)), *rest], True


def _spread(values: Floats, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]", length: int) -> Floats:
    """Back to one value per measured passage."""
    spread = np.zeros(length)
    spread[rows] = values
    return spread
