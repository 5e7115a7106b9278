"""A sentence of an answer, with the words that prove it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mnemon.ask.citations import Citation, MemoryCitation

# An answer may show beside what stands what it replaced, what was denied, what came since, and the other side.
SentenceRole = Literal["answer", "replaced", "denied", "since", "earlier", "disagrees"]
_STOPPED = re.compile(r"[.!?…:;。！？][\"'”’»)\]*_]*\Z")


@dataclass(frozen=True)
class ProvenSentence:
    """A sentence, and the words of the sources that prove it: of documents, or of memory objects.

    `role` tells what it is to the answer; `note` is what we say of it, such as when it was replaced.
    """

    text: str
    citations: Sequence[Citation]
    remembered: Sequence[MemoryCitation]
    role: SentenceRole
    note: str

    @property
    def told(self) -> str:
        """With what is to be said of it."""
        return f"{self.note} {self.text}" if self.note else self.text


def told_together(sentences: Sequence[ProvenSentence]) -> str:
    """One after the other; what follows an item, a row or a message that ends without a stop has a line of its own."""
    lines: list[str] = []
    for sentence in sentences:
        if lines and _STOPPED.search(lines[-1]):
            lines[-1] += f" {sentence.told}"
        else:
            lines.append(sentence.told)
    return "\n".join(lines)
