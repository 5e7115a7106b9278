"""Writes what the reader of stances is trained on: windows of tokens, and the stances of each sentence.

`python training/stance_examples.py OUT [alone]` writes OUT/examples.json from the threads and the short statements,
and from texts without labels, in the shape that `train_readers.py` reads: messages with what stands around them, or
alone. The blind third is in none of it.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from untold_texts import untold_mail

from mnemon.mail.consensus.discussion import DiscussedMessage, Discussion
from mnemon.mail.consensus.said import SaidSentence, sentences_of
from mnemon.mail.consensus.situation import Situation, situation_of
from mnemon.mail.consensus.stances import JUDGED, Stance
from mnemon.mail.consensus.windows import ALONE, SITUATED, StanceWindow, WindowLayout, stance_windows
from mnemon.mail.spans.labelling import label_text
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import find_weights

HERE = Path(__file__).parent
LETTERS: dict[str, Stance] = {
    "S": "support",
    "C": "support_conditional",
    "O": "object",
    "W": "withdraw",
    "Q": "question",
} | {
    "R": "conclude",
    "N": "neutral",
}


def load_threads(*splits: str) -> list[dict[str, Any]]:
    threads = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((HERE / "threads").glob("*.json"))]
    return [thread for thread in threads if thread["split"] in splits]


def discussion_of(thread: dict[str, Any]) -> Discussion:
    """As it comes from the lens after an import."""
    messages = [
        DiscussedMessage(
            each["id"],
            each["from"],
            each["from"],
            thread["subject"],
            datetime.fromisoformat(each["date"]),
            each["body"],
            label_text(each["body"]),
            each["reply_to"],
        )
        for each in thread["messages"]
    ]
    return Discussion(thread["subject"], tuple(messages))


def stances_in(said: SaidSentence, body: str, labels: Iterable[dict[str, Any]]) -> set[Stance]:
    """The stances whose words are the better part of the sentence, or of which it is the better part."""
    found: set[Stance] = set()
    for label in labels:
        start = body.find(label["quote"])
        while start >= 0:
            end = start + len(label["quote"])
            shared = min(said.end, end) - max(said.start, start)
            if 2 * shared > min(said.end - said.start, end - start):
                found.add(label["stance"])
                break
            start = body.find(label["quote"], start + 1)
    return found - {"neutral"}


def examples(tokenizer: ModelTokenizer, layout: WindowLayout) -> Iterator[dict[str, Any]]:
    for thread in load_threads("train", "tune"):
        discussion = discussion_of(thread)
        for told, message in zip(thread["messages"], discussion.messages, strict=True):
            said = sentences_of(message.text, message.spans)
            whole = situation_of(message, discussion)
            about = {"of": "corpus", "split": thread["split"], "group": told["id"][:3], "name": told["id"]}
            about |= {"language": thread["language"]}
            # Seen alone now and then, as where nobody knows what it answers.
            alone = Situation(whole.subject, whole.is_opener)
            for situation in [whole, alone] if layout.is_situated and whole != alone else [whole]:
                for window in stance_windows(said, situation, tokenizer, layout):
                    wanted = [stances_in(said[place], message.text, told["labels"]) for place, _, _ in window.sentences]
                    yield about | _windowed(window, said, wanted) | {"shifted": situation is not whole}
    for document in untold_mail():
        body = document.revision.text
        said = sentences_of(body, label_text(body))
        for window in stance_windows(said, Situation(document.revision.title), tokenizer, layout):
            about = {"of": "untold", "split": "train", "group": "untold", "name": document.name}
            yield about | {"language": document.language} | _windowed(window, said, [set() for _ in window.sentences])
    for number, line in enumerate((HERE / "stances.txt").read_text(encoding="utf-8").splitlines()):
        if line.startswith("#"):
            continue
        letter, _, words = line.partition("|")
        answered, _, words = words.rpartition(" > ")
        said = [SaidSentence(0, len(words), words, answered)]
        wanted = [{LETTERS[letter]} - {"neutral"}]
        for window in stance_windows(said, Situation("", letter == "R"), tokenizer, layout):
            about = {"of": "passages", "split": "train", "group": "passages", "name": str(number), "language": "en"}
            yield about | _windowed(window, said, wanted)


def _windowed(window: StanceWindow, said: list[SaidSentence], wanted: list[set[Stance]]) -> dict[str, Any]:
    segments = [
        [first, last, sorted(JUDGED.index(one) for one in stances), place, said[place].start, said[place].end]
        for (place, first, last), stances in zip(window.sentences, wanted, strict=True)
    ]
    return {"ids": list(window.ids), "segments": segments, "shifted": False}


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    layout = ALONE if sys.argv[2:] == ["alone"] else SITUATED
    found = list(examples(ModelTokenizer(find_weights().tokenizer), layout))
    (folder / "examples.json").write_text(json.dumps({"categories": JUDGED, "examples": found}))
    print(f"{len(found)} windows, {sum(len(each['segments']) for each in found)} sentences in {folder}/examples.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
