"""Writes what the ranking of passages learns from: for each question its candidates, their parts, and which are gold.

`PYTHONPATH=bench python training/ranking_examples.py OUT [MEETINGS]` puts what `corpus/` and `library/` have, the
blind third apart, and, where `MNEMON_TRAIN_DATA` names a folder with them, the meetings of ExplainMeetSum's training
split into a Mnemon, as files, and asks it their questions. OUT/ranking.npz has a row of parts for each candidate,
OUT/ranking.json the questions with their texts. MEETINGS of the meetings are embedded (24); of the others words alone
find candidates.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from public_door import GoldSpan, TalkFile, names_by_place, put_in, running_mnemon
from talk_files import Query, gold_of, lines, meetings

from mnemon.app import Mnemon
from mnemon.ask.filters import EVERYTHING
from mnemon.ask.measures import PassagePlace
from mnemon.documents.ingest.chunk_store import PASSAGE
from mnemon.documents.ingest.embedded_text import text_to_embed
from mnemon.search.ranking import fuse
from mnemon.telemetry import configure_logging

HERE = Path(__file__).parent
TRAIN = Path(os.environ.get("MNEMON_TRAIN_DATA") or HERE.parents[1] / "shared" / "train")
LEARNED_FROM = ("train", "tune")
# Passages of a question that the cross-encoder learns from: the best of the present order.
KEPT = 24
# A claim of a summary is no question: fewer of them, so that they do not outweigh what people ask.
EVERY_CLAIM = 3
TEXTS = """
SELECT doc_version_id, ordinal, heading_path, speaker, text FROM mnemon.chunks
 WHERE tenant_id = mnemon.current_tenant()
"""
Groups = dict[str, list[TalkFile]]


def own_files() -> Iterator[tuple[str, str, TalkFile, list[Query]]]:
    """Each document with its split, its kind and its questions; quotes are the gold, and some have none."""
    for path in sorted((HERE / "questions").glob("*.jsonl")):
        document = next(
            (one for folder in ("corpus", "library") if (one := HERE / folder / f"{path.stem}.txt").exists()), None
        )
        if document is None:
            continue
        told = json.loads(document.with_suffix(".json").read_text())
        if told["split"] not in LEARNED_FROM:
            continue
        text, spans, queries = document.read_text(), list[GoldSpan](), list[Query]()
        for line in path.read_text().splitlines():
            asked = json.loads(line)
            names = []
            for number, quote in enumerate((*asked["quotes"], *asked.get("alternatives", ()))):
                start = text.find(quote)
                if start >= 0:
                    names.append(f"{asked['id']}/{number}")
                    spans.append(GoldSpan(names[-1], start, start + len(quote)))
            if names or asked.get("unanswerable"):
                queries.append(Query(asked["id"], path.stem, asked["question"], frozenset(names)))
        yield told["split"], str(document.parent.name), TalkFile(document.name, text, spans), queries


def own_groups() -> Iterator[tuple[str, Groups, list[Query]]]:
    """All documents of a split side by side, and each long conversation by itself."""
    known = list(own_files())
    for split in LEARNED_FROM:
        files = [file for of, _, file, _ in known if of == split]
        queries = [
            Query(one.name, split, one.text, one.gold) for of, _, _, some in known if of == split for one in some
        ]
        yield split, {split: files}, queries
        alone = [(file, queries) for of, _, file, queries in known if of == split and "conversation" in file.filename]
        groups = {file.filename.removesuffix(".txt"): [file] for file, _ in alone}
        yield split, groups, [one for _, some in alone for one in some]


def meeting_queries() -> list[Query]:
    folder = TRAIN / "explainmeetsum"
    asked = gold_of("qrels_query_sentence.tsv.gz", 1, folder)
    claimed = gold_of("qrels_claim_sentence.tsv.gz", 1, folder)
    queries = [
        Query(one["id"], one["meeting"], one["query"], asked[one["id"]])
        for one in lines("queries.jsonl.gz", folder)
        if one["id"] in asked
    ]
    return queries + [
        Query(one["id"], one["meeting"], one["text"], claimed[one["id"]])
        for one in lines("claims.jsonl.gz", folder)[::EVERY_CLAIM]
        if one["id"] in claimed
    ]


class Examples:
    """Collects them."""

    def __init__(self) -> None:
        self.names = list(PASSAGE.weights)
        self.rows: list[np.ndarray] = []
        self.labels: list[np.ndarray] = []
        self.questions: list[dict[str, Any]] = []
        self.texts: list[str] = []
        self._number_of: dict[str, int] = {}

    def text(self, words: str) -> int:
        if words not in self._number_of:
            self._number_of[words] = len(self.texts)
            self.texts.append(words)
        return self._number_of[words]

    async def add(self, mnemon: Mnemon, split: str, of: str, groups: Groups, queries: Sequence[Query]) -> None:
        tenants = await put_in(mnemon, groups)
        for group, files in groups.items():
            names, _ = await names_by_place(mnemon, tenants[group], files)
            texts = await _texts(mnemon, tenants[group])
            for query in queries:
                if query.group == group:
                    await self._ask(mnemon, tenants[group], (split, of), query, names, texts)
        print(f"{of} {split}: {len(groups)} groups, {len(self.questions)} questions so far", flush=True)

    async def _ask(
        self, mnemon: Mnemon, tenant: UUID, of: tuple[str, str], query: Query,
        names: dict[PassagePlace, frozenset[str]], texts: dict[PassagePlace, str],
    ) -> None:  # fmt: skip
        asked = await mnemon.searcher.questions.prepare(tenant, PASSAGE, query.text)
        async with mnemon.database.transaction(tenant) as tx:
            ranked = await mnemon.searcher.rank(tx, asked, EVERYTHING, 10)
        rows = np.flatnonzero(ranked.measures.candidate)
        places = [ranked.measures.places[row] for row in rows]
        label = np.array([bool(names[place] & query.gold) for place in places])
        if not label.any() and query.gold:
            return
        parts = np.zeros((len(rows), len(self.names)), np.float32)
        for column, name in enumerate(self.names):
            if name in ranked.parts:
                parts[:, column] = ranked.parts[name][rows]
        place_of = fuse(
            {name: ranked.parts[name][rows] for name in ranked.parts}, PASSAGE.weights, mnemon.searcher.ranking
        )[0]
        best = np.argsort(-place_of, kind="stable")
        kept = list(dict.fromkeys([*np.flatnonzero(label)[:6].tolist(), *best[:KEPT].tolist()]))
        self.rows.append(parts)
        self.labels.append(label)
        self.questions.append({
            "name": query.name, "group": query.group, "split": of[0], "of": of[1], "question": query.text,
            "candidates": len(rows), "dense": ranked.measures.similarity is not None,
            "gold": len(query.gold),
            "kept": [
                [one, self.text(texts[places[one]]), self.text(texts.get((places[one][0], places[one][1] - 1), ""))]
                for one in kept
            ],
        })  # fmt: skip

    def write(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        np.savez(out / "ranking.npz", parts=np.concatenate(self.rows), labels=np.concatenate(self.labels))
        told = {"parts": self.names, "questions": self.questions, "texts": self.texts}
        (out / "ranking.json").write_text(json.dumps(told))


async def _texts(mnemon: Mnemon, tenant: UUID) -> dict[PassagePlace, str]:
    async with mnemon.database.transaction(tenant) as tx:
        rows = await (await tx.execute(TEXTS)).fetchall()
    return {
        (row["doc_version_id"], row["ordinal"]): text_to_embed(row["heading_path"], row["text"], row["speaker"])
        for row in rows
    }


async def main() -> None:
    configure_logging("WARNING")
    out, embedded = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 24
    examples = Examples()
    async with running_mnemon() as mnemon:
        for split, groups, queries in own_groups():
            await examples.add(mnemon, split, "own", groups, queries)
            examples.write(out)
        if (TRAIN / "explainmeetsum").is_dir():
            every, queries = meetings(TRAIN / "explainmeetsum"), meeting_queries()
            chosen = dict(list(every.items())[:: max(1, len(every) // embedded)][:embedded])
            await examples.add(mnemon, "train", "meetings", chosen, queries)
    examples.write(out)
    if (TRAIN / "explainmeetsum").is_dir():
        async with running_mnemon(embedder="none") as mnemon:
            others = {name: files for name, files in every.items() if name not in chosen}
            await examples.add(mnemon, "train", "meetings", others, queries)
    examples.write(out)


if __name__ == "__main__":
    asyncio.run(main())
