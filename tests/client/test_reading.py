"""Claims about the worker that a command has while it waits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.client import reading
from mnemon.documents.jobs import KINDS as DOCUMENT_KINDS
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.jobs import KINDS as SEMANTIC_KINDS
from tests.patience import PATIENCE
from tests.semantics.conftest import ADA, caller_address, client, mnemon, settings

__all__ = ["caller_address", "client", "mnemon", "settings"]
ANOTHER = """
INSERT INTO mnemon.workers (worker_id, host, process_id, slots, kinds, heartbeat_at)
VALUES (%s, 'elsewhere', 1, 1, %s, now())
"""
ENDS = "UPDATE mnemon.workers SET stopped_at = now() WHERE worker_id = %s"


async def test_who_waits_reads_for_themselves_once_the_other_worker_ends(
    mnemon: Mnemon, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LOOK_SECONDS", 0.1)
    new = NewArtifact(artifact_type="note", source_system="test", content="We decided to lease a crane.")
    async with mnemon.database.owner() as owner:
        kinds = [kind.name for kind in (*DOCUMENT_KINDS, *SEMANTIC_KINDS)]
        await owner.execute(ANOTHER, (str(tenant), kinds))
        async with asyncio.timeout(PATIENCE), reading.being_read(mnemon):
            taken = await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
            read = reading.until_events_are_read(mnemon, tenant, [taken.doc_id])
            assert await anext(read) == 0, "the other one is alive, and it is left to them"
            await owner.execute(ENDS, (str(tenant),))
            assert [done async for done in read][-1] == 1


async def test_reading_begins_once_and_only_where_it_is_wanted(
    mnemon: Mnemon, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    @asynccontextmanager
    async def noted(_mnemon: Mnemon) -> AsyncIterator[None]:
        told.append("begun")
        yield
        told.append("ended")

    monkeypatch.setattr(reading, "being_read", noted)
    async with reading.BackgroundReading(mnemon):
        pass
    async with reading.BackgroundReading(mnemon, wanted=False) as unwanted:
        await unwanted.begin()
    assert told == []
    async with reading.BackgroundReading(mnemon) as wanted:
        await wanted.begin()
        await wanted.begin()
        assert told == ["begun"]
    assert told == ["begun", "ended"]


def test_who_waits_for_much_looks_seldom() -> None:
    assert [reading.pause_before_look(left) for left in (0, 1, 25, 50, 10_000)] == [0.2, 0.2, 0.2, 0.4, 1.0]
