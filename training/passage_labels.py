"""Reads short labelled passages: text in which each event stands in braces behind the letter of its category."""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from extraction_gold import Document, Label

from mnemon.semantics.extract.revision import Revision

LETTERS = {
    "C": "Commitment", "E": "Execution", "D": "Decision", "K": "Collaboration",
    "Q": "QualityRisk", "F": "Feedback", "G": "Change", "S": "Stakeholder",
}  # fmt: skip
_HEAD = re.compile(r"^=== (?P<language>\w\w) (?P<type>\w+) \| (?P<title>.*)$", re.MULTILINE)
_MARKED = re.compile(r"\{(?P<letters>[CEDKQFGS]+) (?P<words>[^{}]*)\}")


def load_passages(folder: Path) -> list[Document]:
    return [one for path in sorted(folder.glob("*.txt")) for one in _passages(path)]


def _passages(path: Path) -> list[Document]:
    text = path.read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        _passage(f"{path.stem}-{number}", head, text[head.end() : end].strip() + "\n")
        for number, (head, end) in enumerate(zip(heads, ends, strict=True), 1)
    ]


def _passage(name: str, head: re.Match[str], marked: str) -> Document:
    plain, labels, at = "", [], 0
    for match in _MARKED.finditer(marked):
        plain += marked[at : match.start()]
        start = len(plain)
        plain += match["words"]
        labels += [
            Label(LETTERS[letter], start, len(plain), match["words"], (), "", None, None) for letter in match["letters"]
        ]
        at = match.end()
    plain += marked[at:]
    if "{" in plain or "}" in plain:
        raise ValueError(f"{name}: a brace that marks nothing in {plain!r}")
    revision = Revision(f"rev_{name}", plain, head["type"], datetime(2026, 3, 4, tzinfo=UTC), title=head["title"])  # type: ignore[arg-type]
    return Document(name, "train", revision, tuple(labels), head["language"])
