"""The words of a question: their stems, how rare each is among a tenant's texts of a kind, and which to look up."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, LiteralString

import numpy as np

from mnemon.db.database import Connection
from mnemon.models.active import ModelInUse
from mnemon.search.kinds import Kind
from mnemon.search.ranking import Floats

MOST_TERMS = 24
# Words in more texts than this are common: texts are then looked up that have several of them.
RARE = 1_000
COMBINED = 5

# One row for each term; one without a term where the question has none. A term that the reader may not see stands
# nowhere: neither a refusal nor an explanation tells that it is there.
OPEN: LiteralString = """
WITH terms AS MATERIALIZED (SELECT * FROM mnemon.question_terms(%(question)s, %(counted)s))
SELECT corpus.texts AS all_texts, corpus.length AS all_length, model.model_id, model.dimension,
    term.lexeme, term.query, term.term_key,
    CASE WHEN term.term_key IN ({hidden}) THEN 0 ELSE term.texts END AS texts
FROM (
    SELECT coalesce(sum(texts), 0)::bigint AS texts, coalesce(sum(length), 0)::bigint AS length
    FROM mnemon.text_counts WHERE tenant_id = mnemon.current_tenant() AND kind = %(counted)s) AS corpus
LEFT JOIN mnemon.embedding_models AS model
  ON model.tenant_id = mnemon.current_tenant() AND model.relation = %(vectors)s AND model.state = 'active'
LEFT JOIN terms AS term ON true
"""
HIDDEN: LiteralString = "SELECT {function}(ARRAY(SELECT term_key FROM terms WHERE texts > 0))"
NONE_HIDDEN: LiteralString = "SELECT NULL::bigint WHERE false"


@dataclass(frozen=True, slots=True)
class Term:
    """One stem of the question, and its weight: the rarer, the heavier."""

    lexeme: str
    # As PostgreSQL looks for it.
    query: str
    key: int
    texts: int
    weight: float


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the tenant's texts of a kind are in numbers."""

    texts: int
    average_length: float


@dataclass(frozen=True, slots=True)
class Opened:
    """What a search begins with: the rarest words of the question, the corpus that they are rare in, and the model of
    its vectors."""

    terms: Sequence[Term]
    corpus: Corpus
    model: ModelInUse | None

    @property
    def weights(self) -> Floats:
        return np.array([term.weight for term in self.terms])

    @property
    def known(self) -> float:
        """The share of the question's words that stand in some text, by their weights."""
        total = sum(term.weight for term in self.terms)
        return sum(term.weight for term in self.terms if term.texts) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Lookups:
    """What texts are looked up by, one after the other: each must have one of `one_of` and all of `every`.

    `bars` says for each what a text of average length scores that has all of its words once: when enough of the texts
    that were found reach it, this lookup and those that follow can bring nothing better.
    """

    one_of: Sequence[Sequence[int]]
    every: Sequence[Sequence[int]]
    bars: Sequence[float]

    @property
    def values(self) -> dict[str, Any]:
        return {"one_of": _arrays(self.one_of), "every": _arrays(self.every), "bars": list(self.bars)}


async def open_question(tx: Connection, kind: Kind, question: str) -> Opened:
    values = {"counted": kind.counted, "vectors": kind.vectors, "question": question}
    hidden = HIDDEN.format(function=kind.hidden_terms) if kind.hidden_terms else NONE_HIDDEN
    rows = await (await tx.execute(OPEN.format(hidden=hidden), values)).fetchall()
    first = rows[0]
    corpus = Corpus(first["all_texts"], first["all_length"] / max(first["all_texts"], 1))
    model = ModelInUse(first["model_id"], first["dimension"]) if first["model_id"] else None
    terms = sorted((_term(row, corpus) for row in rows if row["lexeme"]), key=lambda term: (term.texts, term.lexeme))
    return Opened(terms[:MOST_TERMS], corpus, model)


def rarity(texts: int, of: int) -> float:
    """The inverse document frequency of BM25."""
    return math.log(1 + (max(of, texts) - texts + 0.5) / (texts + 0.5))


def lookups(terms: Sequence[Term], share: float = 1.0) -> Lookups:
    """The rare words first, any of them; then of the others, which are in too many texts, the heaviest combinations. So
    the texts that have most of the question are found, whatever else it says.

    `share` is the part of the tenant's texts that is searched: within it, words are found in fewer.
    """
    known = [term for term in terms if term.texts]
    rare: list[Term] = []
    for term in known:
        if sum(one.texts for one in (*rare, term)) * share > RARE:
            break
        rare.append(term)
    common = known[len(rare) : len(rare) + COMBINED]
    together = [some for size in range(1, len(common) + 1) for some in combinations(common, size)]
    together.sort(key=lambda some: -sum(term.weight for term in some))
    keys = [[term.key for term in some] for some in together]
    bars = [sum(term.weight for term in some) for some in together]
    if not rare:
        return Lookups([some[:1] for some in keys], keys, bars)
    return Lookups([[term.key for term in rare], *(some[:1] for some in keys)], [[], *keys], [math.inf, *bars])


def occurrences_of(texts: Sequence[str], terms: int) -> Floats:
    """How often each text has each term: a letter stands for each number, counted from `0` on."""
    letters = np.frombuffer("".join(texts).encode() if terms else b"", dtype=np.uint8)
    return letters.reshape(len(texts), terms).astype(np.float64) - ord("0")


def _term(row: dict[str, Any], corpus: Corpus) -> Term:
    weight = rarity(row["texts"], corpus.texts)
    return Term(row["lexeme"], row["query"], row["term_key"], row["texts"], weight)


def _arrays(keys: Sequence[Sequence[int]]) -> list[str]:
    """Arrays of different lengths, which PostgreSQL takes as texts."""
    return ["{" + ",".join(map(str, some)) + "}" for some in keys]
