"""A table of several models' vectors is searched by index, model by model."""

from uuid import UUID

import numpy as np
import psycopg
import pytest
from psycopg import sql

from mnemon.db.database import Database
from mnemon.ids import new_uuid
from mnemon.models.active import ModelInUse
from mnemon.models.vector_index import ensure_vector_index, indexed_vector
from mnemon.models.vectors import as_vector

SMALL, LARGE = ModelInUse("small", 8), ModelInUse("it's/large:16", 16)
NEAREST = sql.SQL("""
SELECT id FROM mnemon.things WHERE model_id = {model} ORDER BY {indexed} <=> {question}::halfvec LIMIT 5
""")


def nearest(model: ModelInUse, question: np.ndarray) -> sql.Composed:
    return NEAREST.format(
        model=sql.Literal(model.model_id), indexed=indexed_vector(model), question=sql.Literal(as_vector(question))
    )


async def fill(database: Database) -> dict[str, dict[UUID, np.ndarray]]:
    random = np.random.default_rng(5)
    stored: dict[str, dict[UUID, np.ndarray]] = {}
    async with database.owner() as owner:
        await owner.execute("CREATE TABLE mnemon.things (id uuid, model_id text, embedding vector)")
        for model in (SMALL, LARGE):
            stored[model.model_id] = {new_uuid(): random.normal(size=model.dimension).astype("f4") for _ in range(300)}
            rows = [(key, model.model_id, as_vector(vector)) for key, vector in stored[model.model_id].items()]
            await owner.cursor().executemany("INSERT INTO mnemon.things VALUES (%s, %s, %s)", rows)
    return stored


async def test_each_model_has_its_index_and_finds_its_own(own_database: Database) -> None:
    stored = await fill(own_database)
    async with own_database.owner() as owner:
        for model in (SMALL, LARGE):
            name = await ensure_vector_index(owner, "mnemon.things", model)
            assert await ensure_vector_index(owner, "mnemon.things", model) == name
            wanted, question = next(iter(stored[model.model_id].items()))
            query = nearest(model, question)
            await owner.execute("SET enable_seqscan = off")
            plan = await (await owner.execute(sql.SQL("EXPLAIN {}").format(query))).fetchall()
            assert any(f"Index Scan using {name}" in line["QUERY PLAN"] for line in plan)
            found = [row["id"] for row in await (await owner.execute(query)).fetchall()]
            assert found[0] == wanted
            assert set(found) <= set(stored[model.model_id])


async def test_an_index_left_broken_is_built_again(own_database: Database) -> None:
    await fill(own_database)
    async with own_database.owner() as owner:
        # A vector of the wrong length makes the build fail half-way, as a crash would.
        await owner.execute("INSERT INTO mnemon.things VALUES (gen_random_uuid(), 'small', '[1,2]')")
        with pytest.raises(psycopg.Error, match="expected 8 dimensions"):
            await ensure_vector_index(owner, "mnemon.things", SMALL)
        broken = await (await owner.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid")).fetchone()
        assert broken == {"count": 1}
        await owner.execute("DELETE FROM mnemon.things WHERE vector_dims(embedding) = 2")
        await ensure_vector_index(owner, "mnemon.things", SMALL)
        mended = await (await owner.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid")).fetchone()
        assert mended == {"count": 0}
