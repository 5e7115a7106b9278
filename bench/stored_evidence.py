"""Takes texts in as the product does, worker and database included, and counts the quotes that stand in them."""

import asyncio
import tempfile
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import worker_of
from mnemon.documents.jobs import KINDS as DOCUMENT_KINDS
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import Actor
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.jobs import KINDS
from mnemon.settings import Settings

ADA = Actor("human", "user:ada")
LONGEST_WAIT = 600.0
# Counted by the database itself, from what it keeps: the offsets count code points, as `substr` does.
COUNT = """
SELECT count(*) AS quotes,
       count(*) FILTER (WHERE substr(t.text, g.start_char + 1, g.end_char - g.start_char) = g.quote) AS valid,
       count(DISTINCT g.event_id) AS events
  FROM mnemon.event_evidence g
  JOIN mnemon.revision_texts t ON t.tenant_id = g.tenant_id AND t.doc_version_id = g.doc_version_id
 WHERE g.tenant_id = mnemon.current_tenant()
"""
UNFINISHED = "SELECT count(*) AS n FROM mnemon.jobs WHERE status IN ('PENDING', 'PROCESSING') AND kind = ANY(%s)"
FAILED = "SELECT count(*) AS n FROM mnemon.jobs WHERE status = 'FAILED'"


async def count_stored(texts: Iterable[str]) -> tuple[int, int]:
    """How many quotes the transcripts left in the tables, and how many of them stand in their text."""
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        async with open_mnemon(Settings(home=Path(folder), embedder="none")) as mnemon:
            tenant = (await tenant_by_slug(mnemon.database, DEFAULT_SLUG)).tenant_id
            for number, text in enumerate(texts):
                new = NewArtifact(
                    artifact_type="transcript", source_system="bench", source_id=str(number), content=text
                )
                await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
            await _work_off(mnemon, tenant)
            async with mnemon.database.transaction(tenant) as tx:
                row = await (await tx.execute(COUNT)).fetchone()
    assert row is not None
    print(f"{row['quotes']} quotes of {row['events']} stored events: {row['valid']} stand in their stored text")
    return row["quotes"], row["valid"]


async def _work_off(mnemon: Mnemon, tenant: UUID) -> None:
    kinds = (*DOCUMENT_KINDS, *KINDS)
    worker = worker_of(mnemon, kinds)
    running = asyncio.create_task(worker.run())
    names = [kind.name for kind in kinds]
    async with asyncio.timeout(LONGEST_WAIT):
        while await _count(mnemon, tenant, UNFINISHED, names):  # noqa: ASYNC110  the database has no event to wait for
            await asyncio.sleep(0.2)
    worker.stop()
    await running
    if failed := await _count(mnemon, tenant, FAILED):
        raise RuntimeError(f"{failed} jobs failed")


async def _count(mnemon: Mnemon, tenant: UUID, statement: str, *values: object) -> int:
    async with mnemon.database.transaction(tenant) as tx:
        row = await (await tx.execute(statement, values)).fetchone()
    return int(row["n"]) if row else 0
