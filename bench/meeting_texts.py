"""Writes the evaluation meetings as transcripts, a line for each turn."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from claim_ranking import by_meeting


def meeting_texts(folder: Path, most: int | None) -> Iterator[str]:
    if not folder.exists():
        return
    for sentences in list(by_meeting(folder / "sentences.jsonl.gz").values())[:most]:
        turns = groupby(sentences, key=lambda sentence: (sentence["turn"], sentence["speaker"]))
        yield "\n".join(f"{speaker}: {' '.join(each['text'] for each in turn)}" for (_, speaker), turn in turns)
