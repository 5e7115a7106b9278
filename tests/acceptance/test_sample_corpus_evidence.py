"""On the whole sample corpus every stored quote stands in its text, and the questions of the tour have answers."""

import asyncio
from datetime import date
from pathlib import Path
from uuid import UUID

import pytest
from tests.api.conftest import mnemon
from tests.work.conftest import Eventually, eventually, running

from mnemon.app import Mnemon
from mnemon.beside import worker_of
from mnemon.documents.access import Reader
from mnemon.documents.intake.origin import Origin
from mnemon.documents.intake.receive import accept
from mnemon.log.events import Actor
from mnemon.semantics.audit import verify_evidence
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.query import event_search
from mnemon.semantics.search.views import open_commitments, people_topics
from mnemon.settings import Settings

__all__ = ["eventually", "mnemon"]

CORPUS = Path(__file__).parents[2] / "examples" / "kestrel"
ADA = Actor("human", "user:ada")
UNFINISHED = "SELECT count(*) AS n FROM mnemon.jobs WHERE status IN ('PENDING', 'PROCESSING') AND kind = ANY(%s)"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, embedder="none")


@pytest.mark.slow
async def test_every_quote_of_the_sample_corpus_stands_in_its_text(
    mnemon: Mnemon, tenant: UUID, eventually: Eventually
) -> None:
    files = sorted(path for path in CORPUS.rglob("*") if path.is_file())
    async with running(worker_of(mnemon)):
        await _ingest(mnemon, tenant, files, eventually)
    audited = await verify_evidence(mnemon.database, tenant)
    assert audited.holds, audited.broken
    assert audited.revisions >= len(files) // 2
    assert audited.quotes >= 60
    reader = Reader.of(ADA)
    superseded = await event_search(mnemon.database, tenant, reader, EventFilters(status="superseded"))
    assert superseded["total"] >= 1
    assert (await open_commitments(mnemon.database, tenant, reader, today=date(2026, 6, 30)))["total"] >= 5
    assert (await people_topics(mnemon.database, tenant, reader))["total"] >= 10


async def _ingest(mnemon: Mnemon, tenant: UUID, files: list[Path], eventually: Eventually) -> None:
    """One after the other, in the order of their names: each is read before the next one comes."""
    for path in files:
        received = await asyncio.to_thread(mnemon.files.take_copy, tenant, path)
        origin = Origin(source_uri=f"sample://{path.relative_to(CORPUS)}", title=path.stem)
        await accept(mnemon.log, mnemon.files, tenant, ADA, received, origin)
        await eventually(lambda: _finished(mnemon, tenant))


async def _finished(mnemon: Mnemon, tenant: UUID) -> bool:
    async with mnemon.database.transaction(tenant) as tx:
        kinds = ["documents.ingest", "semantics.extract"]
        row = await (await tx.execute(UNFINISHED, (kinds,))).fetchone()
    return row is not None and row["n"] == 0
