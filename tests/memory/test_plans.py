"""Searches of a large tenant go by index, as the application role, and a small tenant beside it gets its full share."""

import asyncio
from uuid import UUID

import numpy as np
import pytest

from mnemon.db.database import Database
from mnemon.ids import new_time_ordered_uuid
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.memory.changing.change_events import event_of
from mnemon.memory.determinism import text_hash
from mnemon.memory.gateway import Memory
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Place
from mnemon.memory.reading import EVERY_OBJECT
from mnemon.memory.semantic import NEAREST
from mnemon.memory.vectors import RELATION
from mnemon.models.active import ModelInUse, model_to_write
from mnemon.models.vector_index import ensure_vector_index, index_name
from mnemon.models.vectors import as_vector
from tests.conftest import make_tenant
from tests.memory.conftest import ADA
from tests.patience import PATIENCE

MODEL = ModelInUse("plain@1", 16)
MANY, FEW = 2_500, 20
SCANS = "SELECT coalesce(sum(idx_scan), 0)::int AS n FROM pg_stat_user_indexes WHERE indexrelname = %s"


async def fill(memory: Memory, tenant: UUID, amount: int) -> None:
    place = memory.place(tenant)
    texts = [f"word{number} common" for number in range(amount)]
    for start in range(0, amount, 500):
        events = [
            event_of(tenant, place, ADA, new_time_ordered_uuid(), None, "created", data, None)
            for data in (
                {"emo_type": "note", "content": text, "source": {"kind": "user"}} for text in texts[start : start + 500]
            )
        ]
        await memory.log.append(tenant, events)
    random = np.random.default_rng(amount)
    async with memory.log.database.transaction(tenant) as connection:
        rows = [
            (tenant, text_hash(text), MODEL.model_id, as_vector(random.normal(size=16).astype("f4"))) for text in texts
        ]
        await connection.cursor().executemany(f"INSERT INTO {RELATION} VALUES (%s, %s, %s, %s)", rows)
        await model_to_write(connection, RELATION, MODEL)


@pytest.fixture
async def memory(own_database: Database) -> Memory:
    log = EventLog(own_database)
    projector = Projector(log)
    projector.add(LENS)
    return Memory(log, projector)


async def nearest(memory: Memory, tenant: UUID, place: Place) -> int:
    async with memory.reading.transaction(tenant) as connection:
        view, _ = await memory.reading.view_in(connection, tenant, place)
        values = view.values | EVERY_OBJECT.values | {"kinds": ["content"], "most": 10}
        values |= {"question": as_vector(np.ones(16, "f4")), "model": MODEL.model_id}
        rows = await (await connection.execute(NEAREST, values)).fetchall()
        await connection.execute("SELECT pg_stat_force_next_flush()")
    return len(rows)


async def scans(database: Database, name: str) -> int:
    async with database.owner() as owner:
        row = await (await owner.execute(SCANS, (name,))).fetchone()
    assert row is not None
    return int(row["n"])


async def test_large_tenants_use_the_indexes_and_small_ones_lose_nothing(
    memory: Memory, own_database: Database
) -> None:
    large, small = await make_tenant(own_database), await make_tenant(own_database)
    await fill(memory, large, MANY)
    await fill(memory, small, FEW)
    async with own_database.owner() as owner:
        await ensure_vector_index(owner, RELATION, MODEL)
        await owner.execute("ANALYZE")
    vectors = index_name(RELATION, MODEL)
    assert await nearest(memory, small, memory.place(small)) == 10
    assert await scans(own_database, vectors) == 0
    assert await nearest(memory, large, memory.place(large)) == 10
    assert await scans(own_database, vectors) == 1
    found = await memory.search.search(large, memory.place(large), "word7", mode="text")
    assert [one.object.content for one in found.hits] == ["word7 common"]
    async with asyncio.timeout(PATIENCE):
        # Each connection tells its counts when it is used again, or after a while.
        while not await scans(own_database, "emo_history_by_word"):
            await memory.search.search(large, memory.place(large), "word7", mode="text")
            await asyncio.sleep(0.2)
    await memory.log.close()


COUNTS = """
SELECT coalesce(sum(n_tup_ins) FILTER (WHERE relname = 'emo_history'), 0)::int AS written,
       sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS looked_at
  FROM pg_stat_user_tables WHERE relname ~ '^(events_|emo_)'
"""


async def looked_at(memory: Memory, database: Database, tenant: UUID, written: int) -> int:
    """Rows of events and of the lens that were read so far, once the counts of all that was written are in."""
    async with asyncio.timeout(PATIENCE):
        while True:
            async with memory.reading.transaction(tenant) as connection:
                await connection.execute("SELECT pg_stat_force_next_flush()")
            async with database.owner() as owner:
                row = await (await owner.execute(COUNTS)).fetchone()
            assert row is not None
            if row["written"] >= written:
                return int(row["looked_at"])
            await asyncio.sleep(0.1)


async def test_a_load_into_tables_never_analysed_and_a_change_in_a_large_world_look_at_few_rows(
    memory: Memory, own_database: Database
) -> None:
    tenant, objects, changes = await make_tenant(own_database), 3_000, 20
    place = memory.place(tenant)
    # While there is nothing yet, the lens needs no rebuild to be current.
    await memory.prepare(tenant)
    await fill(memory, tenant, objects)
    loaded = await looked_at(memory, own_database, tenant, objects)
    assert loaded < 20 * objects
    async with own_database.owner() as owner:
        await owner.execute("ANALYZE")
    loaded = await looked_at(memory, own_database, tenant, objects)
    for one in await memory.reading.page(tenant, place, limit=changes):
        await memory.changes.update(tenant, place, ADA, one.object.emo_id, content="changed")
    assert await looked_at(memory, own_database, tenant, objects + changes) - loaded < objects * changes / 2
    await memory.log.close()
