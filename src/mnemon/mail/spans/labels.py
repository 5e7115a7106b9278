"""What the parts of a message's text are called."""

from typing import Literal, NamedTuple

SpanLabel = Literal["new", "quote", "attribution", "signature", "footer", "forwarded", "code", "ballot"]


class LabelledSpan(NamedTuple):
    """`text[start:end]` is of one kind. Spans of a text follow each other without gaps."""

    label: SpanLabel
    start: int
    end: int
    # Of a quotation: 1 for what is answered, 2 for what that answered.
    depth: int = 0
