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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from passages import Passage, add_document, add_tenant, own_database
from vector_cache import CachedEmbedder

from mnemon.ask.filters import EVERYTHING
from mnemon.ask.measures import PassagePlace
from mnemon.ask.scoring import parts_of
from mnemon.ask.search import Ranked, Searcher
from mnemon.ask.strength import ENOUGH, strength_of
from mnemon.db.database import Database
from mnemon.documents.ingest.chunk_store import PASSAGE
from mnemon.models.active import ModelInUse
from mnemon.models.choose import open_embedder
from mnemon.search.kinds import WORDS
from mnemon.search.ranking import Floats, Ranking, fuse
from mnemon.settings import load_settings
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
DATA = Path(os.environ.get("MNEMON_EVAL_DATA") or Path(__file__).parents[2] / "shared" / "eval")
UNANSWERABLE, MULTI_HOP = 5, 1
AT = 10
# What cross-validation chooses from; the shipped settings are among them.
CHOICES = [
    replace(Ranking(), radius=radius, weights=dict(zip(PASSAGE.weights, weights, strict=True)))
    for radius in ((700,) if QUICK else (500, 700, 1000))
    for weights in itertools.product((0.25, 0.5, 1.0), (1.0,), (0.5, 1.0), (0.25, 0.5), (0.0, 0.25, 0.5))
]
# What no source is about: random letters, words of no language, words of another world.
NONSENSE = (
    "zzzqqq", "asdfghjkl", "xqzt vrrp", "qwertz uiop", "blorptang frimble", "flurbs grommit snax", "7f3a9c 00b1",
    "completely unrelated giraffe", "giraffe", "zeppelin moratorium", "quasar luminosity", "volcanic basalt strata",
    "lorem ipsum dolor sit amet", "mitochondrial membrane potential", "Byzantine succession law", "???",
)  # fmt: skip
WORDS_ONLY = replace(Ranking(), weights=dict.fromkeys(PASSAGE.weights, 0.0) | {WORDS: 1.0})


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
    names: Mapping[PassagePlace, str]
    seconds: float
    _parts: dict[int, dict[str, Floats]] = field(default_factory=dict)

    def parts(self, ranking: Ranking) -> dict[str, Floats]:
        """Of the candidates. Weights do not change them, so they are made once for all weights."""
        key = ranking.radius
        if key not in self._parts:
            parts = parts_of(self.ranked.measures, self.ranked.terms, self.ranked.corpus, ranking)
            rows = np.flatnonzero(self.ranked.measures.candidate)
            self._parts[key] = {name: values[rows] for name, values in parts.items()}
        return self._parts[key]

    def shown(self, cut: float | None) -> list[str]:
        """In the order of the product: what it shows, or what is at least so relevant."""
        ranked = self.ranked
        rows = ranked.order
        if cut is not None:
            rows = [row for row in (*ranked.order, *ranked.below) if ranked.score[row] >= cut]
        return [self.names[ranked.measures.places[row]] for row in rows]

    def names_by(self, score: Floats, most: int | None = None) -> list[str]:
        rows = np.flatnonzero(self.ranked.measures.candidate)
        best = rows[np.argsort(-score, kind="stable")[:most]]
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
) -> tuple[dict[str, UUID], dict[PassagePlace, str]]:
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
    searcher: Searcher, tenants: Mapping[str, UUID], names: Mapping[PassagePlace, str], queries: Sequence[Query]
) -> list[Outcome]:
    outcomes = []
    for query in queries:
        if query.group not in tenants:
            continue
        tenant = tenants[query.group]
        began = time.perf_counter()
        asked = await searcher.questions.prepare(tenant, PASSAGE, query.text)
        async with searcher.database.transaction(tenant) as tx:
            ranked = await searcher.rank(tx, asked, EVERYTHING, AT)
        outcomes.append(Outcome(query, ranked, names, time.perf_counter() - began))
    return outcomes


def recall(outcome: Outcome, found: Sequence[str]) -> float:
    return len(outcome.query.gold.intersection(found[:AT])) / len(outcome.query.gold)


def reciprocal_rank(outcome: Outcome, found: Sequence[str]) -> float:
    return next((1 / place for place, name in enumerate(found, 1) if name in outcome.query.gold), 0.0)


def found_by(outcome: Outcome, ranking: Ranking, most: int | None = None) -> list[str]:
    """The passages in the order of these settings, from what the search had measured."""
    return outcome.names_by(fuse(outcome.parts(ranking), PASSAGE.weights, ranking)[0], most)


def recalls(outcomes: Sequence[Outcome], ranking: Ranking) -> Floats:
    return np.array([recall(one, found_by(one, ranking, AT)) for one in outcomes])


def cross_validated(outcomes: Sequence[Outcome]) -> tuple[Floats, Floats]:
    """Recall and reciprocal rank of every query, its group ranked by the settings that were best for the others."""
    groups = np.array([one.query.group for one in outcomes])
    table = np.stack([recalls(outcomes, choice) for choice in CHOICES])
    recall_of, rank_of = np.zeros(len(outcomes)), np.zeros(len(outcomes))
    for group in dict.fromkeys(groups):
        held_out = groups == group
        choice = int(table[:, ~held_out].mean(axis=1).argmax())
        recall_of[held_out] = table[choice, held_out]
        for number in np.flatnonzero(held_out):
            rank_of[number] = reciprocal_rank(outcomes[number], found_by(outcomes[number], CHOICES[choice]))
        print(f"  {group}: radius {CHOICES[choice].radius}, weights {list(CHOICES[choice].weights.values())}")
    return recall_of, rank_of


def area(positive: Floats, negative: Floats) -> float:
    """The chance that an answerable question is rated above an unanswerable one."""
    above = (positive[:, None] > negative[None]).mean()
    return float(above + 0.5 * (positive[:, None] == negative[None]).mean())


def report_locomo(outcomes: Sequence[Outcome]) -> dict[str, float]:
    print("\nLoCoMo: settings chosen on the other conversations")
    recall_of, rank_of = cross_validated(outcomes)
    category = np.array([one.query.category for one in outcomes])
    rows = {
        "BM25 of the turn alone": recalls(outcomes, WORDS_ONLY),
        "reciprocal ranks, k = 60": recalls(outcomes, replace(Ranking(), fusion="rrf")),
        "reciprocal ranks, k = 10": recalls(outcomes, replace(Ranking(), fusion="rrf", rrf_constant=10)),
        "as shipped": recalls(outcomes, Ranking()),
        "cross-validated": recall_of,
    }
    print(f"\n{'turn recall@10':28} {'all':>6} {'multi':>6} {'time':>6} {'open':>6} {'single':>6} {'unansw.':>7}")
    for name, values in rows.items():
        cells = [values.mean(), *(values[category == one].mean() for one in (MULTI_HOP, 2, 3, 4, UNANSWERABLE))]
        print(f"{name:28} " + " ".join(f"{cell:6.3f}" for cell in cells))
    answerable = category != UNANSWERABLE
    print(f"Answerable questions alone: {recall_of[answerable].mean():.3f} of {answerable.sum()}.")
    seconds = np.array([one.seconds for one in outcomes]) * 1000
    print(f"One search took {np.median(seconds):.0f} ms (p95 {np.quantile(seconds, 0.95):.0f} ms).")
    return {
        "locomo_r10": float(recall_of.mean()),
        "locomo_multihop_r10": float(recall_of[category == MULTI_HOP].mean()),
        "locomo_mrr": float(rank_of.mean()),
        "locomo_bm25_r10": float(rows["BM25 of the turn alone"].mean()),
    }


def report_refusal(outcomes: Sequence[Outcome], unrelated: Sequence[Outcome]) -> dict[str, float]:
    """The whole curve, and the point that the product uses."""
    answerable = np.array([one.query.category != UNANSWERABLE for one in outcomes])
    found = np.array([recall(one, found_by(one, Ranking())) > 0 for one in outcomes])
    value = np.array([strength_of(one.ranked).value for one in outcomes])
    foreign = np.array([strength_of(one.ranked).value for one in unrelated])
    yes, no = value[answerable], value[~answerable]
    print(f"\n{'refused below':>14} {'answerable':>11} {'… of found':>11} {'unanswerable':>13} {'unrelated':>10}")
    for limit in sorted({*np.round(np.arange(0.0, 0.65, 0.05), 2), ENOUGH}):
        mark = "  <- used" if limit == ENOUGH else ""
        print(
            f"{limit:14.2f} {(yes < limit).mean():11.3f} {(value[answerable & found] < limit).mean():11.3f} "
            f"{(no < limit).mean():13.3f} {(foreign < limit).mean():10.3f}{mark}"
        )
    print(
        "Unanswerable: LoCoMo's adversarial questions, true of the other speaker. Unrelated: another conversation's.\n"
        f"Area under the curve: unanswerable {area(yes, no):.3f}, unrelated {area(yes, foreign):.3f}. "
        "'Of found' are answerable questions whose evidence is among the ten passages."
    )
    return {
        "refusal_auc": area(yes, no),
        "refuse_unanswerable": float((no < ENOUGH).mean()),
        "refuse_answerable": float((yes < ENOUGH).mean()),
    }


def report_cut(
    name: str, outcomes: Sequence[Outcome], unrelated: Sequence[Outcome], nonsense: Sequence[Outcome]
) -> dict[str, float]:
    """What is lost of the evidence if less relevant passages are not shown, and what then finds nothing at all."""
    print(
        f"\n{name + ', shown from':>24} {'recall@10':>10} {'of all found':>13} {'nonsense finds':>15} {'unrelated':>10}"
    )
    for cut in (0.0, *np.round(np.arange(0.12, 0.28, 0.02), 2), None):
        ten = np.mean([recall(one, one.shown(cut)) for one in outcomes])
        every = np.mean([len(one.query.gold.intersection(one.shown(cut))) / len(one.query.gold) for one in outcomes])
        finds = [np.mean([bool(one.shown(cut)) for one in some]) if some else 0.0 for some in (nonsense, unrelated)]
        print(f"{'as shipped' if cut is None else cut:>24} {ten:10.3f} {every:13.3f} {finds[0]:15.3f} {finds[1]:10.3f}")
    return {f"{name}_shown_r10": float(ten), f"{name}_nonsense_finds": float(finds[0])}


def nonsense_for(groups: Sequence[str]) -> list[Query]:
    return [Query(text, group, text, frozenset()) for group in groups for text in NONSENSE]


def report_claims(outcomes: Sequence[Outcome]) -> dict[str, float]:
    gold = gold_of("explainmeetsum/qrels_claim_sentence.tsv", 1)
    every = [replace(one, query=replace(one.query, gold=gold[one.query.name])) for one in outcomes]
    print(f"\n{'claim → sentence recall@10':28} {'central':>8} {'all':>6}")
    rankings = {
        "BM25 of the sentence alone": WORDS_ONLY,
        "reciprocal ranks, k = 60": replace(Ranking(), fusion="rrf"),
        "as shipped (tuned on LoCoMo)": Ranking(),
    }
    for name, ranking in rankings.items():
        print(f"{name:28} {recalls(outcomes, ranking).mean():8.3f} {recalls(every, ranking).mean():6.3f}")
    return {"claims_r10": float(recalls(outcomes, Ranking()).mean())}


def of_another_group(queries: Sequence[Query], groups: Sequence[str]) -> list[Query]:
    """Answerable questions, asked of the next conversation."""
    following = dict(zip(groups, [*groups[1:], groups[0]], strict=True))
    chosen = [one for one in queries if one.category != UNANSWERABLE and one.group in following]
    return [replace(one, group=following[one.group]) for one in chosen[::3]]


async def main() -> None:
    configure_logging("WARNING")
    if not (DATA / "locomo").is_dir():
        sys.exit(f"There is no evaluation data in {DATA}: set MNEMON_EVAL_DATA to its folder.")
    embedder = CachedEmbedder(open_embedder(load_settings()))
    results: dict[str, float] = {}
    async with own_database() as database:
        searcher = Searcher(database, lambda _: embedder, Ranking())
        groups, queries = locomo()
        tenants, names = await store(database, embedder, groups)
        outcomes = await ask_all(searcher, tenants, names, queries)
        unrelated = await ask_all(searcher, tenants, names, of_another_group(queries, list(groups)))
        results |= report_locomo(outcomes) | report_refusal(outcomes, unrelated)
        nonsense = await ask_all(searcher, tenants, names, nonsense_for(list(groups)))
        answerable = [one for one in outcomes if one.query.category != UNANSWERABLE]
        results |= report_cut("locomo", answerable, unrelated, nonsense)
        groups, queries = claims()
        tenants, names = await store(database, embedder, groups)
        outcomes = await ask_all(searcher, tenants, names, queries)
        nonsense = await ask_all(searcher, tenants, names, nonsense_for(list(groups)))
        results |= report_claims(outcomes) | report_cut("claims", outcomes, [], nonsense)
    await embedder.close()
    rounded = {name: round(value, 4) for name, value in results.items()}
    print(json.dumps({"bench": "search", "results": rounded}))


if __name__ == "__main__":
    asyncio.run(main())
