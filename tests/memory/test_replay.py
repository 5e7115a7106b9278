"""The lens is what the log says: made anew, it has the same rows and the same hashes."""

import asyncio
from dataclasses import replace
from uuid import UUID

import psycopg
import pytest

from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.memory.gateway import Memory
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Link, Parent, Place
from mnemon.memory.views import REAL
from tests.memory.conftest import ADA


async def some_history(memory: Memory, tenant: UUID, place: Place) -> list[UUID]:
    changes = memory.changes
    first = (
        await changes.create(tenant, place, ADA, content="first\n", tags=["a"], rationale="to begin")
    ).object.emo_id
    second = (
        await changes.create(tenant, place, ADA, content="second\n", parents=[Parent(first, "supersedes")])
    ).object.emo_id
    third = (await changes.create(tenant, place, ADA, content="third\n", facets={"mood": "calm"})).object.emo_id
    await changes.update(tenant, place, ADA, first, content="first\nagain\n", rationale="a second thought")
    await changes.set_facet(tenant, place, ADA, second, "summary", "about the second")
    await changes.link(tenant, place, ADA, third, links=[Link("uri", "https://example.org"), Link("emo", str(first))])
    await changes.link(tenant, place, ADA, third, removed_links=[Link("uri", "https://example.org")])
    await changes.delete(tenant, place, ADA, first, reason="superseded")
    await changes.restore(tenant, place, ADA, first, rationale="still needed")
    await changes.delete(tenant, place, ADA, third)
    return [first, second, third]


async def test_a_replay_gives_the_same_rows_and_hashes(memory: Memory, tenant: UUID, place: Place) -> None:
    await some_history(memory, tenant, place)
    report = await memory.replay.verify(tenant)
    assert report.same, report.differences
    assert report.objects == 3
    assert report.branches == {f"{tenant}/main": report.branches[f"{tenant}/main"]}


async def test_a_replay_finds_a_row_that_someone_changed(memory: Memory, tenant: UUID, place: Place) -> None:
    [first, *_] = await some_history(memory, tenant, place)
    async with memory.log.database.owner() as owner:
        await owner.execute("UPDATE mnemon.emo_current SET content = 'forged' WHERE emo_id = %s", (first,))
        await owner.execute("DELETE FROM mnemon.emo_links WHERE tenant_id = %s", (tenant,))
    report = await memory.replay.verify(tenant)
    assert {(one.table, one.how) for one in report.differences} == {
        ("emo_current", "has other columns in the replay"),
        ("emo_links", "is only in the replay"),
    }
    assert (await memory.replay.verify(tenant)).same


FORGERIES = {
    "emo_branches": "UPDATE mnemon.emo_branches SET purpose = 'forged' WHERE tenant_id = %s",
    "emo_history": "UPDATE mnemon.emo_history SET rationale = 'forged' WHERE tenant_id = %s AND emo_version = 2",
    "emo_links": "UPDATE mnemon.emo_links SET created_at = created_at + interval '1 microsecond' WHERE tenant_id = %s",
    "emo_texts": "UPDATE mnemon.emo_texts SET text_hash = sha256('forged') WHERE tenant_id = %s",
    "emo_graph_nodes": "UPDATE mnemon.emo_graph_nodes SET tags = '{forged}' WHERE tenant_id = %s",
    "emo_graph_edges": """UPDATE mnemon.emo_graph_edges SET properties = '{"forged": 1}' WHERE tenant_id = %s""",
    # The same number to the database's equality, but not the same text.
    "emo_current": """UPDATE mnemon.emo_current SET vector_meta = '{"model_id": "m", "embed_dim": 384.0}'
                       WHERE tenant_id = %s""",
}


@pytest.mark.parametrize("table", sorted(FORGERIES))
async def test_a_replay_finds_and_mends_a_forgery_in_any_table(
    memory: Memory, tenant: UUID, place: Place, table: str
) -> None:
    meta = {"model_id": "m", "embed_dim": 384}
    memory = Memory(memory.log, memory.projector)
    memory.changes._vector_meta = lambda: meta
    await some_history(memory, tenant, place)
    await memory.branches.create(tenant, Place(place.world_id, "away"), ADA, purpose="true")
    async with memory.log.database.owner() as owner:
        assert (await owner.execute(FORGERIES[table], (tenant,))).rowcount
    report = await memory.replay.verify(tenant)
    assert {one.table for one in report.differences} == {table}
    assert (await memory.replay.verify(tenant)).same


async def test_a_rebuild_leaves_rows_alone_that_are_as_they_should_be(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    [first, *_] = await some_history(memory, tenant, place)
    where = "SELECT emo_id, ctid::text AS at FROM mnemon.emo_current WHERE tenant_id = %s"

    async def places() -> dict[UUID, str]:
        async with memory.log.database.transaction(tenant) as connection:
            return {row["emo_id"]: row["at"] for row in await (await connection.execute(where, (tenant,))).fetchall()}

    async with memory.log.database.owner() as owner:
        await owner.execute("UPDATE mnemon.emo_current SET content = 'forged' WHERE emo_id = %s", (first,))
    before = await places()
    await memory.replay.rebuild(tenant)
    after = await places()
    assert {emo_id for emo_id in before if before[emo_id] != after[emo_id]} == {first}


@pytest.mark.parametrize("table", sorted(REAL.values()))
async def test_nobody_but_the_projector_writes_the_lens(memory: Memory, tenant: UUID, place: Place, table: str) -> None:
    await some_history(memory, tenant, place)
    for statement in (
        f"DELETE FROM {table}",
        f"UPDATE {table} SET branch = 'x'",
        f"INSERT INTO {table} DEFAULT VALUES",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with memory.log.database.transaction(tenant) as connection:
                await connection.execute(statement)


async def test_a_new_version_of_the_projector_makes_the_rows_anew_on_first_use(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    [first, *_] = await some_history(memory, tenant, place)
    hashes = await memory.replay.branch_hashes(tenant)
    async with memory.log.database.owner() as owner:
        await owner.execute("UPDATE mnemon.emo_current SET content = 'as an older program wrote it'")
    async with EventLog(memory.log.database, seal=memory.log.reader._seal) as log:
        projector = Projector(log)
        newer = replace(LENS, version=LENS.version + 1)
        projector.add(newer)
        upgraded = Memory(log, projector)
        assert (await upgraded.reading.get(tenant, place, first)).object.content == "first\nagain\n"
        async with log.database.transaction(tenant) as connection:
            row = await (
                await connection.execute("SELECT content FROM mnemon.emo_current WHERE emo_id = %s", (first,))
            ).fetchone()
        assert row == {"content": "first\nagain\n"}
        assert await upgraded.replay.branch_hashes(tenant) == hashes


async def test_readers_and_writers_go_on_during_a_rebuild(memory: Memory, tenant: UUID, place: Place) -> None:
    ids = await some_history(memory, tenant, place)
    seen: list[int] = []

    async def look(done: asyncio.Event) -> None:
        while not done.is_set():
            seen.append(await memory.reading.count(tenant, place))
            await memory.changes.set_facet(tenant, place, ADA, ids[0], "beat", str(len(seen)))

    done = asyncio.Event()
    looking = asyncio.create_task(look(done))
    for _ in range(3):
        await memory.replay.rebuild(tenant)
    done.set()
    await looking
    assert set(seen) == {2}
    assert (await memory.replay.verify(tenant)).same


async def test_branches_have_the_same_hash_exactly_while_they_show_the_same(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    [_, second, _] = await some_history(memory, tenant, place)
    idle, busy, later = (Place(place.world_id, name) for name in ("idle", "busy", "later"))
    for branch in (idle, busy):
        await memory.branches.create(tenant, branch, ADA)

    async def hashes() -> dict[str, bytes]:
        return {name.partition("/")[2]: own for name, own in (await memory.replay.branch_hashes(tenant)).items()}

    before = await hashes()
    assert before["main"] == before["idle"] == before["busy"]
    await memory.changes.update(tenant, busy, ADA, second, content="busy\n")
    await memory.changes.update(tenant, place, ADA, second, content="main\n")
    await memory.branches.create(tenant, later, ADA, parent="busy")
    after = await hashes()
    assert after["idle"] == before["idle"] and after["later"] == after["busy"]
    assert len({after["main"], after["idle"], after["busy"]}) == 3
