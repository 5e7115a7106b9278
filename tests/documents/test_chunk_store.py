"""Chunks and their counts are stored, switched and removed as one."""

from uuid import UUID

import numpy as np
import pytest

from mnemon.db.database import SET_TENANT, Database
from mnemon.documents.ingest.chunk_store import activate_chunks, chunk_id_of, remove_chunks, store_chunks
from mnemon.models.active import ModelInUse

from .sample_chunks import MODEL, chunks_of, put, toward

COUNTS = """
SELECT lexeme, texts AS chunks FROM mnemon.question_terms(%s, 'passage') ORDER BY lexeme
"""


async def counts(database: Database, tenant: UUID, words: str) -> dict[str, int]:
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute(COUNTS, (words,))).fetchall()
    return {row["lexeme"]: row["chunks"] for row in rows}


async def rows_left(database: Database, tenant: UUID) -> dict[str, int]:
    left = {}
    async with database.transaction(tenant) as tx:
        for table in ("chunks", "chunk_terms", "chunk_vectors", "term_counts", "revision_speakers"):
            row = await (await tx.execute(f"SELECT count(*) AS rows FROM mnemon.{table}")).fetchone()  # type: ignore[arg-type]
            left[table] = row["rows"] if row else -1
        row = await (await tx.execute("SELECT sum(texts) AS c, sum(length) AS l FROM mnemon.text_counts")).fetchone()
        left |= {"counted": int(row["c"] or 0), "length": int(row["l"] or 0)} if row else {}
    return left


async def test_each_word_is_counted_in_the_chunks_that_have_it(database: Database, tenant: UUID) -> None:
    await put(database, tenant, ["Budgets were approved, and the budget is final.", "The budget fell."])
    await put(database, tenant, ["Approved at last."])
    assert await counts(database, tenant, "the budget was approved or refused") == {
        "budget": 2, "approv": 2, "refus": 0,
    }  # fmt: skip


async def test_a_revision_switched_off_no_longer_counts_and_on_again_does(database: Database, tenant: UUID) -> None:
    _, revision = await put(database, tenant, ["A rare ferret.", "Another ferret."])
    for active, expected in ((False, 0), (False, 0), (True, 2), (True, 2)):
        async with database.transaction(tenant) as tx:
            await activate_chunks(tx, revision, active)
        assert await counts(database, tenant, "ferrets") == {"ferret": expected}


async def test_removal_leaves_nothing_behind(database: Database, tenant: UUID) -> None:
    vectors = np.stack([toward(0), toward(1)])
    doc_id, first = await put(database, tenant, ["The ferret Alfons.", "It sleeps."], vectors, speaker="Ada Lovelace")
    assert (await rows_left(database, tenant))["revision_speakers"] == 3
    _, second = await put(database, tenant, ["The ferret woke."], np.stack([toward(2)]), doc_id=doc_id)
    async with database.transaction(tenant) as tx:
        await remove_chunks(tx, first)
        await remove_chunks(tx, second)
        await remove_chunks(tx, second)
    assert set((await rows_left(database, tenant)).values()) == {0}


async def test_storing_again_replaces_and_keeps_the_ids(database: Database, tenant: UUID) -> None:
    doc_id, revision = await put(database, tenant, ["One.", "Two ferrets."], np.stack([toward(0), toward(1)]))
    before = await rows_left(database, tenant)
    async with database.transaction(tenant) as tx:
        await store_chunks(
            tx, tenant=tenant, doc_id=doc_id, revision_id=revision, chunks=chunks_of(["One.", "Two ferrets."]),
            vectors=np.stack([toward(0), toward(1)]), model=MODEL,
        )  # fmt: skip
        rows = await (await tx.execute("SELECT chunk_id FROM mnemon.chunks ORDER BY ordinal")).fetchall()
    assert await rows_left(database, tenant) == before
    assert [row["chunk_id"] for row in rows] == [chunk_id_of(revision, 0), chunk_id_of(revision, 1)]


async def test_vectors_of_a_model_to_come_wait_beside_those_in_use(database: Database, tenant: UUID) -> None:
    await put(database, tenant, ["One."], np.stack([toward(0)]))
    await put(database, tenant, ["Two."], np.stack([toward(0)]), model=ModelInUse("another", 8))
    async with database.owner() as owner, owner.transaction():
        await owner.execute(SET_TENANT, (str(tenant),))
        found = await (
            await owner.execute("SELECT ordinal FROM mnemon.nearest_chunks('[1,0,0,0,0,0,0,0]', NULL, true, 10)")
        ).fetchall()
    assert len(found) == 1


@pytest.mark.parametrize("times", [0, 1, 2, 3, 7, 20, 24, 40])
async def test_occurrences_are_counted_from_the_rank(database: Database, times: int) -> None:
    text = "other words " + "ferret " * times + "o'clock"
    query = "SELECT mnemon.occurrences(to_tsvector('english', %s), mnemon.lexeme_query(%s)) AS times"
    async with database.session() as session:
        row = await (await session.execute(query, (text, "ferret"))).fetchone()
        assert row == {"times": min(times, 24)}


@pytest.mark.parametrize("lexeme", ["o'clock", "back\\slash", "a&b|!(c):*", "'"])
async def test_any_lexeme_is_looked_for_as_it_is(database: Database, lexeme: str) -> None:
    query = "SELECT mnemon.occurrences(array_to_tsvector(ARRAY[%s]), mnemon.lexeme_query(%s)) AS times"
    async with database.session() as session:
        stripped = await (await session.execute("SELECT mnemon.lexeme_query(%s)::text AS query", (lexeme,))).fetchone()
        assert stripped is not None
        row = await (await session.execute(query, (lexeme, lexeme))).fetchone()
        assert row == {"times": 1}
