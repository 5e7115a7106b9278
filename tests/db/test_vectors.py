"""Vectors reach the server bit for bit, and only as vectors."""

import numpy as np
import pytest

from mnemon.db.database import Database


@pytest.mark.parametrize("kind", ["vector", "halfvec"])
async def test_a_vector_arrives_as_it_was_sent(database: Database, kind: str) -> None:
    sent = np.array([1.5, -0.25, 3.0e-5, 0.0, 1 / 3], dtype=np.float32)
    async with database.session() as session:
        row = await (await session.execute(f"SELECT (%s::{kind})::text AS text", (sent,))).fetchone()  # type: ignore[arg-type]
    assert row is not None
    arrived = np.array(row["text"][1:-1].split(","), dtype=np.float32)
    assert np.array_equal(arrived, sent if kind == "vector" else sent.astype(np.float16).astype(np.float32))


async def test_a_part_of_a_table_of_vectors_is_sent_as_well_as_a_whole_one(database: Database) -> None:
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    async with database.session() as session:
        row = await (
            await session.execute("SELECT %s::vector AS own, %s AS all", (table[:, 1], table.ravel()))
        ).fetchone()
    assert row is not None
    assert (row["own"], row["all"]) == ("[1,5,9]", [float(number) for number in range(12)])


async def test_a_table_of_vectors_is_not_taken_for_one(database: Database) -> None:
    async with database.session() as session:
        with pytest.raises(ValueError, match="one dimension, not 2"):
            await session.execute("SELECT %s::vector", (np.zeros((2, 2), dtype=np.float32),))
