"""The words of a question: their stems, how rare each is among a tenant's chunks, and which to look up."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mnemon.db.database import Connection
from mnemon.documents.ingest.chunk_store import VECTORS
from mnemon.models.active import ModelInUse

MOST_TERMS = 24
# More chunks than this are not scored for one question; rare words are looked up first.
SCORED = 1_000
PAIRED = 5

# One row for each term; one without a term where the question has none.
OPEN = """
SELECT corpus.chunks AS all_chunks, corpus.length AS all_length, model.model_id, model.dimension,
    term.lexeme, term.query, term.term_key, term.chunks
FROM (
    SELECT coalesce(sum(chunks), 0)::bigint AS chunks, coalesce(sum(length), 0)::bigint AS length
    FROM mnemon.chunk_counts WHERE tenant_id = mnemon.current_tenant()) AS corpus
LEFT JOIN mnemon.embedding_models AS model
  ON model.tenant_id = mnemon.current_tenant() AND model.relation = %s AND model.state = 'active'
LEFT JOIN mnemon.question_terms(%s) AS term ON true
"""


@dataclass(frozen=True, slots=True)
class Term:
    """One stem of the question, and its weight: the rarer, the heavier."""

    lexeme: str
    # As PostgreSQL looks for it.
    query: str
    key: int
    chunks: int
    weight: float


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the tenant's active chunks are in numbers."""

    chunks: int
    average_length: float


@dataclass(frozen=True, slots=True)
class Opened:
    """What a search begins with: the rarest words of the question, the corpus that they are rare in, and the model of
    its vectors."""

    terms: Sequence[Term]
    corpus: Corpus
    model: ModelInUse | None


@dataclass(frozen=True, slots=True)
class Lookup:
    """The terms that find chunks in the index; `pairs` when only two of them together are rare enough."""

    keys: Sequence[int]
    pairs: bool = False


async def open_question(tx: Connection, question: str) -> Opened:
    rows = await (await tx.execute(OPEN, (VECTORS, question))).fetchall()
    first = rows[0]
    corpus = Corpus(first["all_chunks"], first["all_length"] / max(first["all_chunks"], 1))
    model = ModelInUse(first["model_id"], first["dimension"]) if first["model_id"] else None
    terms = sorted((_term(row, corpus) for row in rows if row["lexeme"]), key=lambda term: (term.chunks, term.lexeme))
    return Opened(terms[:MOST_TERMS], corpus, model)


def _term(row: dict[str, Any], corpus: Corpus) -> Term:
    weight = rarity(row["chunks"], corpus.chunks)
    return Term(row["lexeme"], row["query"], row["term_key"], row["chunks"], weight)


def rarity(chunks: int, of: int) -> float:
    """The inverse document frequency of BM25."""
    return math.log(1 + (max(of, chunks) - chunks + 0.5) / (chunks + 0.5))


def lookup(terms: Sequence[Term], share: float = 1.0) -> Lookup:
    """Rare words, until enough chunks have one; of words that are all common, two at once.

    `share` is the part of the tenant's chunks that is searched: within it, words are found in fewer chunks.
    """
    known = [term for term in terms if term.chunks]
    chosen: list[int] = []
    found = 0.0
    for term in known:
        found += term.chunks * share
        if found > SCORED:
            break
        chosen.append(term.key)
    if chosen:
        return Lookup(chosen)
    return Lookup([term.key for term in known[:PAIRED]], pairs=len(known) > 1)
