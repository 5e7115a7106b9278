"""What operations on documents answer, beside documents, revisions, chunks and runs themselves."""

from pathlib import Path
from typing import Generic, TypeVar
from uuid import UUID

from pydantic import ConfigDict, Field, RootModel

from mnemon.documents.ingest.content import Remark
from mnemon.documents.library import Document, DocumentRevision, StoredChunk
from mnemon.documents.runs import Run
from mnemon.documents.structure.structure import Block
from mnemon.operations import Output

Item = TypeVar("Item")


class Numbered(Output, Generic[Item]):
    """One page of a list that people leaf through, and how many items there are in all."""

    items: list[Item]
    total: int
    page: int
    limit: int


class DocumentList(Numbered[Document]):
    """A page of documents, the newest first."""

    total_is_exact: bool = Field(True, description="False where a search found very many and stopped counting.")


class ChunkList(Numbered[StoredChunk]):
    """A page of chunks, in the order of the text."""


class RunList(Numbered[Run]):
    """A page of ingestion runs, the newest first."""


class VersionList(RootModel[list[DocumentRevision]]):
    """The versions of a document, the newest first."""


class DocumentText(Output):
    """A version's text, or a part of it."""

    doc_id: UUID
    doc_version_id: UUID
    version_number: int
    start: int
    end: int
    char_count: int = Field(description="Of the whole text, in Unicode code points.")
    text: str


class PageOut(Output):
    """Without its glyphs, which are many and serve the marking of quotes only."""

    model_config = ConfigDict(from_attributes=True)
    number: int
    start: int
    end: int
    width: float
    height: float


class TextStructure(Output):
    """What was found in a version's text."""

    doc_version_id: UUID
    blocks: list[Block]
    pages: list[PageOut]
    remarks: list[Remark]


class RawFile(Output):
    """The file of a version, where it lies."""

    path: Path
    media_type: str
    filename: str


class RebuildQueued(Output):
    """A document that a run makes again."""

    doc_id: UUID
    run_id: UUID
    status: str
