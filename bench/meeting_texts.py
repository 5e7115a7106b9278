"""Writes the evaluation meetings as transcripts, a line for each turn."""

import gzip
import json
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path


def meeting_texts(folder: Path, most: int | None) -> Iterator[str]:
    path = folder / "sentences.jsonl.gz"
    if not path.exists():
        return
    with gzip.open(path, "rt", encoding="utf-8") as file:
        meetings = groupby(map(json.loads, file), key=lambda sentence: sentence["meeting"])
        for _, sentences in islice(meetings, most):
            turns = groupby(sentences, key=lambda sentence: (sentence["turn"], sentence["speaker"]))
            yield "\n".join(f"{speaker}: {' '.join(each['text'] for each in turn)}" for (_, speaker), turn in turns)
