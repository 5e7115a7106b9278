"""Documents of ready-made passages, put into a real database the way the worker puts them there."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from mnemon.db.database import Connection, Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.migrate import migrate
from mnemon.documents.ingest.chunk_store import store_chunks
from mnemon.documents.ingest.content import Chunk
from mnemon.ids import new_uuid
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Vectors

INSERT_DOCUMENT = """
INSERT INTO mnemon.documents (tenant_id, doc_id, source_type, source_uri, title)
VALUES (mnemon.current_tenant(), %s, 'bench', %s, %s)
"""
INSERT_REVISION = """
INSERT INTO mnemon.document_revisions (
    tenant_id, doc_version_id, doc_id, version_number, content_hash, text_hash, extractor, media_type,
    size_bytes, char_count, is_active)
VALUES (mnemon.current_tenant(), %s, %s, 1, '', '', 'bench', 'text/plain', %s, %s, true)
"""
INSERT_TEXT = """
INSERT INTO mnemon.revision_texts (tenant_id, doc_version_id, text) VALUES (mnemon.current_tenant(), %s, %s)
"""


@dataclass(frozen=True)
class Passage:
    """One passage, who says it, and the name that the benchmark knows it by."""

    name: str
    text: str
    speaker: str | None = None


@asynccontextmanager
async def own_database() -> AsyncIterator[Database]:
    """An embedded server with an empty, migrated database, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(Path(folder), linger_seconds=0)
        server.ensure_running()
        async with Database(server) as database:
            async with database.owner() as owner:
                await migrate(owner)
            yield database


async def add_tenant(database: Database) -> UUID:
    tenant = new_uuid()
    async with database.owner() as owner:
        await owner.execute(
            "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, %s, 'bench')", (tenant, f"b-{tenant.hex}")
        )
    return tenant


async def add_document(
    tx: Connection, tenant: UUID, title: str, passages: Sequence[Passage], vectors: Vectors, model: ModelInUse
) -> UUID:
    """A document whose text is its passages, a line each. Returns its revision."""
    doc_id = new_uuid()
    revision = uuid5(doc_id, "1")
    text = "\n".join(passage.text for passage in passages)
    await tx.execute(INSERT_DOCUMENT, (doc_id, f"bench://{doc_id}", title))
    await tx.execute(INSERT_REVISION, (revision, doc_id, len(text.encode()), len(text)))
    await tx.execute(INSERT_TEXT, (revision, text))
    await store_chunks(
        tx, tenant=tenant, doc_id=doc_id, revision_id=revision, chunks=_chunks(passages), vectors=vectors, model=model
    )
    return revision


def _chunks(passages: Sequence[Passage]) -> list[Chunk]:
    chunks, at = [], 0
    for ordinal, one in enumerate(passages):
        end = at + len(one.text)
        chunks.append(Chunk(ordinal, at, end, one.text, (), len(one.text.split()), speaker=one.speaker))
        at = end + 1
    return chunks
