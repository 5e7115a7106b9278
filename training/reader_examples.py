"""Writes what the learned reader is trained on: windows of tokens, and the categories of each segment.

`python training/reader_examples.py OUT` writes OUT/examples.json from the labelled documents here, from texts without
labels and, where the folder of evaluation data is there, from the labelled sentences of mail. The training command
reads it on a machine with a GPU.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

import intent_training  # noqa: E402
from extraction_gold import CORPUS, Document, Label, load_documents  # noqa: E402
from passage_labels import LETTERS, load_passages  # noqa: E402
from untold_texts import untold_documents  # noqa: E402

from mnemon.models.tokens import ModelTokenizer  # noqa: E402
from mnemon.models.weights import find_weights  # noqa: E402
from mnemon.semantics.learned.windows import END, START, ReadingWindow, Segment, windows_of  # noqa: E402
from mnemon.semantics.semantic_event import Category  # noqa: E402

CATEGORIES = [category.value for category in Category]
# Of the gold set the parts that were read when rules were made; `held` and `blind` only measure.
GOLD_SPLITS = ("dev", "fresh", "second")
FEWEST_TO_SHIFT = 4
JUDGED = ROOT / "training" / "judged_parts.json"


def examples(tokenizer: ModelTokenizer) -> Iterator[dict[str, Any]]:
    own = [each for each in load_documents(folder=CORPUS) if each.split in ("train", "tune")]
    gold = [each for split in GOLD_SPLITS for each in load_documents(split)]
    for document in own:
        yield from _of_document(document, "corpus", document.split, tokenizer)
    for document in gold:
        yield from _of_document(document, "gold", "train", tokenizer)
    for document in load_passages(ROOT / "training" / "passages"):
        yield from _of_document(document, "passages", "train", tokenizer)
    yield from _untold(tokenizer)
    sentences, labels = intent_training.load() or ([], [])
    for number, (sentence, label) in enumerate(zip(sentences, labels, strict=True)):
        ids = tokenizer.ids(sentence)[:120]
        spans = [[1, len(ids) + 1, [int(label)], 0, 0, 0]]
        yield {"of": "mail", "shifted": 0, "split": "train", "group": f"mail{number % 50}", "name": str(number)} | {
            "language": "en",
            "ids": [START, *ids, END],
            "segments": spans,
        }


def _untold(tokenizer: ModelTokenizer) -> Iterator[dict[str, Any]]:
    """What nobody labelled, other than the parts that were judged by hand; of the others it is not known."""
    judged = judged_parts()
    for document in untold_documents():
        known = judged.get(document.name, {})
        windows = windows_of(document.revision.layout.units, document.revision.title, tokenizer)
        for window in _windows(document, "untold", "train", windows, 0):
            for segment in window["segments"]:
                segment[2] = known.get((segment[4], segment[5]))
            yield window


def judged_parts() -> dict[str, dict[tuple[int, int], list[int]]]:
    """Of each document: numbers of the categories by first and last character."""
    table: dict[str, list[tuple[int, int, str]]] = json.loads(JUDGED.read_text(encoding="utf-8"))["parts"]
    return {
        name: {(start, end): sorted(CATEGORIES.index(LETTERS[one]) for one in found) for start, end, found in parts}
        for name, parts in table.items()
    }


def _of_document(document: Document, source: str, split: str, tokenizer: ModelTokenizer) -> Iterator[dict[str, Any]]:
    """As it is read; and once more with other borders and without its title, so that neither is learned by heart."""
    revision = document.revision
    units = revision.layout.units
    yield from _windows(document, source, split, windows_of(units, revision.title, tokenizer), 0)
    if len(units) > FEWEST_TO_SHIFT:
        yield from _windows(document, source, split, windows_of(units[1:], "", tokenizer), 1)


def _windows(
    document: Document, source: str, split: str, windows: Iterable[ReadingWindow], shifted: int
) -> Iterator[dict[str, Any]]:
    for window in windows:
        yield {
            "of": source,
            "shifted": shifted,
            "split": split,
            "group": document.series or document.name,
            "name": document.name,
            "language": document.language,
            "ids": list(window.ids),
            "segments": [
                [one.first_token, one.last_token, sorted(found), one.unit, one.start, one.end]
                for one in window.segments
                for found in [categories_of(one, document.labels)]
            ],
        }


def categories_of(segment: Segment, labels: Iterable[Label]) -> set[int]:
    """Numbers of the categories that the segment states, or states the better part of."""
    return {
        CATEGORIES.index(label.category)
        for label in labels
        if 2 * (min(segment.end, label.end) - max(segment.start, label.start))
        > min(segment.end - segment.start, label.end - label.start)
    }


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    found = list(examples(ModelTokenizer(find_weights().tokenizer)))
    (folder / "examples.json").write_text(json.dumps({"categories": CATEGORIES, "examples": found}))
    print(f"{len(found)} windows, {sum(len(each['segments']) for each in found)} segments in {folder}/examples.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
