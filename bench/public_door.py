"""Files put into Mnemon as users put them there, by the operation behind every door, and read by its own worker."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from passages import add_tenant
from vector_cache import CachedEmbedder

from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import worker_of
from mnemon.documents.intake.receive import accept
from mnemon.documents.jobs import KINDS
from mnemon.log.events import Actor
from mnemon.models.choose import open_embedder
from mnemon.settings import Settings

READER = Actor("human", "user:bench")
LEFT = """
SELECT count(*) FILTER (WHERE status NOT IN ('succeeded', 'failed')) AS left,
       count(*) FILTER (WHERE status = 'failed') AS failed
  FROM mnemon.ingestion_runs WHERE tenant_id = mnemon.current_tenant()
"""
TEXTS = """
SELECT t.doc_version_id, t.text FROM mnemon.revision_texts AS t
  JOIN mnemon.document_revisions AS v ON v.tenant_id = t.tenant_id AND v.doc_version_id = t.doc_version_id
 WHERE t.tenant_id = mnemon.current_tenant() AND v.is_active
"""
CHUNKS = """
SELECT doc_version_id, ordinal, start_offset, end_offset, speaker, tokens FROM mnemon.chunks
 WHERE tenant_id = mnemon.current_tenant() AND active
"""


@dataclass(frozen=True)
class GoldSpan:
    """`text[start:end]` of a file, and the name that the benchmark knows it by."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class TalkFile:
    """A file as somebody would have exported it, and where in it what is asked for stands."""

    filename: str
    text: str
    spans: Sequence[GoldSpan]


@asynccontextmanager
async def running_mnemon(**settings: object) -> AsyncIterator[Mnemon]:
    """A Mnemon in a folder of its own, gone at the end. Its embedder remembers texts of earlier runs."""
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)
        async with open_mnemon(Settings(home=home, **settings)) as mnemon:  # type: ignore[arg-type]
            if mnemon.settings.embedder != "none":
                mnemon.__dict__["embedder"] = CachedEmbedder(open_embedder(mnemon.settings))
            yield mnemon


async def put_in(mnemon: Mnemon, groups: dict[str, Sequence[TalkFile]]) -> dict[str, UUID]:
    """A tenant for each group, its files uploaded and read."""
    tenants = {name: await add_tenant(mnemon.database) for name in groups}
    for name, files in groups.items():
        for file in files:
            incoming = mnemon.files.receive(tenants[name], file.filename)
            received = await asyncio.to_thread(incoming.complete, file.text.encode())
            await accept(mnemon.log, mnemon.files, tenants[name], READER, received)
    worker = worker_of(mnemon, KINDS)
    working = asyncio.create_task(worker.run())
    try:
        for tenant in tenants.values():
            await _read(mnemon, tenant)
    finally:
        worker.stop()
        await working
    return tenants


async def _read(mnemon: Mnemon, tenant: UUID) -> None:
    while True:
        async with mnemon.database.transaction(tenant) as tx:
            row = await (await tx.execute(LEFT)).fetchone()
        assert row is not None
        if row["failed"]:
            raise RuntimeError("A file could not be read.")
        if not row["left"]:
            return
        await asyncio.sleep(0.2)


async def names_by_place(
    mnemon: Mnemon, tenant: UUID, files: Sequence[TalkFile]
) -> tuple[dict[tuple[UUID, int], frozenset[str]], list[int]]:
    """Which spans each passage overlaps, as it is stored, and how many tokens each passage has."""
    spans_of = {file.text: sorted(file.spans, key=lambda one: one.start) for file in files}
    async with mnemon.database.transaction(tenant) as tx:
        texts = {row["doc_version_id"]: row["text"] for row in await (await tx.execute(TEXTS)).fetchall()}
        chunks = await (await tx.execute(CHUNKS)).fetchall()
    names = {}
    for chunk in chunks:
        spans = spans_of[texts[chunk["doc_version_id"]]]
        start, end = chunk["start_offset"], chunk["end_offset"]
        found = frozenset(one.name for one in spans if one.start < end and one.end > start)
        names[chunk["doc_version_id"], chunk["ordinal"]] = found
    return names, [chunk["tokens"] for chunk in chunks]
