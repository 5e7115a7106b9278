"""The words of a question: their stems, how rare each is among a tenant's chunks, and which to look up."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mnemon.db.database import Connection

MOST_TERMS = 24
# More chunks than this are not scored for one question; rare words are looked up first.
SCORED = 1_000
PAIRED = 5

TERMS = "SELECT lexeme, query, term_key, chunks FROM mnemon.question_terms(%s)"
TOTALS = """
SELECT coalesce(sum(chunks), 0)::bigint AS chunks, coalesce(sum(length), 0)::bigint AS length
FROM mnemon.chunk_counts WHERE tenant_id = mnemon.current_tenant()
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
class Lookup:
    """The terms that find chunks in the index; `pairs` when only two of them together are rare enough."""

    keys: Sequence[int]
    pairs: bool = False


async def read_terms(tx: Connection, question: str) -> tuple[list[Term], Corpus]:
    """The rarest words of the question, and the corpus that they are rare in."""
    totals = await (await tx.execute(TOTALS)).fetchone()
    assert totals is not None
    corpus = Corpus(totals["chunks"], totals["length"] / max(totals["chunks"], 1))
    rows = await (await tx.execute(TERMS, (question,))).fetchall()
    terms = sorted((_term(row, corpus) for row in rows), key=lambda term: (term.chunks, term.lexeme))
    return terms[:MOST_TERMS], corpus


def _term(row: dict[str, Any], corpus: Corpus) -> Term:
    weight = rarity(row["chunks"], corpus.chunks)
    return Term(row["lexeme"], row["query"], row["term_key"], row["chunks"], weight)


def rarity(chunks: int, of: int) -> float:
    """The inverse document frequency of BM25."""
    return math.log(1 + (max(of, chunks) - chunks + 0.5) / (chunks + 0.5))


def lookups(terms: Sequence[Term], share: float = 1.0) -> list[Lookup]:
    """Rare words first, until enough chunks have one; of words that are all common, two at once.

    `share` is the part of the tenant's chunks that is searched: within it, words are found in fewer chunks.
    """
    known = [term for term in terms if term.chunks]
    if not known:
        return []
    chosen: list[int] = []
    found = 0.0
    for term in known:
        found += term.chunks * share
        if found > SCORED:
            break
        chosen.append(term.key)
    if chosen:
        return [Lookup(chosen)]
    first = Lookup([known[0].key])
    return [Lookup([term.key for term in known[:PAIRED]], pairs=True), first] if len(known) > 1 else [first]
