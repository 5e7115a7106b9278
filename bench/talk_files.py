"""The evaluation data as files that users would have: LoCoMo conversations as chats, meetings as transcripts."""

import gzip
import json
import os
from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from public_door import GoldSpan, TalkFile

DATA = Path(os.environ.get("MNEMON_EVAL_DATA") or Path(__file__).parents[2] / "shared" / "eval")


@dataclass(frozen=True)
class Query:
    """A question, what it should find, and which group of files it is asked of."""

    name: str
    group: str
    text: str
    gold: frozenset[str]
    category: int = 0


def lines(path: str, folder: Path = DATA) -> list[dict[str, Any]]:
    with gzip.open(folder / path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def gold_of(path: str, least: int, folder: Path = DATA) -> dict[str, frozenset[str]]:
    gold = defaultdict(set)
    raw = folder / path
    text = gzip.decompress(raw.read_bytes()).decode() if raw.suffix == ".gz" else raw.read_text()
    for line in text.splitlines():
        query, passage, grade = line.split("\t")
        if int(grade) >= least:
            gold[query].add(passage)
    return {query: frozenset(passages) for query, passages in gold.items()}


def locomo() -> tuple[dict[str, list[TalkFile]], list[Query]]:
    """Each conversation is one chat: above each session its hour and day, then a line for each turn."""
    groups = {}
    for name, said in groupby(lines("locomo/corpus.jsonl.gz"), key=lambda turn: turn["conv"]):
        turns = list(said)
        people = list(dict.fromkeys(turn["speaker"] for turn in turns))
        writer = _Writer(f"Chat of {' and '.join(people)}\n")
        for day, session in groupby(turns, key=lambda turn: turn["date"]):
            writer.add(f"\n{day}\n\n")
            for turn in session:
                caption = f" [shares {turn['image_caption']}]" if turn["image_caption"] else ""
                writer.add(" ".join(f"{turn['speaker']}: {turn['text']}{caption}".split()), turn["id"])
                writer.add("\n")
        groups[name] = [writer.file(f"{name}.txt")]
    gold = gold_of("locomo/qrels.tsv", 1)
    queries = [
        Query(one["id"], one["conv"], one["question"], gold[one["id"]], one["category"])
        for one in lines("locomo/queries.jsonl.gz")
        if one["id"] in gold
    ]
    return groups, queries


def meetings(folder: Path = DATA / "explainmeetsum") -> dict[str, list[TalkFile]]:
    """Each meeting is one transcript, a line for each turn. What is asked for are its sentences."""
    groups = {}
    for name, meeting in groupby(lines("sentences.jsonl.gz", folder), key=lambda sentence: sentence["meeting"]):
        writer = _Writer("")
        for (_, speaker), turn in groupby(meeting, key=lambda sentence: (sentence["turn"], sentence["speaker"])):
            writer.add(f"{speaker}:")
            for sentence in turn:
                writer.add(" ")
                writer.add(" ".join(sentence["text"].split()), sentence["id"])
            writer.add("\n")
        groups[name] = [writer.file(f"{name}.txt")]
    return groups


def claims() -> tuple[dict[str, list[TalkFile]], list[Query]]:
    """Gold is the central evidence of each claim."""
    gold = gold_of("explainmeetsum/qrels_claim_sentence.tsv", 2)
    queries = [
        Query(one["id"], one["meeting"], one["text"], gold[one["id"]])
        for one in lines("explainmeetsum/claims.jsonl.gz")
        if one["id"] in gold
    ]
    return meetings(), queries


class _Writer:
    """Puts a file together and remembers where what stands."""

    def __init__(self, head: str) -> None:
        self._parts, self._length, self._spans = [head], len(head), list[GoldSpan]()

    def add(self, words: str, name: str | None = None) -> None:
        if name is not None and words:
            self._spans.append(GoldSpan(name, self._length, self._length + len(words)))
        self._parts.append(words)
        self._length += len(words)

    def file(self, filename: str) -> TalkFile:
        return TalkFile(filename, "".join(self._parts), self._spans)
