"""What REST shows of a document where the library has no type of its own for it."""

from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from mnemon.documents.ingest.content import Remark
from mnemon.documents.structure.structure import Block


class TextOut(BaseModel):
    doc_id: UUID
    doc_version_id: UUID
    version_number: int
    start: int
    end: int
    char_count: int = Field(description="Of the whole text, in Unicode code points.")
    text: str


class PageOut(BaseModel):
    """Without its glyphs, which are many and serve the marking of quotes only."""

    model_config = ConfigDict(from_attributes=True)
    number: int
    start: int
    end: int
    width: float
    height: float


class StructureOut(BaseModel):
    doc_version_id: UUID
    blocks: list[Block]
    pages: list[PageOut]
    remarks: list[Remark]


class QueuedOut(BaseModel):
    doc_id: UUID
    run_id: UUID
    status: str = "queued"
