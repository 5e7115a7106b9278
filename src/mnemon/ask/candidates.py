"""The passages that may answer, the best by their words and the nearest by their meaning, and what is known of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import tuple_row

from mnemon.ask.measures import NEARBY, REACH, Measures, measures_of
from mnemon.db.database import Connection
from mnemon.search.questions import Asked
from mnemon.search.ranking import Ranking
from mnemon.search.terms import Corpus, Opened, lookups

# Of the chunks that have the words of one lookup, this many are scored: where more have them all, they say little.
SCORED = 3_000
# Up to here, comparing every vector is about as quick as the index, and exact.
EXHAUSTIVE = 4_000

FIND = """
SELECT * FROM mnemon.find_chunks(
    %(one_of)s::text[], %(every)s::text[], %(bars)s::float8[], %(revisions)s::uuid[],
    %(queries)s::tsquery[], %(weights)s::float8[],
    %(k1)s::float8, %(b)s::float8, %(average)s::float8, %(scored)s,
    %(vector)s::vector, %(model)s, %(exhaustive)s, %(most)s, %(reach)s, %(nearby)s)
"""
SIZE = """
SELECT count(*) AS chunks FROM (
    SELECT FROM mnemon.chunk_terms
    WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = ANY(%s) LIMIT %s) AS bounded
"""
# Of the active ones; revisions that filters leave are the reader's own already.
UNSEEN = """
SELECT count(*) AS chunks FROM mnemon.document_revisions AS r
JOIN mnemon.chunk_terms AS c ON c.tenant_id = r.tenant_id AND c.doc_version_id = r.doc_version_id AND c.active
WHERE r.tenant_id = mnemon.current_tenant() AND r.readers IS NOT NULL AND NOT mnemon.may_read(r.readers)
"""


@dataclass(frozen=True)
class SearchScope:
    """Where to look: all active revisions, or these, and how many chunks that are (counted up to a bound)."""

    revisions: Sequence[UUID] | None
    chunks: int

    async def seen(self, tx: Connection) -> "SearchScope":
        """With the chunks that the transaction's reader may see: to a refusal, the others are not there."""
        if self.revisions is not None:
            return self
        row = await (await tx.execute(UNSEEN)).fetchone()
        assert row is not None
        return SearchScope(None, max(0, self.chunks - row["chunks"]))


async def scope_of(tx: Connection, revisions: Sequence[UUID] | None, corpus: Corpus) -> SearchScope:
    if revisions is None:
        return SearchScope(None, corpus.texts)
    row = await (await tx.execute(SIZE, (list(revisions), EXHAUSTIVE + 1))).fetchone()
    assert row is not None
    return SearchScope(revisions, row["chunks"])


async def find_candidates(
    tx: Connection, scope: SearchScope, asked: Asked, opened: Opened, ranking: Ranking, most: int
) -> Measures:
    """Up to `most` by BM25, and as many by meaning: through the index where the scope is large, and by comparing all
    where it is not or the index runs dry.
    """
    terms, corpus = opened.terms, opened.corpus
    small = scope.chunks <= EXHAUSTIVE
    share = min(1.0, scope.chunks / max(corpus.texts, 1)) if small else 1.0
    values = lookups(terms, share).values | {
        "revisions": None if scope.revisions is None else list(scope.revisions),
        "queries": [term.query for term in terms],
        "weights": [term.weight if term.texts else 0.0 for term in terms],
        "k1": ranking.k1,
        "b": ranking.b,
        "average": corpus.average_length,
        "scored": SCORED,
        "vector": asked.vector,
        "model": asked.model.model_id if asked.model else None,
        "exhaustive": small,
        "most": most,
        "reach": REACH,
        "nearby": round(NEARBY * ranking.radius),
    }
    async with tx.cursor(row_factory=tuple_row, binary=True) as cursor:
        await cursor.execute(FIND, values)
        return measures_of(await cursor.fetchall(), len(terms), asked.vector is not None)
