"""A sentence of an answer, with the words that prove it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mnemon.ask.citations import Citation, MemoryCitation

# An answer may show beside what stands what it replaced, what was denied, what came since, and the other side.
SentenceRole = Literal["answer", "replaced", "denied", "since", "earlier", "disagrees"]


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
