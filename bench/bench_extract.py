"""How well and how fast rules and learned reader read: intent, gold set, blind third, claims, proof of every quote."""

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import bench_search
import intent_training
import numpy as np
import talk_files
from blind_third import blind_third, learned_engine, speed
from extraction_gold import Score, load_documents, score
from meeting_texts import meeting_texts
from public_door import running_mnemon
from stored_evidence import count_stored

from mnemon.semantics.extract.extractor import extract_revision
from mnemon.semantics.extract.revision import Revision, SourceType
from mnemon.semantics.extract.verify import holds
from mnemon.semantics.learned.engine import LearnedExtractor
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.semantics.rules.intent import LIKELY, actionable
from mnemon.semantics.semantic_event import FACT_CONFIDENCE
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
ROOT = Path(__file__).parents[1]
DATA = intent_training.DATA
MEETINGS = 4 if QUICK else None
# Through the database: ingested, extracted by a worker, and counted in the tables.
STORED_MEETINGS = 4 if QUICK else 40
FUZZED = 200 if QUICK else 2000
CONFIDENCE_STEPS = (0.0, 0.5, 0.7, 0.85, 1.0)


def intent(learned: LearnedExtractor | None) -> dict[str, float]:
    """The shipped weights, on sentences that they were not trained on.

    Of the very file that they were trained on, what training measured: each sentence judged by a fold that had not
    seen it, or a fifth that was held back. Nothing is trained here on the file that is given.
    """
    data = intent_training.load()
    if data is None:
        print(f"intent: no labelled sentences in {DATA}; set MNEMON_EVAL_DATA")
        return {}
    sentences, labels = data
    if intent_training.was_trained_on():
        print("intent: the shipped weights were trained on this file; these are of parts that training held back")
        found = _intent_score("words, 10 folds", intent_training.cross_validate(sentences, labels) >= LIKELY, labels)
        print(f"intent, learned reader, five folds: F1 {reader_folds()['intent_f1']:.3f}")
        return {"intent_words_f1": found[0], "intent_f1": reader_folds()["intent_f1"]}
    words = np.array([actionable(each) for each in sentences])
    found = _intent_score("shipped word weights", words >= LIKELY, labels)
    results = {"intent_words_f1": found[0]}
    if learned is not None:
        own = np.array([learned.reader.actionable(each) for each in sentences])
        results["intent_learned_f1"] = _intent_score("shipped learned reader", own >= 0.5, labels)[0]
        found = _intent_score("both, averaged", (own + words) / 2 >= (LIKELY + 0.5) / 2, labels)
    return results | {"intent_f1": found[0], "intent_precision": found[1]}


def reader_folds() -> dict[str, float]:
    """What training measured on the fifth of each fold that it had held back."""
    table: dict[str, float] = json.loads((ROOT / "training" / "folds.json").read_text())
    return table


def _intent_score(name: str, likely: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    right = float((likely & (labels > 0)).sum())
    precision, recall = right / max(1, likely.sum()), right / labels.sum()
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    print(f"intent, {name:<24} precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}  ({len(labels)})")
    return round(f1, 3), round(precision, 3)


def gold(learned: LearnedExtractor | None) -> dict[str, float]:
    """Rules by themselves in the table; then both together."""
    dev, held = (score(RulesExtractor(), load_documents(split)) for split in ("dev", "held"))
    print(f"\n{'gold set':<16}{'dev: P':>8}{'R':>6}{'F1':>6}{'n':>5}   {'held back: P':>12}{'R':>6}{'F1':>6}{'n':>5}")
    for category in (*sorted(dev.labelled), None):
        cells = [f"{category or 'all':<16}"]
        for part, width in ((dev, 8), (held, 15)):
            count = part.labelled[category] if category else part.labelled.total()
            cells.append(
                f"{part.precision(category):>{width}.2f}{part.recall(category):>6.2f}{part.f1(category):>6.2f}{count:>5}"
            )
        print("".join(cells))
    for name, part in (("dev", dev), ("held", held)):
        shares = "  ".join(f"{detail} {part.share(detail):.2f}" for detail in ("actor", "due", "time", "subject"))
        print(f"of the events found, right ({name}): {shares}")
        print(f"confidence ({name}): {_calibration(part)}")
    if os.environ.get("SHOW"):
        print("\n".join(dev.remarks))
    blind = _later_parts()
    both = score(learned, load_documents("held"), FACT_CONFIDENCE) if learned else held
    print(f"gold set, held back, both: P {both.precision():.3f}  R {both.recall():.3f}  F1 {both.f1():.3f}")
    return {
        "gold_f1": round(both.f1(), 3),
        "gold_precision": round(both.precision(), 3),
        "gold_rules_f1": round(held.f1(), 3),
        "gold_dev_f1": round(dev.f1(), 3),
        "gold_blind_f1": round(blind.f1(), 3),
    }


def _later_parts() -> Score:
    """Documents of other kinds, labelled when the rules were there: what was read to mend them, and what was not."""
    for split in ("fresh", "second", "blind"):
        part = score(RulesExtractor(), load_documents(split))
        print(
            f"gold set, {split:<8} P {part.precision():.2f}  R {part.recall():.2f}  F1 {part.f1():.2f}"
            f"  n {part.labelled.total()}"
        )
    return part


def _calibration(part: Score) -> str:
    said = np.array([event.confidence for event, _ in part.pairs])
    right = np.array([right for _, right in part.pairs], float)
    bins = []
    for low, high in pairwise(CONFIDENCE_STEPS):
        inside = (said >= low) & (said < high)
        if inside.any():
            bins.append(f"{said[inside].mean():.2f} said, {right[inside].mean():.2f} right ({inside.sum()})")
    return f"{'; '.join(bins)}; Brier {((said - right) ** 2).mean():.3f}"


async def claims() -> dict[str, float]:
    """From a statement to the sentences that prove it, by the product's own search, as `make bench-search` does."""
    if not (DATA / "explainmeetsum").is_dir():
        print(f"claims: no meetings in {DATA}; set MNEMON_EVAL_DATA")
        return {}
    async with running_mnemon() as mnemon:
        groups, queries = talk_files.claims()
        tenants, names = await bench_search.store(mnemon, bench_search.some(groups))
        outcomes = await bench_search.ask_all(mnemon, tenants, names, queries)
    found = bench_search.report_claims(outcomes)
    return {name: round(value, 3) for name, value in found.items()}


def proof_and_speed() -> dict[str, float]:
    revisions = [document.revision for document in load_documents()]
    revisions += [_revision(text, "transcript") for text in meeting_texts(DATA / "explainmeetsum", MEETINGS)]
    revisions += [
        _revision(path.read_text(), "doc") for path in sorted((ROOT / "examples").glob("*/*/*.[tme][xdm][tl]*"))
    ]
    spans, valid = 0, 0
    began, worked, sentences = time.perf_counter(), time.process_time(), 0
    for revision in revisions:
        extraction = asyncio.run(extract_revision(RulesExtractor(), revision))
        sentences += len(revision.layout.units)
        evidence = [each for event in extraction.events for each in event.evidence]
        spans, valid = spans + len(evidence), valid + sum(holds(revision.text, each) for each in evidence)
    rate, of_processor = sentences / (time.perf_counter() - began), sentences / (time.process_time() - worked)
    shaken = shaken_texts([document.revision.text for document in load_documents()])
    for text in shaken:
        for event in asyncio.run(extract_revision(RulesExtractor(), _revision(text, "chat"))).events:
            spans, valid = spans + len(event.evidence), valid + sum(holds(text, each) for each in event.evidence)
    print(f"\n{len(revisions)} texts, {sentences} sentences: {rate:,.0f} sentences/s")
    print(f"{of_processor:,.0f} sentences for each second of processor time")
    print(f"{spans} quotes, {len(shaken)} shaken Unicode texts included: {valid} stand in their text")
    if (DATA / "explainmeetsum").is_dir():
        stored, proven = asyncio.run(count_stored(meeting_texts(DATA / "explainmeetsum", STORED_MEETINGS)))
        spans, valid = spans + stored, valid + proven
    else:
        print(f"stored evidence: no meetings in {DATA}; set MNEMON_EVAL_DATA")
    return {"evidence_valid": valid / spans if spans else 0.0, "sentences_per_s": round(rate)}


def shaken_texts(texts: list[str]) -> list[str]:
    """Gold documents with marks, joiners, other line ends and other scripts strewn in."""
    dice = random.Random(0)
    noise = [
        "e\u0301",
        "👩‍👩‍👧",
        "\r\n",
        "\r",
        "\u200f",
        "\u00a0",
        "שלום",
        "مرحبا",
        "漢字",
        "\u00ad",
        "“",
        "—",
        "\u2028",
    ]
    shaken = []
    for number in range(FUZZED):
        letters = list(texts[number % len(texts)])
        for _ in range(dice.randint(1, 40)):
            letters.insert(dice.randint(0, len(letters)), dice.choice(noise))
        shaken.append("".join(letters))
    return shaken


def _revision(text: str, source_type: SourceType) -> Revision:
    return Revision("rev_bench", text, source_type, datetime(2025, 3, 5, tzinfo=UTC))


def main() -> int:
    configure_logging("WARNING")
    with tempfile.TemporaryDirectory() as home:
        learned = learned_engine(Path(home))
        results = {**intent(learned), **gold(learned), **blind_third(learned)}
        if learned is not None:
            results |= speed(learned, 10 if QUICK else 100)
    results |= {**proof_and_speed(), **asyncio.run(claims())}
    print(json.dumps({"bench": "extract", "results": results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
