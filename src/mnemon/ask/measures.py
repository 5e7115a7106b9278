"""What is known of each passage that may answer: how often it has each word, how near its meaning is, who speaks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg import sql
from psycopg.rows import tuple_row

from mnemon.ask.ranking import Floats
from mnemon.ask.terms import Term
from mnemon.db.database import Connection
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Vectors
from mnemon.models.vectors import as_vector

Place = tuple[UUID, int]

# Neighbours that can matter: those whose middles are little more than a radius from the hit's, so that the short
# passages next to it are judged with their own neighbours too. Long chunks have none.
REACH = 9
NEARBY = 1.2
# Every step looks up few rows by their whole key. OFFSET 0 holds the planner to that: without statistics it would
# rather read all of a tenant's rows once per row.
MEASURE = sql.SQL("""
WITH near AS MATERIALIZED (
    SELECT t.doc_version_id, t.ordinal, min(abs(t.ordinal - h.ordinal)) AS away
    FROM unnest(%(revisions)s::uuid[], %(ordinals)s::integer[]) AS h (revision, ordinal)
    CROSS JOIN LATERAL (
        SELECT start_offset, end_offset FROM mnemon.chunk_terms
        WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = h.revision AND ordinal = h.ordinal
        OFFSET 0) AS hit
    CROSS JOIN LATERAL (
        SELECT doc_version_id, ordinal, start_offset, end_offset FROM mnemon.chunk_terms
        WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = h.revision
          AND ordinal BETWEEN h.ordinal - %(reach)s::integer AND h.ordinal + %(reach)s::integer
        OFFSET 0) AS t
    WHERE t.ordinal = h.ordinal
       OR abs(t.start_offset + t.end_offset - hit.start_offset - hit.end_offset) / 2 < %(nearby)s::integer
    GROUP BY t.doc_version_id, t.ordinal
), titles AS MATERIALIZED (
    SELECT one.revision, to_tsvector('english', d.title) AS terms
    FROM (SELECT DISTINCT unnest(%(revisions)s::uuid[]) AS revision) AS one
    CROSS JOIN LATERAL (
        SELECT doc_id FROM mnemon.document_versions
        WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = one.revision OFFSET 0) AS v
    CROSS JOIN LATERAL (
        SELECT title FROM mnemon.documents
        WHERE tenant_id = mnemon.current_tenant() AND doc_id = v.doc_id OFFSET 0) AS d
)
SELECT t.doc_version_id, t.ordinal, n.away, t.start_offset, t.end_offset, t.length, t.speaker, {similarity}{counts}
FROM near AS n
CROSS JOIN LATERAL (
    SELECT * FROM mnemon.chunk_terms
    WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = n.doc_version_id AND ordinal = n.ordinal
    OFFSET 0) AS t
LEFT JOIN titles ON titles.revision = t.doc_version_id
{vectors}
ORDER BY t.doc_version_id, t.ordinal
""")
VECTORS = sql.SQL("""
LEFT JOIN LATERAL (
    SELECT embedding FROM mnemon.chunk_vectors
    WHERE tenant_id = mnemon.current_tenant() AND model_id = %(model)s AND chunk_id = t.chunk_id
    OFFSET 0) AS v ON true
""")
SIMILARITY = sql.SQL("coalesce(1 - (v.embedding <=> %(vector)s::vector), 0)")
NO_SIMILARITY = sql.SQL("0::float8")
COUNT = sql.SQL(
    ", mnemon.occurrences(t.terms, {term}::tsquery)"
    ", (t.heading_terms @@ {term}::tsquery OR coalesce(titles.terms @@ {term}::tsquery, false))"
)
FIXED = 8


@dataclass(frozen=True)
class Measures:
    """Passages in the order of their documents; row `n` of each array is passage `n`."""

    places: Sequence[Place]
    # Hits, and the short passages beside them. The others are there for their words only.
    candidate: NDArray[np.bool_]
    centre: Floats
    length: Floats
    speakers: Sequence[str | None]
    similarity: Floats | None
    occurrences: Floats
    in_headings: Floats


async def measure(
    tx: Connection, hits: Iterable[Place], terms: Sequence[Term], vector: Vectors | None, model: ModelInUse | None,
    radius: int,
) -> Measures:  # fmt: skip
    """Look at the hits and their neighbours, all in one query."""
    places = sorted(set(hits))
    dense = vector is not None and model is not None
    values = {
        "revisions": [revision for revision, _ in places],
        "ordinals": [ordinal for _, ordinal in places],
        "reach": REACH,
        "nearby": round(NEARBY * radius),
        "vector": as_vector(vector) if vector is not None else None,
        "model": model.model_id if model else None,
    }
    names = [f"term_{number}" for number in range(len(terms))]
    values |= {name: term.query for name, term in zip(names, terms, strict=True)}
    query = MEASURE.format(
        similarity=SIMILARITY if dense else NO_SIMILARITY,
        vectors=VECTORS if dense else sql.SQL(""),
        counts=sql.SQL("").join(COUNT.format(term=sql.Placeholder(name)) for name in names),
    )
    async with tx.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(query, values)
        return _measures(await cursor.fetchall(), len(terms), dense)


def _measures(rows: Sequence[tuple[Any, ...]], terms: int, dense: bool) -> Measures:
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in range(FIXED + 2 * terms)]
    revisions, ordinals, away, starts, ends, length, speakers, similarity = columns[:FIXED]
    counts = np.array(columns[FIXED:], dtype=np.float64).reshape(terms, 2, len(rows))
    return Measures(
        places=list(zip(revisions, ordinals, strict=True)),
        candidate=np.array(away, dtype=np.float64) <= 1,
        centre=(np.array(starts, dtype=np.float64) + np.array(ends, dtype=np.float64)) / 2,
        length=np.array(length, dtype=np.float64),
        speakers=speakers,
        similarity=np.array(similarity, dtype=np.float64) if dense else None,
        occurrences=counts[:, 0].T,
        in_headings=counts[:, 1].T,
    )
