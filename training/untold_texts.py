"""Texts without labels that the learned reader is taught with: what its teachers make of them is what it learns.

The library and the threads, their blind parts apart, and, where `MNEMON_TRAIN_DATA` names the folder that holds
`explainmeetsum`, stretches of meetings and what was written about them.
"""

import gzip
import json
import os
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from extraction_gold import Document

from mnemon.semantics.extract.revision import Revision

HERE = Path(__file__).parent
KNOWN = ("train", "tune")
STRETCH = 80
TURNS = 8
_HEARD = re.compile(r"\{\w+\}")
_SPACED = re.compile(r"\s+(?=[.,?!;:'])")
Kind = Literal["doc", "email", "transcript"]


def untold_documents() -> Iterator[Document]:
    yield from _library()
    yield from _threads()
    if (folder := Path(os.environ.get("MNEMON_TRAIN_DATA", "")) / "explainmeetsum").is_dir():
        yield from _meetings(folder)
        yield from _written(folder)


def untold_mail() -> Iterator[Document]:
    """What people write and say to one another: mail, chats and tickets of the corpus, and the longest turns of
    meetings, each as one message."""
    for path in sorted((HERE / "corpus").glob("*.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["split"] in KNOWN and about["source"]["type"] in ("email", "chat", "ticket"):
            text = path.with_suffix(".txt").read_text(encoding="utf-8")
            yield _document(path.stem, text, about["source"]["title"] or "", "email", about["language"])
    if (folder := Path(os.environ.get("MNEMON_TRAIN_DATA", "")) / "explainmeetsum").is_dir():
        for meeting, rows in groupby(_lines(folder / "sentences.jsonl.gz"), lambda row: row["meeting"]):
            turns = [
                " ".join(_clean(row["text"]) for row in turn) for _, turn in groupby(rows, lambda row: row["turn"])
            ]
            for number, turn in enumerate(sorted(turns, key=len)[-TURNS:]):
                yield _document(f"turn-{meeting}-{number}", turn, "", "email", "en")


def _library() -> Iterator[Document]:
    for path in sorted((HERE / "library").glob("*.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["split"] in KNOWN:
            text = path.with_suffix(".txt").read_text(encoding="utf-8")
            yield _document(path.stem, text, about.get("title") or "", "doc", about["language"])


def _threads() -> Iterator[Document]:
    for path in sorted((HERE / "threads").glob("*.json")):
        thread = json.loads(path.read_text(encoding="utf-8"))
        if thread["split"] in KNOWN:
            for message in thread["messages"]:
                name = f"thread-{path.stem}-{message['id']}"
                yield _document(name, message["body"], thread["subject"], "email", thread["language"])


def _meetings(folder: Path) -> Iterator[Document]:
    """A stretch out of the middle of each, a line for each turn."""
    for meeting, rows in groupby(_lines(folder / "sentences.jsonl.gz"), lambda row: row["meeting"]):
        said = list(rows)
        begin = max(0, len(said) // 2 - STRETCH // 2)
        turns = groupby(said[begin : begin + STRETCH], lambda row: (row["turn"], row["speaker"]))
        lines = [f"{speaker}: {' '.join(_clean(row['text']) for row in turn)}" for (_, speaker), turn in turns]
        yield _document(f"meeting-{meeting}", "\n".join(lines), "", "transcript", "en")


def _written(folder: Path) -> Iterator[Document]:
    for meeting, rows in groupby(_lines(folder / "claims.jsonl.gz"), lambda row: row["meeting"]):
        said = list(dict.fromkeys(_clean(row["text"]) for row in rows))
        yield _document(f"written-{meeting}", "\n".join(said), "", "doc", "en")


def _clean(text: str) -> str:
    return _SPACED.sub("", " ".join(_HEARD.sub(" ", text).split()))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _document(name: str, text: str, title: str, kind: Kind, language: str) -> Document:
    revision = Revision(f"rev_{name}", text, kind, datetime(2026, 3, 4, tzinfo=UTC), title=title)
    return Document(name, "train", revision, (), language)
