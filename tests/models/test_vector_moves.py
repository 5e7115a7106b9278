"""A change of the configured model reaches every registered table of every tenant, through jobs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.ids import new_uuid
from mnemon.models import reembed, vector_tables
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import NoEmbedder
from mnemon.models.local import LocalEmbedder
from mnemon.models.vector_index import ensure_vector_index, index_name
from mnemon.models.vector_moves import Moved, VectorMoves
from mnemon.models.vector_tables import register_vector_table
from mnemon.work import model_jobs
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import NoPayload
from mnemon.work.model_jobs import FIND_OLD_VECTORS, REEMBED
from mnemon.work.worker import Worker
from tests.patience import PATIENCE

from .test_reembed import CREATE, EMBEDDERS, OLD, RELATION, TABLE, models_of, search, write

INDEXES = "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'mnemon.note_vectors'::regclass"


@pytest.fixture
async def tenants(
    own_database: Database, embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> tuple[UUID, UUID]:
    """Two, with a registered table each has three rows in, made by the old model."""
    monkeypatch.setattr(vector_tables, "_registered", {})
    register_vector_table(TABLE)
    EMBEDDERS.update({OLD.model_id: OLD, embedder.model_id: embedder})
    both = new_uuid(), new_uuid()
    async with own_database.owner() as owner:
        await owner.execute(CREATE)
        for tenant in both:
            await owner.execute("INSERT INTO mnemon.tenants VALUES (%s, %s, 'N')", (tenant, f"t-{tenant.hex}"))
    for tenant in both:
        for number in range(3):
            await write(own_database, tenant, f"note number {number}")
    return both


@asynccontextmanager
async def working(database: Database, embedder: Any) -> AsyncIterator[None]:
    context = SimpleNamespace(vector_moves=VectorMoves(database, embedder))
    worker = Worker(database, [FIND_OLD_VECTORS, REEMBED], context=context, poll=0.1)
    task = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await task


async def ended_jobs(database: Database, kind: str, count: int) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE), database.owner() as owner:
        while True:
            rows = await (await owner.execute("SELECT * FROM mnemon.jobs WHERE kind = %s", (kind,))).fetchall()
            if len([row for row in rows if row["finished_at"]]) == count:
                return rows
            await asyncio.sleep(0.05)


async def look_for_old_vectors(database: Database) -> None:
    async with database.transaction(UUID(int=0)) as tx:
        await enqueue(tx, FIND_OLD_VECTORS, NoPayload())


async def test_every_tenant_is_moved_in_stretches_and_the_indexes_follow(
    own_database: Database, tenants: tuple[UUID, UUID], embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed, "BATCH", 1)
    monkeypatch.setattr(model_jobs, "STRETCH_SECONDS", 0.01)
    async with own_database.owner() as owner:
        await ensure_vector_index(owner, RELATION, ModelInUse(OLD.model_id, OLD.dimension))
    await look_for_old_vectors(own_database)
    async with working(own_database, embedder):
        moves = await ended_jobs(own_database, REEMBED.name, 2)
    assert {row["tenant_id"] for row in moves} == set(tenants)
    assert {(row["status"], row["attempts"]) for row in moves} == {("DONE", 1)}
    for tenant in tenants:
        assert await models_of(own_database, tenant) == {embedder.model_id: 3}
        assert (await search(own_database, tenant, "note number 2"))[0] == "note number 2"
    await VectorMoves(own_database, embedder).prepare_indexes()
    async with own_database.owner() as owner:
        names = {row["name"] for row in await (await owner.execute(INDEXES)).fetchall()}
    assert names == {
        "mnemon.note_vectors_pkey",
        "mnemon." + index_name(RELATION, ModelInUse(embedder.model_id, embedder.dimension)),
    }


async def test_tenants_at_rest_get_no_job(
    own_database: Database, tenants: tuple[UUID, UUID], embedder: LocalEmbedder
) -> None:
    moves = VectorMoves(own_database, embedder)
    assert set(await moves.tenants_to_move()) == set(tenants)
    assert await moves.move(tenants[0], 60) == Moved(rows=6, done=True)
    assert await moves.tenants_to_move() == [tenants[1]]
    assert await VectorMoves(own_database, OLD).tenants_to_move() == [tenants[0]]
    await look_for_old_vectors(own_database)
    async with working(own_database, embedder):
        (found,) = await ended_jobs(own_database, FIND_OLD_VECTORS.name, 1)
    assert found["result"] == {"tenants": 1}


async def test_without_a_model_that_works_nothing_is_moved(
    own_database: Database, tenants: tuple[UUID, UUID], embedder: LocalEmbedder
) -> None:
    await look_for_old_vectors(own_database)
    async with working(own_database, NoEmbedder("none")):
        (found,) = await ended_jobs(own_database, FIND_OLD_VECTORS.name, 1)
    assert found["result"] == {"tenants": 0}
    assert await ended_jobs(own_database, REEMBED.name, 0) == []


async def test_without_a_table_there_is_nothing_to_do(
    own_database: Database, embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_tables, "_registered", {})
    assert not await VectorMoves(own_database, embedder).possible()


async def test_the_first_model_of_all_gets_its_index_too(own_database: Database, tenants: tuple[UUID, UUID]) -> None:
    await look_for_old_vectors(own_database)
    async with working(own_database, OLD):
        (found,) = await ended_jobs(own_database, FIND_OLD_VECTORS.name, 1)
    assert found["result"] == {"tenants": 0}
    async with own_database.owner() as owner:
        names = {row["name"] for row in await (await owner.execute(INDEXES)).fetchall()}
    assert "mnemon." + index_name(RELATION, ModelInUse(OLD.model_id, OLD.dimension)) in names


async def test_a_move_whose_time_is_up_says_that_it_is_not_done(
    own_database: Database, tenants: tuple[UUID, UUID], embedder: LocalEmbedder
) -> None:
    assert await VectorMoves(own_database, embedder).move(tenants[0], -1) == Moved(rows=0, done=False)
    assert await models_of(own_database, tenants[0]) == {OLD.model_id: 3}
