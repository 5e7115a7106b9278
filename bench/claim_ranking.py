"""Finds the sentences of a meeting that support a claim, to measure the step from a statement to its quote."""

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemon.semantics.wording import content_words

Scores = NDArray[np.float64]
# Scores of every sentence for each claim.
Ranking = Callable[[Sequence[str], Sequence[str]], list[Scores]]

NEIGHBOURS = 3
NEIGHBOUR_WEIGHT = 0.5
K1, B = 1.2, 0.75


def lexical_ranking(claims: Sequence[str], sentences: Sequence[str]) -> list[Scores]:
    """BM25 of the sentence and, at half weight, of what is said around it. Stands in for the ranking of search."""
    words = [sorted(content_words(_spoken(sentence))) for sentence in sentences]
    around = [
        list(chain.from_iterable(words[max(0, at - NEIGHBOURS) : at + NEIGHBOURS + 1])) for at in range(len(words))
    ]
    alone, near = _Bm25(words), _Bm25(around)
    wanted = [content_words(claim) for claim in claims]
    return [alone.scores(query) + NEIGHBOUR_WEIGHT * near.scores(query) for query in wanted]


def recall_at_10(folder: Path, ranking: Ranking, most_meetings: int | None) -> tuple[float, int] | None:
    """Mean share of a claim's marked sentences among the first ten; and how many claims were asked."""
    if not folder.exists():
        return None
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels_claim_sentence.tsv").read_text().splitlines():
        claim, sentence, _ = line.split("\t")
        relevant[claim].add(sentence)
    sentences = by_meeting(folder / "sentences.jsonl.gz")
    claims = by_meeting(folder / "claims.jsonl.gz")
    recalls: list[float] = []
    for meeting in list(claims)[:most_meetings]:
        asked = [claim for claim in claims[meeting] if claim["id"] in relevant]
        scores = ranking([claim["text"] for claim in asked], [sentence["text"] for sentence in sentences[meeting]])
        for claim, score in zip(asked, scores, strict=True):
            first = {sentences[meeting][at]["id"] for at in np.argsort(-score, kind="stable")[:10]}
            recalls.append(len(first & relevant[claim["id"]]) / len(relevant[claim["id"]]))
    return float(np.mean(recalls)), len(recalls)


class _Bm25:
    """Over the sentences of one meeting."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self.size = len(documents)
        lengths = np.array([len(document) for document in documents], float)
        self.damping = K1 * (1 - B + B * lengths / max(1.0, lengths.mean()))
        self.places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, document in enumerate(documents):
            for word, count in Counter(document).items():
                self.places[word].append((at, count))

    def scores(self, query: frozenset[str]) -> Scores:
        total = np.zeros(self.size)
        for word in query:
            places = self.places.get(word, [])
            rarity = math.log(1 + (self.size - len(places) + 0.5) / (len(places) + 0.5))
            for at, count in places:
                total[at] += rarity * count * (K1 + 1) / (count + self.damping[at])
        return total


def by_meeting(path: Path) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            grouped[row["meeting"]].append(row)
    return grouped


def _spoken(sentence: str) -> str:
    return re.sub(r"\{\w+\}", "", sentence)
