"""Labelled spans in few letters, as the log and the lens keep them: "n120 q1:300 a45" are labels with their lengths."""

from collections.abc import Sequence

from mnemon.mail.spans.labels import LabelledSpan, SpanLabel

LETTERS: dict[SpanLabel, str] = {
    "new": "n", "quote": "q", "attribution": "a", "signature": "s", "footer": "f", "forwarded": "w", "code": "c",
    "ballot": "b",
}  # fmt: skip
LABELS = {letter: label for label, letter in LETTERS.items()}


def written_spans(spans: Sequence[LabelledSpan]) -> str:
    return " ".join(f"{LETTERS[one.label]}{f'{one.depth}:' if one.depth else ''}{one.end - one.start}" for one in spans)


def read_spans(written: str) -> tuple[LabelledSpan, ...]:
    spans: list[LabelledSpan] = []
    at = 0
    for word in written.split():
        depth, _, length = word[1:].rpartition(":")
        end = at + int(length)
        spans.append(LabelledSpan(LABELS[word[0]], at, end, int(depth or 0)))
        at = end
    return tuple(spans)
