"""What search and ask take and give over REST."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from mnemon.ask.filters import Filters
from mnemon.ask.hits import Hit
from mnemon.ask.written import ProvenSentence
from mnemon.log.read.query import end_of, start_of


class FilterFields(BaseModel):
    """What to look in. Every field given must hold; bounds are inclusive, a bare day is its whole day in UTC."""

    model_config = ConfigDict(extra="forbid")

    doc_id: UUID | None = Field(None, description="Only this document.")
    doc_version_id: UUID | None = Field(None, description="Only this version, also if it is an old one.")
    source: str | None = Field(None, max_length=2000, description="A kind of source, or the beginning of its address.")
    artifact_type: Literal["email", "doc", "chat", "transcript", "note"] | None = None
    type: str | None = Field(None, max_length=200, description="A kind of file, such as docx, or a media type.")
    tag: str | None = Field(None, max_length=200)
    person: str | None = Field(None, max_length=200, description="Wrote it, took part in it or speaks in it.")
    from_date: str | None = Field(None, description="Written at or after this day or moment.")
    to_date: str | None = Field(None, description="Written at or before it.")
    as_of: str | None = Field(None, description="The versions that were active at this moment.")

    @property
    def filters(self) -> Filters:
        return Filters(
            document=self.doc_id,
            revision=self.doc_version_id,
            source=self.source,
            artifact_type=self.artifact_type,
            media_type=self.type,
            tag=self.tag,
            person=self.person,
            written_from=start_of(self.from_date) if self.from_date else None,
            written_to=end_of(self.to_date) if self.to_date else None,
            as_of=end_of(self.as_of) if self.as_of else None,
        )


class SearchQuery(FilterFields):
    """A search. `q` is plain words, as a person would say them."""

    q: str = Field(min_length=1, max_length=2000)
    limit: int = Field(10, ge=1, le=100)
    offset: int = Field(0, ge=0, le=900)
    explain: bool = Field(False, description="Show each part of each score.")


class AskIn(FilterFields):
    """A question. With `stream`, or if the request accepts `text/event-stream`, the answer comes as events."""

    question: str = Field(min_length=1, max_length=2000)
    stream: bool = False


class SearchOut(BaseModel):
    """A page of passages, best first."""

    items: list[Hit]
    total: int = Field(description="Passages that were ranked.")
    next_offset: int | None
    mode: Literal["hybrid", "lexical"]
    lexical_only: str | None = Field(description="Why meaning took no part, where it did not.")
    reranked: bool
    filters: dict[str, str]


class AnswerOut(BaseModel):
    """An answer whose every sentence is cited; or a refusal, with what was searched and what came nearest."""

    query_id: UUID
    question: str
    outcome: Literal["answered", "refused"]
    text: str
    sentences: list[ProvenSentence]
    refusal: dict[str, Any] | None
    strength: float
    mode: Literal["hybrid", "lexical"]
    lexical_only: str | None
    model: str | None = Field(description="The language model that wrote it; null when it is made of quotes.")
    dropped: int = Field(description="Sentences of the model that no source proved.")
    filters: dict[str, str]
    seconds: float
