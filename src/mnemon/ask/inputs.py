"""What can be asked of documents: a field of the filters that is added here is one on every door."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from mnemon.documents.inputs import ArtifactUid
from mnemon.inputs import FirstMoment, LastMoment, Maybe, checked_order
from mnemon.operations import Input

ArtifactType = Literal["email", "doc", "chat", "transcript", "note"]
Short = Annotated[str, Field(max_length=200)]
# As far as a search ranks.
FURTHEST = 900


class PassageFilters(Input):
    """Every one that is set must hold. Without `doc_version_id` and `as_of`, only active revisions are searched."""

    doc_id: Maybe[UUID] = Field(None, title="Document", description="Only this document.")
    doc_version_id: Maybe[UUID] = Field(
        None, title="Version", description="Only this version, also if it is an old one."
    )
    artifact_uid: Maybe[ArtifactUid] = Field(None, title="Artifact", description="Only this artifact, uid_….")
    artifact_type: Maybe[ArtifactType] = Field(None, title="Kind of text", description="What kind of text it is.")
    source: Maybe[Annotated[str, Field(max_length=2000)]] = Field(
        None, description="A kind of source, or the beginning of its address."
    )
    media_type: Maybe[Short] = Field(
        None, title="Kind of file", description="A kind of file, such as docx, or a media type."
    )
    tag: Maybe[Short] = Field(None, description="Only documents with this tag.")
    person: Maybe[Short] = Field(None, description="Wrote it, took part in it or speaks in it.")
    from_date: Maybe[FirstMoment] = Field(None, title="From", description="Written at or after this day or moment.")
    to_date: Maybe[LastMoment] = Field(None, title="To", description="Written at or before this day or moment.")
    as_of: Maybe[LastMoment] = Field(
        None, title="As of", description="The versions that were active at this day or moment."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        checked_order(self.from_date, self.to_date)
        return self

    def applied(self) -> dict[str, str]:
        """Those that are set, as a person reads them."""
        given = {name: getattr(self, name) for name in PassageFilters.model_fields}
        return {name: str(value) for name, value in given.items() if value is not None}


class PassageSearch(PassageFilters):
    """A search, a page at a time."""

    query: str = Field(min_length=1, max_length=2000, description="Plain words, as a person would say them.")
    limit: int = Field(10, ge=1, le=100, description="Most passages on this page.")
    offset: int = Field(0, ge=0, le=FURTHEST, description="How many to pass over: `next_offset` of the page before.")
    explain: bool = Field(False, description="Show each part of each score.")


class Question(PassageFilters):
    """A question."""

    question: str = Field(min_length=1, max_length=2000, description="Plain words, as a person would say them.")
    conversation_id: Maybe[Annotated[str, Field(max_length=150)]] = Field(
        None,
        title="Conversation",
        description="Your name for a conversation: a follow-up uses the names and things of what you asked before.",
    )
    as_words: bool = Field(
        False,
        title="Time and people as words",
        description="Take the question word by word: no kind of event, time or person in it as a limit, and nothing "
        "from the question before.",
    )
    explain: bool = Field(
        False, description="Show what spoke for each statement that was weighed, and from which chance on one is told."
    )
    stream: bool = Field(
        False, description="The answer as events while it comes; so it is also if `text/event-stream` is accepted."
    )


def is_as_words(filters: PassageFilters) -> bool:
    """Whether nothing in the question is to be taken as a limit."""
    return isinstance(filters, Question) and filters.as_words


class EvidenceAsked(Input):
    """A span of a version."""

    doc_version_id: UUID = Field(description="The version that is quoted.")
    start: int = Field(ge=0, le=2**31 - 1, description="First code point.")
    end: int = Field(ge=1, le=2**31 - 1, description="One past the last code point.")
