"""How well the product finds and refuses: LoCoMo chats and meetings, put in as files and searched as users search.

A gold turn or sentence counts as found where a passage among the first ten overlaps it. Nothing is trained or chosen on
what is reported here.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from public_door import TalkFile, names_by_place, put_in, running_mnemon
from talk_files import DATA, Query, claims, gold_of, locomo

from mnemon.app import Mnemon
from mnemon.ask.filters import EVERYTHING
from mnemon.ask.measures import PassagePlace
from mnemon.ask.scoring import parts_of
from mnemon.ask.search import Ranked
from mnemon.documents.ingest.chunk_store import PASSAGE
from mnemon.log.events import Actor
from mnemon.search.kinds import HEADINGS, MEANING, MEANING_NEARBY, WORDS, WORDS_NEARBY
from mnemon.search.ranking import Floats, Ranking, fuse
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
BENCH = Actor("system", "bench")
UNANSWERABLE, MULTI_HOP = 5, 1
AT = 10
# What no source is about: random letters, words of no language, words of another world.
NONSENSE = (
    "zzzqqq", "asdfghjkl", "xqzt vrrp", "qwertz uiop", "blorptang frimble", "flurbs grommit snax", "7f3a9c 00b1",
    "completely unrelated giraffe", "giraffe", "zeppelin moratorium", "quasar luminosity", "volcanic basalt strata",
    "lorem ipsum dolor sit amet", "mitochondrial membrane potential", "Byzantine succession law", "???",
)  # fmt: skip
WORDS_ONLY = replace(Ranking(), weights=dict.fromkeys(PASSAGE.weights, 0.0) | {WORDS: 1.0})
# The weights that a person chose before any were learned.
BY_HAND = replace(
    Ranking(),
    weights=dict.fromkeys(PASSAGE.weights, 0.0)
    | {WORDS: 0.5, WORDS_NEARBY: 1.0, MEANING: 1.0, MEANING_NEARBY: 0.5, HEADINGS: 0.5},
)


@dataclass(frozen=True)
class Outcome:
    """What the search made of a query."""

    query: Query
    ranked: Ranked
    names: Mapping[PassagePlace, frozenset[str]]
    seconds: float
    # Where it was asked too: how likely the answer is right by the product's own judgement, and whether it refused.
    strength: float = 0.0
    refused: bool = False
    _parts: dict[int, dict[str, Floats]] = field(default_factory=dict)

    def parts(self, ranking: Ranking) -> dict[str, Floats]:
        """Of the candidates. Weights do not change them, so they are made once for all weights."""
        key = ranking.radius
        if key not in self._parts:
            ranked = self.ranked
            parts = parts_of(ranked.measures, ranked.terms, ranked.corpus, ranking, ranked.asked.question)
            rows = np.flatnonzero(self.ranked.measures.candidate)
            self._parts[key] = {name: values[rows] for name, values in parts.items()}
        return self._parts[key]

    def shown(self, cut: float | None) -> list[frozenset[str]]:
        """In the order of the product: what it shows, or what is at least so relevant."""
        ranked = self.ranked
        rows = ranked.order
        if cut is not None:
            rows = [row for row in (*ranked.order, *ranked.below) if ranked.score[row] >= cut]
        return [self.names[ranked.measures.places[row]] for row in rows]

    def names_by(self, score: Floats, most: int | None = None) -> list[frozenset[str]]:
        rows = np.flatnonzero(self.ranked.measures.candidate)
        best = rows[np.argsort(-score, kind="stable")[:most]]
        return [self.names[self.ranked.measures.places[row]] for row in best]


def some(groups: dict[str, list[TalkFile]]) -> dict[str, list[TalkFile]]:
    return dict(list(groups.items())[:2]) if QUICK else groups


async def store(
    mnemon: Mnemon, groups: dict[str, list[TalkFile]]
) -> tuple[dict[str, UUID], dict[PassagePlace, frozenset[str]]]:
    """A tenant per group. Returns the tenants, and what the passage at each place overlaps."""
    tenants = await put_in(mnemon, groups)
    names: dict[PassagePlace, frozenset[str]] = {}
    lengths: list[int] = []
    for group, files in groups.items():
        found, tokens = await names_by_place(mnemon, tenants[group], files)
        names |= found
        lengths += tokens
    held = [len(one) for one in names.values()]
    print(
        f"{len(names)} passages of {sum(map(len, groups.values()))} files: {np.mean(lengths):.0f} tokens on average, "
        f"{max(lengths)} at most; {np.mean(held):.2f} of what may be asked for in each."
    )
    return tenants, names


async def ask_all(
    mnemon: Mnemon,
    tenants: Mapping[str, UUID],
    names: Mapping[PassagePlace, frozenset[str]],
    queries: Sequence[Query],
    *,
    answered: bool = False,
) -> list[Outcome]:
    """Searched as users search; `answered`, they are asked as well."""
    outcomes = []
    for query in queries:
        if query.group not in tenants:
            continue
        began = time.perf_counter()
        ranked, _ = await mnemon.searcher.find(
            tenants[query.group], query.text, EVERYTHING, wanted=AT, shown=slice(0, AT)
        )
        outcome = Outcome(query, ranked, names, time.perf_counter() - began)
        if answered:
            answer = await mnemon.asking.ask(tenants[query.group], BENCH, query.text)
            outcome = replace(outcome, strength=answer.strength, refused=answer.refusal is not None)
        outcomes.append(outcome)
    return outcomes


def recall(outcome: Outcome, found: Sequence[frozenset[str]]) -> float:
    return share_found(outcome, found[:AT])


def share_found(outcome: Outcome, found: Sequence[frozenset[str]]) -> float:
    return len(outcome.query.gold.intersection(*[frozenset().union(*found)])) / len(outcome.query.gold)


def reciprocal_rank(outcome: Outcome, found: Sequence[frozenset[str]]) -> float:
    return next((1 / place for place, names in enumerate(found, 1) if names & outcome.query.gold), 0.0)


def found_by(outcome: Outcome, ranking: Ranking, most: int | None = None) -> list[frozenset[str]]:
    """The passages in the order of these settings, from what the search had measured."""
    return outcome.names_by(fuse(outcome.parts(ranking), PASSAGE.weights, ranking)[0], most)


def recalls(outcomes: Sequence[Outcome], ranking: Ranking) -> Floats:
    return np.array([recall(one, found_by(one, ranking, AT)) for one in outcomes])


def area(positive: Floats, negative: Floats) -> float:
    """The chance that an answerable question is rated above an unanswerable one."""
    above = (positive[:, None] > negative[None]).mean()
    return float(above + 0.5 * (positive[:, None] == negative[None]).mean())


def shipped(outcomes: Sequence[Outcome]) -> Floats:
    """By the order that users get, what is not relevant enough to be shown left out."""
    return np.array([recall(one, one.shown(None)) for one in outcomes])


def report_locomo(outcomes: Sequence[Outcome]) -> dict[str, float]:
    category = np.array([one.query.category for one in outcomes])
    rows = {
        "BM25 of the passage alone": recalls(outcomes, WORDS_ONLY),
        "reciprocal ranks, k = 60": recalls(outcomes, replace(Ranking(), fusion="rrf")),
        "reciprocal ranks, k = 10": recalls(outcomes, replace(Ranking(), fusion="rrf", rrf_constant=10)),
        "parts added by hand": recalls(outcomes, BY_HAND),
        "parts weighed by learning": recalls(outcomes, Ranking()),
        "as shipped": shipped(outcomes),
    }
    print(f"\n{'turn recall@10':28} {'all':>6} {'multi':>6} {'time':>6} {'open':>6} {'single':>6} {'unansw.':>7}")
    for name, values in rows.items():
        cells = [values.mean(), *(values[category == one].mean() for one in (MULTI_HOP, 2, 3, 4, UNANSWERABLE))]
        print(f"{name:28} " + " ".join(f"{cell:6.3f}" for cell in cells))
    found, bm25 = rows["as shipped"], rows["BM25 of the passage alone"]
    first = np.array([bool(one.shown(None)[:1]) and bool(one.shown(None)[0] & one.query.gold) for one in outcomes])
    answerable = category != UNANSWERABLE
    print(f"Answerable questions alone: {found[answerable].mean():.3f} of {answerable.sum()}.")
    seconds = np.array([one.seconds for one in outcomes]) * 1000
    print(f"One search took {np.median(seconds):.0f} ms (p95 {np.quantile(seconds, 0.95):.0f} ms).")
    return {
        "locomo_r10": float(found.mean()),
        "locomo_multihop_r10": float(found[category == MULTI_HOP].mean()),
        "locomo_mrr": float(np.mean([reciprocal_rank(one, one.shown(None)) for one in outcomes])),
        "locomo_first": float(first.mean()),
        "locomo_bm25_r10": float(bm25.mean()),
        "locomo_multihop_bm25_r10": float(bm25[category == MULTI_HOP].mean()),
    }


def report_refusal(outcomes: Sequence[Outcome], unrelated: Sequence[Outcome]) -> dict[str, float]:
    """What the product refuses, and what it would by other limits of its judgement."""
    answerable = np.array([one.query.category != UNANSWERABLE for one in outcomes])
    found = shipped(outcomes) > 0
    value, foreign = (np.array([one.strength for one in some]) for some in (outcomes, unrelated))
    refused, strange = (np.array([one.refused for one in some]) for some in (outcomes, unrelated))
    yes, no = value[answerable], value[~answerable]
    print(f"\n{'refused below':>14} {'answerable':>11} {'… of found':>11} {'unanswerable':>13} {'unrelated':>10}")
    for limit in np.round(np.arange(0.0, 0.65, 0.05), 2):
        print(
            f"{limit:14.2f} {(yes < limit).mean():11.3f} {(value[answerable & found] < limit).mean():11.3f} "
            f"{(no < limit).mean():13.3f} {(foreign < limit).mean():10.3f}"
        )
    print(
        f"{'as shipped':>14} {refused[answerable].mean():11.3f} {refused[answerable & found].mean():11.3f} "
        f"{refused[~answerable].mean():13.3f} {strange.mean():10.3f}"
    )
    print(
        "Unanswerable: LoCoMo's adversarial questions, true of the other speaker. Unrelated: another conversation's.\n"
        f"Area under the curve: unanswerable {area(yes, no):.3f}, unrelated {area(yes, foreign):.3f}. "
        "'Of found' are answerable questions whose evidence is among the ten passages."
    )
    return {
        "refusal_auc": area(yes, no),
        "refuse_unanswerable": float(refused[~answerable].mean()),
        "refuse_answerable": float(refused[answerable].mean()),
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
        every = np.mean([share_found(one, one.shown(cut)) for one in outcomes])
        finds = [np.mean([bool(one.shown(cut)) for one in some]) if some else 0.0 for some in (nonsense, unrelated)]
        print(f"{'as shipped' if cut is None else cut:>24} {ten:10.3f} {every:13.3f} {finds[0]:15.3f} {finds[1]:10.3f}")
    return {f"{name}_shown_r10": float(ten), f"{name}_nonsense_finds": float(finds[0])}


def nonsense_for(groups: Sequence[str]) -> list[Query]:
    return [Query(text, group, text, frozenset()) for group in groups for text in NONSENSE]


def report_claims(outcomes: Sequence[Outcome]) -> dict[str, float]:
    gold = gold_of("explainmeetsum/qrels_claim_sentence.tsv", 1)
    every = [replace(one, query=replace(one.query, gold=gold[one.query.name])) for one in outcomes]
    print(f"\n{'claim → sentence recall@10':28} {'central':>8} {'all':>6}")
    for name, ranking in {
        "BM25 of the passage alone": WORDS_ONLY,
        "reciprocal ranks, k = 60": replace(Ranking(), fusion="rrf"),
        "parts added by hand": BY_HAND,
        "parts weighed by learning": Ranking(),
    }.items():
        print(f"{name:28} {recalls(outcomes, ranking).mean():8.3f} {recalls(every, ranking).mean():6.3f}")
    found = shipped(outcomes)
    print(f"{'as shipped':28} {found.mean():8.3f} {shipped(every).mean():6.3f}")
    return {"claims_r10": float(found.mean()), "claims_bm25_r10": float(recalls(outcomes, WORDS_ONLY).mean())}


def of_another_group(queries: Sequence[Query], groups: Sequence[str]) -> list[Query]:
    """Answerable questions, asked of the next conversation."""
    following = dict(zip(groups, [*groups[1:], groups[0]], strict=True))
    chosen = [one for one in queries if one.category != UNANSWERABLE and one.group in following]
    return [replace(one, group=following[one.group]) for one in chosen[::3]]


async def main() -> None:
    configure_logging("WARNING")
    if not (DATA / "locomo").is_dir():
        sys.exit(f"There is no evaluation data in {DATA}: set MNEMON_EVAL_DATA to its folder.")
    results: dict[str, float] = {}
    async with running_mnemon() as mnemon:
        groups, queries = locomo()
        tenants, names = await store(mnemon, some(groups))
        outcomes = await ask_all(mnemon, tenants, names, queries, answered=True)
        unrelated = await ask_all(mnemon, tenants, names, of_another_group(queries, list(tenants)), answered=True)
        results |= report_locomo(outcomes) | report_refusal(outcomes, unrelated)
        nonsense = await ask_all(mnemon, tenants, names, nonsense_for(list(tenants)))
        answerable = [one for one in outcomes if one.query.category != UNANSWERABLE]
        results |= report_cut("locomo", answerable, unrelated, nonsense)
        groups, queries = claims()
        tenants, names = await store(mnemon, some(groups))
        outcomes = await ask_all(mnemon, tenants, names, queries)
        nonsense = await ask_all(mnemon, tenants, names, nonsense_for(list(tenants)))
        results |= report_claims(outcomes) | report_cut("claims", outcomes, [], nonsense)
    rounded = {name: round(value, 4) for name, value in results.items()}
    print(json.dumps({"bench": "search", "results": rounded}))


if __name__ == "__main__":
    asyncio.run(main())
