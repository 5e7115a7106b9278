"""Documents as REST shows them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from mnemon.documents.library import DocumentStatus


class DocumentOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    doc_id: UUID
    title: str
    tags: list[str]
    source_type: str
    source_uri: str
    status: DocumentStatus
    created_by: str = Field(description="Who sent the first file, as the log names them.")
    created_at: datetime
    updated_at: datetime
    purged_at: datetime | None
    doc_version_id: UUID | None = Field(description="The active version, or the last one where none is.")
    version_number: int | None
    version_label: str | None
    is_active: bool | None
    media_type: str | None
    original_filename: str | None
    size_bytes: int | None
    char_count: int | None
    page_count: int | None
    chunk_count: int | None
    written_at: datetime | None = Field(description="When the document says that it was written.")
    authors: list[str] | None


class VersionOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    doc_version_id: UUID
    doc_id: UUID
    version_number: int
    version_label: str
    content_hash: str
    text_hash: str
    extractor: str
    media_type: str
    original_filename: str
    size_bytes: int
    char_count: int
    page_count: int | None
    chunk_count: int | None
    token_count: int | None
    is_active: bool
    written_at: datetime | None
    authors: list[str]
    participants: list[str]
    details: dict[str, Any]
    created_at: datetime
    activated_at: datetime
    deactivated_at: datetime | None
    purged_at: datetime | None


class TextOut(BaseModel):
    doc_id: UUID
    doc_version_id: UUID
    version_number: int
    start: int
    end: int
    char_count: int = Field(description="Of the whole text, in Unicode code points.")
    text: str


class BlockOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    kind: str
    start: int
    end: int
    level: int
    speaker: str | None


class PageOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    number: int
    start: int
    end: int
    width: float
    height: float


class RemarkOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    start: int
    end: int
    author: str | None
    text: str


class StructureOut(BaseModel):
    doc_version_id: UUID
    blocks: list[BlockOut]
    pages: list[PageOut]
    remarks: list[RemarkOut]


class ChunkOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    chunk_id: UUID
    ordinal: int
    start_offset: int
    end_offset: int
    heading_path: list[str]
    first_page: int | None
    last_page: int | None
    speaker: str | None
    tokens: int
    text: str


class PurgedOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    doc_id: UUID
    versions: int
    runs: int


class QueuedOut(BaseModel):
    doc_id: UUID
    run_id: UUID
    status: str = "queued"
