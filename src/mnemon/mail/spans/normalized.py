"""The new text of a message alone."""

from collections.abc import Sequence

from mnemon.mail.spans.labels import LabelledSpan


def new_text(source: str, spans: Sequence[LabelledSpan]) -> str:
    """What the sender wrote himself, each stretch on lines of its own."""
    words = (source[span.start : span.end].strip() for span in spans if span.label == "new")
    return "\n".join(filter(None, words))
