"""Changing the embedding model is a background matter: every search keeps finding every row."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from mnemon.db.database import Connection, Database
from mnemon.ids import new_uuid
from mnemon.models import reembed
from mnemon.models.active import ModelInUse, active_model, model_to_write
from mnemon.models.embedder import Purpose, Vectors
from mnemon.models.failures import EmbeddingDimensionMismatch
from mnemon.models.local import LocalEmbedder
from mnemon.models.reembed import ReembedStep, reembed_step
from mnemon.models.vector_tables import VectorTable
from mnemon.models.vectors import as_vector
from tests.patience import PATIENCE

RELATION = "mnemon.note_vectors"
CREATE = """
CREATE TABLE mnemon.notes (
    tenant_id uuid NOT NULL, note_id uuid NOT NULL, body text NOT NULL, PRIMARY KEY (tenant_id, note_id));
CREATE TABLE mnemon.note_vectors (
    tenant_id uuid NOT NULL, note_id uuid NOT NULL, model_id text NOT NULL, embedding vector NOT NULL,
    PRIMARY KEY (tenant_id, note_id, model_id),
    FOREIGN KEY (tenant_id, note_id) REFERENCES mnemon.notes ON DELETE CASCADE);
CALL mnemon.isolate_by_tenant('mnemon.notes');
CALL mnemon.isolate_by_tenant('mnemon.note_vectors');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.notes, mnemon.note_vectors TO mnemon_app;
"""
SEARCH = """
SELECT body FROM mnemon.note_vectors JOIN mnemon.notes USING (tenant_id, note_id)
WHERE model_id = %s ORDER BY embedding <=> %s::vector LIMIT 3
"""


class OldEmbedder:
    """Another model: short vectors of letter counts."""

    model_id = "letters"
    dimension = 26
    source = "a test"

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        counts = np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts])
        return ((counts + 0.01) / np.linalg.norm(counts + 0.01, axis=1, keepdims=True)).astype(np.float32)

    async def close(self) -> None:
        pass


async def bodies(tx: Connection, keys: Sequence[Any]) -> Mapping[Any, str]:
    rows = await (
        await tx.execute("SELECT note_id, body FROM mnemon.notes WHERE note_id = ANY(%s)", (keys,))
    ).fetchall()
    return {row["note_id"]: row["body"] for row in rows}


TABLE = VectorTable(RELATION, "note_id", bodies)
OLD = OldEmbedder()
EMBEDDERS: dict[str, Any] = {}


async def write(database: Database, tenant: UUID, body: str, offered: Any = OLD) -> UUID:
    note_id = new_uuid()
    async with database.transaction(tenant) as tx:
        used = await model_to_write(tx, RELATION, ModelInUse(offered.model_id, offered.dimension))
        (vector,) = await EMBEDDERS[used.model_id].embed([body])
        await tx.execute("INSERT INTO mnemon.notes VALUES (%s, %s, %s)", (tenant, note_id, body))
        await tx.execute(
            "INSERT INTO mnemon.note_vectors VALUES (%s, %s, %s, %s)",
            (tenant, note_id, used.model_id, as_vector(vector)),
        )
    return note_id


async def search(database: Database, tenant: UUID, question: str) -> list[str]:
    async with database.transaction(tenant) as tx:
        used = await active_model(tx, RELATION)
        assert used is not None
        (vector,) = await EMBEDDERS[used.model_id].embed([question], purpose="query")
        rows = await (await tx.execute(SEARCH, (used.model_id, as_vector(vector)))).fetchall()
    return [row["body"] for row in rows]


async def models_of(database: Database, tenant: UUID) -> dict[str, int]:
    async with database.transaction(tenant) as tx:
        rows = await (
            await tx.execute("SELECT model_id, count(*) FROM mnemon.note_vectors GROUP BY model_id")
        ).fetchall()
    return {row["model_id"]: row["count"] for row in rows}


@pytest.fixture
async def notes(own_database: Database, embedder: LocalEmbedder) -> AsyncIterator[tuple[Database, UUID]]:
    EMBEDDERS.update({OLD.model_id: OLD, embedder.model_id: embedder})
    tenant = new_uuid()
    async with own_database.owner() as owner:
        await owner.execute(CREATE)
        await owner.execute("INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, 'notes', 'N')", (tenant,))
    yield own_database, tenant


async def run_to_the_end(database: Database, tenant: UUID, embedder: Any, most: int = 50) -> list[ReembedStep]:
    steps: list[ReembedStep] = []
    while not steps or steps[-1].did != "done":
        steps.append(await reembed_step(database, tenant, TABLE, embedder))
        assert len(steps) < most
    return steps


async def test_every_search_finds_every_row_while_the_model_changes(
    notes: tuple[Database, UUID], embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, tenant = notes
    monkeypatch.setattr(reembed, "BATCH", 3)
    for number in range(8):
        await write(database, tenant, f"note number {number}")
    await write(database, tenant, "the harbour was closed")
    steps: list[ReembedStep] = []
    while not steps or steps[-1].did != "done":
        steps.append(await reembed_step(database, tenant, TABLE, embedder))
        found = await search(database, tenant, "the harbour was closed")
        assert len(found) == 3
        assert found[0] == "the harbour was closed"
    assert [step.did for step in steps] == ["filled", "filled", "filled", "switched", "swept", "done"]
    assert await models_of(database, tenant) == {embedder.model_id: 9}


async def test_a_row_written_during_the_change_is_found_before_and_after(
    notes: tuple[Database, UUID], embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, tenant = notes
    monkeypatch.setattr(reembed, "BATCH", 2)
    for number in range(4):
        await write(database, tenant, f"note number {number}")
    await reembed_step(database, tenant, TABLE, embedder)
    await write(database, tenant, "a late note about ships", embedder)
    assert "a late note about ships" in await search(database, tenant, "a late note about ships")
    await run_to_the_end(database, tenant, embedder)
    assert "a late note about ships" in await search(database, tenant, "vessels at sea")
    assert await models_of(database, tenant) == {embedder.model_id: 5}


async def test_a_row_forgotten_while_it_is_embedded_stays_forgotten(
    notes: tuple[Database, UUID], embedder: LocalEmbedder
) -> None:
    database, tenant = notes
    kept, gone = await write(database, tenant, "kept"), await write(database, tenant, "to be forgotten")

    class ForgetsMeanwhile:
        model_id, dimension, source = embedder.model_id, embedder.dimension, "a test"

        async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
            async with database.transaction(tenant) as tx:
                await tx.execute("DELETE FROM mnemon.notes WHERE note_id = %s", (gone,))
            return await embedder.embed(texts, purpose)

        async def close(self) -> None:
            pass

    assert await reembed_step(database, tenant, TABLE, ForgetsMeanwhile()) == ReembedStep("filled", 1)
    await run_to_the_end(database, tenant, embedder)
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT note_id FROM mnemon.note_vectors")).fetchall()
    assert [row["note_id"] for row in rows] == [kept]


async def test_two_workers_at_once_do_the_work_once(notes: tuple[Database, UUID], embedder: LocalEmbedder) -> None:
    database, tenant = notes
    for number in range(6):
        await write(database, tenant, f"note number {number}")
    await asyncio.wait_for(asyncio.gather(*(run_to_the_end(database, tenant, embedder) for _ in range(2))), PATIENCE)
    assert await models_of(database, tenant) == {embedder.model_id: 6}


async def test_a_change_of_mind_goes_back_to_the_active_model(
    notes: tuple[Database, UUID], embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, tenant = notes
    monkeypatch.setattr(reembed, "BATCH", 2)
    for number in range(4):
        await write(database, tenant, f"note number {number}")
    await reembed_step(database, tenant, TABLE, embedder)
    await run_to_the_end(database, tenant, OLD)
    assert await models_of(database, tenant) == {OLD.model_id: 4}


async def test_a_writer_in_mid_transaction_is_waited_for(notes: tuple[Database, UUID], embedder: LocalEmbedder) -> None:
    database, tenant = notes
    await write(database, tenant, "first")
    await reembed_step(database, tenant, TABLE, embedder)
    note_id = new_uuid()
    async with database.transaction(tenant) as tx:
        used = await model_to_write(tx, RELATION, ModelInUse(embedder.model_id, 384))
        assert used.model_id == OLD.model_id
        change = asyncio.create_task(run_to_the_end(database, tenant, embedder))
        done, _ = await asyncio.wait([change], timeout=0.3)
        assert not done
        (vector,) = await OLD.embed(["second"])
        await tx.execute("INSERT INTO mnemon.notes VALUES (%s, %s, 'second')", (tenant, note_id))
        await tx.execute(
            "INSERT INTO mnemon.note_vectors VALUES (%s, %s, %s, %s)",
            (tenant, note_id, OLD.model_id, as_vector(vector)),
        )
    await asyncio.wait_for(change, PATIENCE)
    assert await models_of(database, tenant) == {embedder.model_id: 2}


async def test_a_vector_whose_text_is_gone_does_not_stop_the_change(
    notes: tuple[Database, UUID], embedder: LocalEmbedder
) -> None:
    database, tenant = notes
    await write(database, tenant, "kept")
    lost = await write(database, tenant, "lost")

    async def only_kept(tx: Connection, keys: Sequence[Any]) -> Mapping[Any, str]:
        return {key: body for key, body in (await bodies(tx, keys)).items() if key != lost}

    table = VectorTable(RELATION, "note_id", only_kept)
    for _ in range(10):
        if (await reembed_step(database, tenant, table, embedder)).did == "done":
            break
    assert await models_of(database, tenant) == {embedder.model_id: 1}


async def test_a_model_that_changes_its_length_in_silence_is_refused(notes: tuple[Database, UUID]) -> None:
    database, tenant = notes
    await write(database, tenant, "first")
    with pytest.raises(EmbeddingDimensionMismatch, match="of 30 numbers, and the stored ones have 26"):
        async with database.transaction(tenant) as tx:
            await model_to_write(tx, RELATION, ModelInUse(OLD.model_id, 30))


def test_a_literal_keeps_every_bit() -> None:
    row = np.random.default_rng(3).normal(size=384).astype(np.float32)
    assert np.array_equal(np.array(as_vector(row)[1:-1].split(","), np.float32), row)
