"""Writes the pairs of question and statement that the reading of statements learns from, as tokens.

`PYTHONPATH=bench:training python training/statement_examples.py OUT`: the statements are those that
`statement_candidates.py` finds. Where `MNEMON_TRAIN_DATA` has ExplainMeetSum's training split, its questions and some
claims are added, sentence by sentence.
OUT/statements.npz has the tokens, OUT/minilm.npz the embedder's weights, rows of words that do not occur left empty.
"""

import json
import random
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from pair_examples import Finder, packed_weights, ragged
from ranking_examples import TRAIN
from statement_candidates import asked_of_texts
from talk_files import gold_of, lines

from mnemon.ask.learned.pairs import Heard, ReadStatement
from mnemon.ask.quoting.hearing import Hearing
from mnemon.ask.quoting.needs import need_of
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import find_weights

LONGEST, MOST_WORDS = 64, 14
BY_WORDS, AT_RANDOM, MOST_GOLD = 14, 2, 4
# Of the claims of meetings, which are no questions.
EVERY_CLAIM = 6
# Stands for a word that no token begins with.
NOWHERE = 999


class Pairs:
    """Collects questions, each with its statements."""

    def __init__(self, tokenizer: ModelTokenizer) -> None:
        self._tokenizer = tokenizer
        self.rows: list[tuple[int, ...]] = []
        self.heard: list[list[int]] = []
        self.about: list[list[str]] = []
        self.asked: list[list[int]] = []
        self.places: list[list[int]] = []
        self.answers: list[list[int]] = []
        self.texts: list[str] = [""]
        self._number_of = {"": 0}

    def add(
        self, about: list[str], question: str, places: tuple[int, ...], answer: str,
        statements: list[tuple[ReadStatement, bool]],
    ) -> None:  # fmt: skip
        number = len(self.asked)
        ids, spans = self._tokenizer.encode(question)
        first = {start: place for place, (start, _) in enumerate(spans)}
        self.asked.append(ids[:LONGEST])
        self.places.append([first.get(place, NOWHERE) for place in places][:MOST_WORDS])
        self.answers.append(self._tokenizer.ids(answer)[:LONGEST])
        self.about.append(about)
        for one, gold in statements:
            parts = (one.words, one.before, one.head, one.after)
            self.rows.append((number, *map(self._text, parts), int(gold)))
            heard = [*one.heard[:MOST_WORDS]]
            self.heard.append(heard + [0] * (MOST_WORDS - len(heard)))

    def _text(self, words: str) -> int:
        if words not in self._number_of:
            self._number_of[words] = len(self.texts)
            self.texts.append(words)
        return self._number_of[words]

    def write(self, out: Path) -> set[int]:
        texts = [self._tokenizer.ids(one) for one in self.texts]
        # Of long ones the first and the last: which of them is read depends on the part that they stand in.
        texts = [one if len(one) <= 2 * LONGEST else [*one[:LONGEST], *one[-LONGEST:]] for one in texts]
        np.savez_compressed(
            out / "statements.npz", rows=np.array(self.rows, np.int32), heard=np.array(self.heard, np.uint8),
            about=np.array(json.dumps(self.about)), **ragged("texts", texts), **ragged("asked", self.asked),
            **ragged("places", self.places), **ragged("answers", self.answers),
        )  # fmt: skip
        return {token for some in (*texts, *self.asked) for token in some}


def add_meetings(pairs: Pairs, folder: Path) -> None:
    asked = gold_of("qrels_query_sentence.tsv.gz", 1, folder)
    claimed = gold_of("qrels_claim_sentence.tsv.gz", 1, folder)
    queries = [(one["meeting"], one["query"], asked.get(one["id"])) for one in lines("queries.jsonl.gz", folder)]
    queries += [
        (one["meeting"], one["text"], claimed.get(one["id"])) for one in lines("claims.jsonl.gz", folder)[::EVERY_CLAIM]
    ]
    of: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for meeting, question, gold in queries:
        if gold:
            of[meeting].append((question, gold))
    for meeting, sentences in groupby(lines("sentences.jsonl.gz", folder), key=lambda one: one["meeting"]):
        _add_meeting(pairs, meeting, list(sentences), of[meeting])


def _add_meeting(
    pairs: Pairs, meeting: str, said: list[dict[str, Any]], asked: list[tuple[str, frozenset[str]]]
) -> None:
    texts = [f"{one['speaker']}: {' '.join(one['text'].split())}" for one in said]
    finder, dice = Finder(texts), random.Random(meeting)
    for question, names in asked:
        gold = [place for place, one in enumerate(said) if one["id"] in names]
        found = [place for place in finder.best(question) if place not in gold]
        beside = [place for one in gold for place in (one - 1, one + 1) if 0 <= place < len(texts)]
        rest = dice.sample(range(len(texts)), min(AT_RANDOM, len(texts)))
        others = [one for one in dict.fromkeys([*found[:BY_WORDS], *beside[:3], *rest]) if one not in gold]
        kept = dice.sample(gold, min(MOST_GOLD, len(gold)))
        need = need_of(question)
        read = _read_talk(texts, [*kept, *others], Hearing(need.words), len(need.words))
        statements = list(zip(read, [place in gold for place in (*kept, *others)], strict=True))
        pairs.add(["meetings", "train", meeting, "", ""], question, need.places, "", statements)


def _read_talk(texts: list[str], places: list[int], hearing: Hearing, words: int) -> list[ReadStatement]:
    before = {place: " ".join(texts[max(0, place - 2) : place]) for place in places}
    said = {place: frozenset().union(*hearing.heard_in(texts[place])) for place in places}
    around = {place: frozenset().union(*hearing.heard_in(before[place])) for place in places}
    every = frozenset().union(*said.values(), *around.values())

    def heard(place: int, number: int) -> int:
        if number in said[place]:
            return Heard.SAID
        if number in around[place]:
            return Heard.AROUND
        return Heard.ELSEWHERE if number in every else Heard.NOWHERE

    return [
        ReadStatement(
            texts[place], before[place], "", texts[place + 1] if place + 1 < len(texts) else "",
            tuple(int(heard(place, number)) for number in range(words)),
        )
        for place in places
    ]  # fmt: skip


def main() -> int:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    weights = find_weights()
    tokenizer = ModelTokenizer(weights.tokenizer)
    pairs = Pairs(tokenizer)
    for one in asked_of_texts(tokenizer):
        asked = one.question
        about = ["own", asked.split, asked.document, asked.name, asked.unanswerable or ""]
        pairs.add(about, asked.text, one.need.places, asked.answer or "", one.statements)
    if (TRAIN / "explainmeetsum").is_dir():
        add_meetings(pairs, TRAIN / "explainmeetsum")
    used = pairs.write(out)
    np.savez_compressed(out / "minilm.npz", **packed_weights(weights, used))
    counts = {of: sum(one[0] == of for one in pairs.about) for of in ("own", "meetings")}
    print(f"{counts} questions, {len(pairs.rows)} pairs, {sum(row[5] for row in pairs.rows)} gold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
