"""The text of each revision: stored once, read whole or in part, with its structure and its pages."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from pydantic import TypeAdapter

from mnemon.db.database import Connection
from mnemon.documents.ingest.content import Extraction, Page, Remark
from mnemon.documents.structure.stored import load_structure, structure_of
from mnemon.documents.structure.structure import Block, Hints, Structure, StructurePart
from mnemon.errors import NotFound

STORE = """
INSERT INTO mnemon.revision_texts (tenant_id, doc_version_id, text, blocks, remarks, pages, structure)
VALUES (mnemon.current_tenant(), %s, %s, %s::text::jsonb, %s::text::jsonb, %s, %s)
ON CONFLICT (tenant_id, doc_version_id) DO NOTHING
"""
READ = """
SELECT text, blocks, remarks, pages, structure FROM mnemon.revision_texts
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s
"""
# PostgreSQL counts the characters of a UTF-8 text in code points, as evidence does.
SPAN = """
SELECT substr(text, %s + 1, %s) AS span, length(text) AS length FROM mnemon.revision_texts
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s
"""
REMOVE = "DELETE FROM mnemon.revision_texts WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = ANY(%s)"

_blocks: TypeAdapter[list[Block]] = TypeAdapter(list[Block])
_remarks: TypeAdapter[list[Remark]] = TypeAdapter(list[Remark])
_pages: TypeAdapter[list[Page]] = TypeAdapter(list[Page])


@dataclass(frozen=True, slots=True)
class RevisionText:
    """The canonical text of a revision, with its structure."""

    text: str
    blocks: Sequence[Block]
    remarks: Sequence[Remark]
    pages: Sequence[Page]
    # The reading of its parts, as it is stored.
    stored: str = ""

    @property
    def parts(self) -> Sequence[StructurePart]:
        """As they were read when it was stored; none where an earlier version of the reading stored them."""
        found = load_structure(self.stored)
        return found.parts if found else ()

    def structure(self, hints: Hints) -> Structure:
        """What was read when it was stored; read again where more or else is known of the text by now."""
        return structure_of(self.text, self.blocks, self.stored, hints)


async def store_text(tx: Connection, revision_id: UUID, extraction: Extraction) -> None:
    """Keep it. A revision's text never changes: what is there already stays."""
    pages = zlib.compress(_pages.dump_json(list(extraction.pages)), 6) if extraction.pages else None
    blocks = _blocks.dump_json(list(extraction.blocks)).decode()
    remarks = _storable(_remarks.dump_python(list(extraction.remarks)))
    await tx.execute(
        STORE, (revision_id, extraction.text, blocks, remarks, pages, zlib.compress(extraction.structure.encode(), 6))
    )


async def read_text(tx: Connection, revision_id: UUID) -> RevisionText:
    row = await (await tx.execute(READ, (revision_id,))).fetchone()
    if row is None:
        raise _missing(revision_id)
    pages = _pages.validate_json(zlib.decompress(row["pages"])) if row["pages"] else []
    return RevisionText(
        row["text"],
        _blocks.validate_python(row["blocks"]),
        _remarks.validate_python(row["remarks"]),
        pages,
        zlib.decompress(row["structure"]).decode() if row["structure"] else "",
    )


async def read_span(tx: Connection, revision_id: UUID, start: int, end: int) -> str:
    """`text[start:end]`, without loading the rest."""
    row = await (await tx.execute(SPAN, (start, max(end - start, 0), revision_id))).fetchone()
    if row is None:
        raise _missing(revision_id)
    span: str = row["span"]
    return span


async def remove_texts(tx: Connection, revisions: Sequence[UUID]) -> None:
    await tx.execute(REMOVE, (list(revisions),))


def _missing(revision_id: UUID) -> NotFound:
    return NotFound(f"There is no text of version {revision_id}.", doc_version_id=str(revision_id))


def _storable(value: Any) -> str:
    """As JSON, without the zero bytes that a comment may hold."""
    return orjson.dumps(value).decode().replace("\\u0000", "")
