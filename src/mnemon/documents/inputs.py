"""What can be asked of documents as such: names, pages and parts."""

from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, Field

from mnemon.documents.states import DocumentStatus, RunStatus
from mnemon.inputs import Maybe
from mnemon.operations import Input

ArtifactUid = Annotated[str, Field(pattern=r"^uid_[A-Za-z0-9]{1,64}$")]
RevisionId = Annotated[str, Field(pattern=r"^rev_[A-Za-z0-9]{1,64}$")]
MOST_ITEMS = 10_000


# No text is longer.
LAST_OFFSET = 2**31 - 1


class PageAsked(Input):
    """A page of a list that people leaf through."""

    page: int = Field(1, ge=1, le=1_000_000, description="Which page, from 1.")
    limit: int = Field(20, ge=1, le=MOST_ITEMS, description="Most items on this page.")


class DocumentsAsked(PageAsked):
    """Which documents. Every filter that is set must hold."""

    search: Maybe[str] = Field(None, max_length=200, description="Words in the title, the file name or a tag.")
    status: Maybe[DocumentStatus] = Field(
        None, description="Default: active. `unread` shows those that no run has read yet."
    )
    all: bool = Field(False, description="Inactive and purged ones too.")
    tag: Maybe[str] = Field(None, max_length=100, description="Only documents with this tag.")
    source_type: Maybe[str] = Field(None, max_length=50, description="Only from this kind of source, such as upload.")


class DocumentAsked(Input):
    """One document."""

    doc_id: UUID = Field(description="The document, as the list of documents names it.")


class DocumentNamed(Input):
    """A document as a person calls it."""

    name: str = Field(min_length=1, max_length=500, description="Its title, its file's name or how its id begins.")


def _number_as_text(given: object) -> object:
    return str(given) if type(given) is int else given


class VersionAsked(DocumentAsked):
    """One version of a document."""

    version: Annotated[Maybe[str], BeforeValidator(_number_as_text)] = Field(
        None, max_length=40, description="A version by its number or id. Default: the active one."
    )


class TextAsked(VersionAsked):
    """A part of a text."""

    start: int = Field(0, ge=0, le=LAST_OFFSET, description="First code point.")
    end: int | None = Field(None, ge=0, le=LAST_OFFSET, description="One past the last code point. Default: the end.")


class ChunksAsked(VersionAsked):
    """A page of chunks."""

    page: int = Field(1, ge=1, le=1_000_000, description="Which page, from 1.")
    limit: int = Field(100, ge=1, le=1_000_000, description="Most chunks on this page.")


class RunsAsked(PageAsked):
    """Which ingestion runs."""

    status: Maybe[RunStatus] = Field(None, description="Only runs in this state.")
    doc_id: Maybe[UUID] = Field(None, description="Only runs of this document.")
    run_type: Maybe[str] = Field(None, max_length=50, description="Only of this kind, such as manual_upload.")


class RunAsked(Input):
    """One ingestion run."""

    run_id: UUID = Field(description="The run, as the list of runs names it.")
