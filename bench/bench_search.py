"""How well the product finds and refuses: LoCoMo turns, ExplainMeetSum sentences, through its own store and search."""

import asyncio
import gzip
import itertools
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from passages import Passage, add_document, add_tenant, own_database
from vector_cache import CachedEmbedder

from mnemon.ask.filters import EVERYTHING
from mnemon.ask.measures import Place
from mnemon.ask.ranking import HEADINGS, MEANING, MEANING_NEARBY, WORDS, WORDS_NEARBY, Floats, Ranking, fuse
from mnemon.ask.scoring import parts_of
from mnemon.ask.search import Ranked, Searcher
from mnemon.ask.strength import Strength, strength_of
from mnemon.db.database import Database
from mnemon.models.active import ModelInUse
from mnemon.models.choose import open_embedder
from mnemon.settings import load_settings
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
DATA = Path(os.environ.get("MNEMON_EVAL_DATA") or Path(__file__).parents[2] / "shared" / "eval")
UNANSWERABLE, MULTI_HOP = 5, 1
AT = 10
WEIGHTS = [
    dict(zip((WORDS, WORDS_NEARBY, MEANING, MEANING_NEARBY, HEADINGS), weights, strict=True))
    for weights in itertools.product((0.25, 0.5, 1.0), (0.5, 1.0), (0.5, 1.0), (0.25, 0.5), (0.0, 0.25, 0.5))
]


@dataclass(frozen=True)
class Query:
    """A question, what it should find, and which group of passages it is asked of."""

    name: str
    group: str
    text: str
    gold: frozenset[str]
    category: int = 0


@dataclass(frozen=True)
class Outcome:
    """What the search made of a query."""

    query: Query
    ranked: Ranked
    names: Mapping[Place, str]
    seconds: float

    def names_by(self, score: Floats) -> list[str]:
        rows = np.flatnonzero(self.ranked.measures.candidate)
        best = rows[np.argsort(-score, kind="stable")]
        return [self.names[self.ranked.measures.places[row]] for row in best]


def lines(path: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / path, "rt") as file:
        return [json.loads(line) for line in file]


def gold_of(path: str, least: int) -> dict[str, frozenset[str]]:
    gold = defaultdict(set)
    for line in (DATA / path).read_text().splitlines():
        query, passage, grade = line.split("\t")
        if int(grade) >= least:
            gold[query].add(passage)
    return {query: frozenset(passages) for query, passages in gold.items()}


def locomo() -> tuple[dict[str, dict[str, list[Passage]]], list[Query]]:
    """Each conversation is a group, each of its sessions a document, each turn a passage."""
    groups: dict[str, dict[str, list[Passage]]] = defaultdict(lambda: defaultdict(list))
    for turn in lines("locomo/corpus.jsonl.gz"):
        caption = f" [shares {turn['image_caption']}]" if turn["image_caption"] else ""
        text = f"{turn['speaker']}: {turn['text']}{caption}"
        groups[turn["conv"]][turn["date"]].append(Passage(turn["id"], text, turn["speaker"]))
    gold = gold_of("locomo/qrels.tsv", 1)
    queries = [
        Query(one["id"], one["conv"], one["question"], gold[one["id"]], one["category"])
        for one in lines("locomo/queries.jsonl.gz")
        if one["id"] in gold
    ]
    return _some(groups), queries


def claims() -> tuple[dict[str, dict[str, list[Passage]]], list[Query]]:
    """Each meeting is a group and one document, each sentence a passage. Gold is the central evidence."""
    groups: dict[str, dict[str, list[Passage]]] = defaultdict(lambda: defaultdict(list))
    for one in lines("explainmeetsum/sentences.jsonl.gz"):
        groups[one["meeting"]]["A meeting"].append(Passage(one["id"], one["text"], one["speaker"]))
    gold = gold_of("explainmeetsum/qrels_claim_sentence.tsv", 2)
    queries = [
        Query(one["id"], one["meeting"], one["text"], gold[one["id"]])
        for one in lines("explainmeetsum/claims.jsonl.gz")
        if one["id"] in gold
    ]
    return _some(groups), queries


def _some(groups: dict[str, Any]) -> dict[str, Any]:
    return dict(list(groups.items())[:2]) if QUICK else groups


async def store(
    database: Database, embedder: CachedEmbedder, groups: Mapping[str, Mapping[str, Sequence[Passage]]]
) -> tuple[dict[str, UUID], dict[Place, str]]:
    """A tenant per group. Returns the tenants, and the name of the passage at each place."""
    tenants, names = {}, {}
    for group, documents in groups.items():
        tenants[group] = tenant = await add_tenant(database)
        for title, passages in documents.items():
            vectors = await embedder.embed([passage.text for passage in passages])
            model = ModelInUse(embedder.model_id, vectors.shape[1])
            async with database.transaction(tenant) as tx:
                revision = await add_document(tx, tenant, title, passages, vectors, model)
            names |= {(revision, ordinal): passage.name for ordinal, passage in enumerate(passages)}
    return tenants, names


async def ask_all(
    searcher: Searcher, tenants: Mapping[str, UUID], names: Mapping[Place, str], queries: Sequence[Query]
) -> list[Outcome]:
    outcomes = []
    for query in queries:
        if query.group not in tenants:
            continue
        tenant = tenants[query.group]
        began = time.perf_counter()
        asked = await searcher.prepare(tenant, query.text)
        async with searcher.database.transaction(tenant) as tx:
            ranked = await searcher.rank(tx, asked, EVERYTHING, AT)
        outcomes.append(Outcome(query, ranked, names, time.perf_counter() - began))
    return outcomes


def recall(outcome: Outcome, found: Sequence[str]) -> float:
    return len(outcome.query.gold.intersection(found[:AT])) / len(outcome.query.gold)


def reciprocal_rank(outcome: Outcome, found: Sequence[str]) -> float:
    return next((1 / place for place, name in enumerate(found, 1) if name in outcome.query.gold), 0.0)


def recalls(outcomes: Sequence[Outcome], ranking: Ranking) -> Floats:
    """Recall of every query under these settings, from what the search had measured."""
    return np.array([recall(one, found_by(one, ranking)) for one in outcomes])


def found_by(outcome: Outcome, ranking: Ranking) -> list[str]:
    ranked = outcome.ranked
    parts = parts_of(ranked.measures, ranked.terms, ranked.corpus, ranking)
    rows = np.flatnonzero(ranked.measures.candidate)
    return outcome.names_by(fuse({name: values[rows] for name, values in parts.items()}, ranking)[0])
