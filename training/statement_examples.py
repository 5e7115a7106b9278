"""Writes the pairs of question and statement that the reading of statements learns from, as tokens.

`PYTHONPATH=bench:training python training/statement_examples.py HOME OUT`: HOME/examples.pickle is what
`fit_answers.py HOME collect` measured, so that candidates are those of the product. Beside each question that names a
person, a time or a number stands one that names another: nothing answers that. Where `MNEMON_TRAIN_DATA` has
ExplainMeetSum's training split, its questions and some claims are added, sentence by sentence.
OUT/statements.npz has the tokens, OUT/minilm.npz the embedder's weights, rows of words that do not occur left empty.
"""

import json
import pickle
import random
import re
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from fit_answers import Example
from pair_examples import Finder, packed_weights, ragged
from ranking_examples import TRAIN
from talk_files import gold_of, lines

from mnemon.ask.learned.pairs import ReadStatement
from mnemon.ask.quoting import things
from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import find_weights

LONGEST = 64
BY_WORDS, AT_RANDOM, MOST_GOLD = 14, 2, 4
# The share of questions beside which one stands that is about something else.
FAR = 0.25
# Of the claims of meetings, which are no questions.
EVERY_CLAIM = 6
_SPEAKER = re.compile(r"^([^\W\d_a-z][\w.'’-]+(?: [^\W\d_a-z][\w.'’-]*)*): ")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Pairs:
    """Collects questions, each with its statements."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int, int]] = []
        self.about: list[list[str]] = []
        self.asked: list[str] = []
        self.texts: list[str] = [""]
        self._number_of = {"": 0}

    def add(self, about: list[str], question: str, statements: list[tuple[ReadStatement, bool]]) -> None:
        number = len(self.asked)
        self.asked.append(question)
        self.about.append(about)
        for one, gold in statements:
            self.rows.append((number, *map(self._text, one), int(gold)))

    def _text(self, words: str) -> int:
        if words not in self._number_of:
            self._number_of[words] = len(self.texts)
            self.texts.append(words)
        return self._number_of[words]

    def write(self, out: Path, tokenizer: ModelTokenizer) -> set[int]:
        texts = [tokenizer.ids(one) for one in self.texts]
        # Of long ones the first and the last: which of them is read depends on the part that they stand in.
        texts = [one if len(one) <= 2 * LONGEST else [*one[:LONGEST], *one[-LONGEST:]] for one in texts]
        asked = [tokenizer.ids(one)[:LONGEST] for one in self.asked]
        np.savez_compressed(
            out / "statements.npz", rows=np.array(self.rows, np.int32), about=np.array(json.dumps(self.about)),
            **ragged("texts", texts), **ragged("asked", asked),
        )  # fmt: skip
        return {token for some in (*texts, *asked) for token in some}


def people_of(examples: list[Example]) -> dict[str, list[str]]:
    """By document: whoever speaks there or is named in full."""
    found: dict[str, set[str]] = defaultdict(set)
    for one in examples:
        for text in one.texts:
            if speaker := _SPEAKER.match(text.words):
                found[one.question.document].add(speaker[1])
            found[one.question.document] |= set(things.PERSON.findall(text.words))
    return {document: sorted(names) for document, names in found.items()}


def of_another(question: str, people: list[str], dice: random.Random) -> str | None:
    """The question about another person, or else another time or number; None where it names none."""
    named = [name for name in people if any(_has(question, part) for part in _parts(name))]
    others = [name for name in people if name not in named]
    if named and others and dice.random() < 0.7:
        name, other = dice.choice(named), dice.choice(others)
        for part in _parts(name):
            new = _parts(other)[0 if part == _parts(name)[0] else -1]
            question = re.sub(rf"\b{re.escape(part)}\b", new, question)
        return question
    places = [found for found in _WORD.finditer(question) if found[0].isdigit() or found[0].lower() in CALENDAR]
    if not places:
        return None
    found = dice.choice(places)
    return question[: found.start()] + _other_time(found[0], dice) + question[found.end() :]


CALENDAR: dict[str, list[str]] = {}
for _names in (MONTHS, WEEKDAYS):
    for _one in _names:
        CALENDAR[_one] = [other for other in _names if len(other) > 3 and other != _one]


def _other_time(word: str, dice: random.Random) -> str:
    if _YEAR.fullmatch(word):
        return str(int(word) + dice.choice((-3, -2, -1, 1, 2, 3)))
    if word.isdigit():
        return str(max(1, int(word) + dice.choice((-7, -3, -2, 2, 3, 5, 8))) if len(word) < 3 else int(word) * 3)
    return dice.choice(CALENDAR[word.lower()]).capitalize()


def _parts(name: str) -> list[str]:
    return [part for part in name.split() if len(part) > 2] or [name]


def _has(question: str, part: str) -> bool:
    return re.search(rf"\b{re.escape(part)}\b", question) is not None


def add_own(pairs: Pairs, examples: list[Example]) -> None:
    people, dice = people_of(examples), random.Random(0)
    for one in examples:
        asked = one.question
        about = [asked.split, asked.document, asked.name, asked.unanswerable or ""]
        pairs.add(["own", *about], asked.text, list(zip(one.texts, one.gold, strict=True)))
        for _ in range(2):
            other = of_another(asked.text, people.get(asked.document, []), dice)
            if other and not asked.unanswerable and other != asked.text:
                pairs.add(["other", *about], other, _none_of(one))
        # What is asked elsewhere, nothing here answers.
        far = dice.choice(examples)
        if dice.random() < FAR and far.question.document != asked.document:
            pairs.add(["other", *about], far.question.text, _none_of(one))


def _none_of(one: Example) -> list[tuple[ReadStatement, bool]]:
    return [(text, False) for text in one.texts[:16]]


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
        statements = [
            (ReadStatement(texts[place], texts[place - 1] if place else "", ""), place in gold)
            for place in [*kept, *others]
        ]
        pairs.add(["meetings", "train", meeting, "", ""], question, statements)


def main() -> int:
    home, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    weights = find_weights()
    tokenizer, pairs = ModelTokenizer(weights.tokenizer), Pairs()
    add_own(pairs, pickle.loads((home / "examples.pickle").read_bytes()))
    if (TRAIN / "explainmeetsum").is_dir():
        add_meetings(pairs, TRAIN / "explainmeetsum")
    used = pairs.write(out, tokenizer)
    np.savez_compressed(out / "minilm.npz", **packed_weights(weights, used))
    counts = {of: sum(one[0] == of for one in pairs.about) for of in ("own", "other", "meetings")}
    print(f"{counts} questions, {len(pairs.rows)} pairs, {sum(row[4] for row in pairs.rows)} gold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
