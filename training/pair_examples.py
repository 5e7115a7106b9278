"""Writes the pairs of question and passage that the learned ranking learns from, as tokens.

`PYTHONPATH=bench python training/pair_examples.py OUT [MEETINGS]`: passages are cut as the product cuts them, from the
documents of `corpus/` and `library/`, the blind third apart, and MEETINGS (all) of ExplainMeetSum's training split if
`MNEMON_TRAIN_DATA` has it. Beside each gold passage stand those that words alone would find, and its neighbours.
OUT/pairs.npz has the tokens, OUT/minilm.npz the embedder's weights, rows of words that do not occur left empty.
"""

import json
import math
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from public_door import TalkFile
from ranking_examples import EVERY_CLAIM, TRAIN, meeting_queries, own_files
from talk_files import Query, meetings

from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.plain import extract_plain
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.embedded_text import text_to_embed
from mnemon.documents.ingest.structured import with_structure
from mnemon.models.tokens import ModelTokenizer, count_tokens
from mnemon.models.weights import Weights, find_weights

WORDS = "embeddings.word_embeddings.weight"
LONGEST = 160
BY_WORDS, AT_RANDOM, MOST_GOLD = 14, 3, 6
_WORD = re.compile(r"\w+")
_ENDING = re.compile(r"(?:ing|ed|es|s|en|er)$")


class Finder:
    """Texts that stand one after another, found by BM25."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.stems = [Counter(_stems(text)) for text in self.texts]
        self.length = [sum(one.values()) for one in self.stems]
        self.average = sum(self.length) / max(len(self.length), 1)
        self.places: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(self.stems):
            for stem in one:
                self.places[stem].append(number)

    def best(self, question: str) -> list[int]:
        score: dict[int, float] = defaultdict(float)
        for stem in set(_stems(question)):
            places = self.places.get(stem, [])
            weight = math.log(1 + (len(self.texts) - len(places) + 0.5) / (len(places) + 0.5))
            for place in places:
                times = self.stems[place][stem]
                score[place] += weight * times * 1.9 / (times + 0.9 * (0.6 + 0.4 * self.length[place] / self.average))
        # Words stand beside the answer as often as in it: neighbours of what has them are candidates too.
        for place, value in list(score.items()):
            for beside in (place - 1, place + 1):
                if 0 <= beside < len(self.texts):
                    score[beside] += 0.5 * value
        return sorted(score, key=lambda place: (-score[place], place))


class Shelf(Finder):
    """The passages of one group of files."""

    def __init__(self, files: list[TalkFile], tokenizer: ModelTokenizer) -> None:
        self.texts: list[str] = []
        self.before: list[int | None] = []
        self.gold_of: dict[str, set[int]] = defaultdict(set)
        for file in files:
            self._add(file, tokenizer)
        super().__init__(self.texts)

    def _add(self, file: TalkFile, tokenizer: ModelTokenizer) -> None:
        extraction = with_structure(extract_plain(file.text.encode(), DEFAULT_LIMITS))
        first = len(self.texts)
        for one in chunk(extraction, lambda words: count_tokens(tokenizer, words)):
            number = len(self.texts)
            self.before.append(number - 1 if number > first else None)
            self.texts.append(text_to_embed(one.headings, one.text, one.speaker))
            for span in file.spans:
                if span.start < one.end and span.end > one.start:
                    self.gold_of[span.name].add(number)


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.lower()):
        yield _ENDING.sub("", word) if len(word) > 4 else word


class Pairs:
    """Collects questions with their passages."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int]] = []
        self.about: list[list[str]] = []
        self.asked: list[str] = []
        self.texts: list[str] = [""]
        self._number_of = {"": 0}
        self._dice = random.Random(0)

    def add(self, of: str, split: str, group: str, shelf: Shelf, queries: list[Query]) -> None:
        for query in queries:
            gold = sorted({place for name in query.gold for place in shelf.gold_of.get(name, ())})
            if query.gold and not gold:
                continue
            found = [place for place in shelf.best(query.text) if place not in gold]
            beside = [place for one in gold for place in (one - 1, one + 1) if 0 <= place < len(shelf.texts)]
            rest = self._dice.sample(range(len(shelf.texts)), min(AT_RANDOM, len(shelf.texts)))
            others = [one for one in dict.fromkeys([*found[:BY_WORDS], *beside[:4], *rest]) if one not in gold]
            number = len(self.asked)
            self.asked.append(query.text)
            self.about.append([of, split, group])
            for place in [*gold[:MOST_GOLD], *others]:
                before = shelf.before[place]
                self.rows.append((
                    number, self._text(shelf.texts[place]), self._text("" if before is None else shelf.texts[before]),
                    int(place in gold),
                ))  # fmt: skip
        print(f"{of} {split} {group}: {len(self.asked)} questions, {len(self.rows)} pairs", flush=True)

    def _text(self, words: str) -> int:
        if words not in self._number_of:
            self._number_of[words] = len(self.texts)
            self.texts.append(words)
        return self._number_of[words]

    def write(self, out: Path, tokenizer: ModelTokenizer) -> set[int]:
        """The tokens that occur."""
        texts = [tokenizer.ids(one)[:LONGEST] for one in self.texts]
        asked = [tokenizer.ids(one)[:LONGEST] for one in self.asked]
        np.savez_compressed(
            out / "pairs.npz", rows=np.array(self.rows, np.int32), about=np.array(json.dumps(self.about)),
            **ragged("texts", texts), **ragged("asked", asked),
        )  # fmt: skip
        return {token for some in (*texts, *asked) for token in some}


def ragged(name: str, rows: list[list[int]]) -> dict[str, Any]:
    return {
        f"{name}_ids": np.array([token for row in rows for token in row], np.uint16),
        f"{name}_ends": np.cumsum([len(row) for row in rows]).astype(np.int32),
    }


def packed_weights(weights: Weights, used: set[int]) -> dict[str, Any]:
    """In half precision, without the rows of words that do not occur."""
    tensors = {name: value.astype(np.float16) for name, value in weights.tensors().items() if "pooler" not in name}
    rows = np.zeros((len(tensors[WORDS]), 1), bool)
    rows[[0, 101, 102, 103, *used]] = True
    tensors[WORDS] = np.where(rows, tensors[WORDS], np.float16(0))
    return tensors


def main() -> int:
    out, most = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None
    out.mkdir(parents=True, exist_ok=True)
    weights = find_weights()
    tokenizer, pairs, known = ModelTokenizer(weights.tokenizer), Pairs(), list(own_files())
    for split in ("train", "tune"):
        shelf = Shelf([file for of, _, file, _ in known if of == split], tokenizer)
        pairs.add("own", split, split, shelf, [one for of, _, _, some in known if of == split for one in some])
    if (TRAIN / "explainmeetsum").is_dir():
        every, queries = meetings(TRAIN / "explainmeetsum"), meeting_queries()
        step = max(1, len(every) // most) if most else 1
        for group, files in list(every.items())[::step]:
            shelf = Shelf(files, tokenizer)
            pairs.add("meetings", "train", group, shelf, [one for one in queries if one.group == group])
    used = pairs.write(out, tokenizer)
    np.savez_compressed(out / "minilm.npz", **packed_weights(weights, used))
    print(f"{len(pairs.rows)} pairs, {sum(row[3] for row in pairs.rows)} gold, every {EVERY_CLAIM}rd claim")
    return 0


if __name__ == "__main__":
    sys.exit(main())
