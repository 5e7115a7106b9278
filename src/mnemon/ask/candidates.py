"""The passages that may answer: the best by their words, and the nearest by their meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.ask.measures import Place
from mnemon.ask.ranking import Ranking
from mnemon.ask.terms import SCORED, Corpus, Term, lookups
from mnemon.db.database import Connection
from mnemon.models.embedder import Vectors
from mnemon.models.vectors import as_vector

# Up to here, comparing every vector is about as quick as the index, and exact.
EXHAUSTIVE = 4_000

LEXICAL = """
SELECT doc_version_id, ordinal FROM mnemon.lexical_search(
    %(keys)s, %(pairs)s, %(revisions)s::uuid[], %(lexemes)s, %(weights)s::float8[],
    %(k1)s::float8, %(b)s::float8, %(average)s::float8, %(scored)s, %(most)s)
"""
NEAREST = """
SELECT doc_version_id, ordinal FROM mnemon.nearest_chunks(%s::vector, %s::uuid[], %s, %s)
"""
SIZE = """
SELECT count(*) AS chunks FROM (
    SELECT FROM mnemon.chunk_terms
    WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = ANY(%s) LIMIT %s) AS bounded
"""


@dataclass(frozen=True)
class Scope:
    """Where to look: all active revisions, or these, and how many chunks that are (counted up to a bound)."""

    revisions: Sequence[UUID] | None
    chunks: int


async def scope_of(tx: Connection, revisions: Sequence[UUID] | None, corpus: Corpus) -> Scope:
    if revisions is None:
        return Scope(None, corpus.chunks)
    row = await (await tx.execute(SIZE, (list(revisions), EXHAUSTIVE + 1))).fetchone()
    assert row is not None
    return Scope(revisions, row["chunks"])


async def by_words(
    tx: Connection, scope: Scope, terms: Sequence[Term], corpus: Corpus, ranking: Ranking, most: int
) -> list[Place]:
    """The best by BM25; of the chunks that have the question's rare words, if its others are in too many."""
    share = min(1.0, scope.chunks / max(corpus.chunks, 1)) if scope.chunks <= EXHAUSTIVE else 1.0
    values = {
        "revisions": _listed(scope),
        "lexemes": [term.lexeme for term in terms if term.chunks],
        "weights": [term.weight for term in terms if term.chunks],
        "k1": ranking.k1,
        "b": ranking.b,
        "average": corpus.average_length,
        "scored": SCORED,
        "most": most,
    }
    places: list[Place] = []
    for lookup in lookups(terms, share):
        rows = await tx.execute(LEXICAL, values | {"keys": list(lookup.keys), "pairs": lookup.pairs})
        places += [(row["doc_version_id"], row["ordinal"]) for row in await rows.fetchall()]
        if len(places) >= most:
            break
    return places[:most]


async def by_meaning(tx: Connection, scope: Scope, vector: Vectors, most: int) -> list[Place]:
    """The nearest; by the index where the scope is large, and by comparing all where it is not or the index ran dry."""
    if scope.chunks > EXHAUSTIVE:
        places = await _nearest(tx, scope, vector, False, most)
        if len(places) >= most:
            return places
    return await _nearest(tx, scope, vector, True, most)


async def _nearest(tx: Connection, scope: Scope, vector: Vectors, exhaustive: bool, most: int) -> list[Place]:
    rows = await tx.execute(NEAREST, (as_vector(vector), _listed(scope), exhaustive, most))
    return [(row["doc_version_id"], row["ordinal"]) for row in await rows.fetchall()]


def _listed(scope: Scope) -> list[UUID] | None:
    return None if scope.revisions is None else list(scope.revisions)
