"""What is told of documents that were searched or asked: the same fields on every door."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from mnemon.ask.citations import Citation
from mnemon.ask.explained import WeighedExplanation
from mnemon.ask.frames import Frames, Language, frames_of
from mnemon.ask.hits import PassageHit
from mnemon.ask.proven import ProvenSentence
from mnemon.ask.recall import Remembered
from mnemon.ask.refusal import Refusal
from mnemon.operations import Output

SearchMode = Literal["hybrid", "lexical"]


class PassagesFound(Output):
    """A page of passages, best first."""

    items: Sequence[PassageHit]
    remembered: Sequence[Remembered] = Field(
        description="Memory objects that say it, on the first page of a search without filters; scores are comparable."
    )
    total: int = Field(description="Passages that were ranked.")
    next_offset: int | None
    mode: SearchMode = Field(description="`lexical` where no embedding model took part.")
    lexical_only: str | None = Field(description="Why meaning took no part, where it did not.")
    reranked: bool
    filters: dict[str, str]


class Answered(Output):
    """An answer whose every sentence is cited; or a refusal, with what was searched and what came nearest."""

    query_id: UUID
    question: str
    outcome: Literal["answered", "refused"]
    text: str
    sentences: Sequence[ProvenSentence]
    refusal: Refusal | None
    strength: float
    mode: SearchMode
    lexical_only: str | None
    model: str | None = Field(description="The language model that wrote it; null when it is made of quotes.")
    dropped: int = Field(description="Sentences of the model that no source proved.")
    filters: dict[str, str]
    understood: dict[str, str] = Field(
        description="The kind of event, time, day due, person and state that were read from the question as limits of "
        "a list, and how a follow-up was `asked_as`; `as_words` turns both off."
    )
    conversation_id: str | None = Field(description="The conversation that it is part of, as you named it.")
    language: Language = Field(description="Of the question, and of what is said around the words of sources.")
    explanation: WeighedExplanation | None = Field(description="Why, if `explain` was set and statements were weighed.")
    seconds: float

    @property
    def told(self) -> str:
        """What a person is told: the answer, or why there is none."""
        return f"{self.frames.say('no_answer')} {self.refusal.message}" if self.refusal else self.text

    @property
    def frames(self) -> Frames:
        return frames_of(self.language)

    @property
    def citations(self) -> list[Citation]:
        return [citation for sentence in self.sentences for citation in sentence.citations]


def answered(answer: Any) -> Answered:
    """An answer as it is told."""
    return Answered(**{name: getattr(answer, name) for name in Answered.model_fields})
