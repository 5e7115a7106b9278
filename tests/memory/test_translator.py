"""Items become objects, once each, and the same as if they had been written directly."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.events import NewEvent
from mnemon.memory.gateway import Memory
from mnemon.memory.objects import Place
from mnemon.memory.translator import SUBSCRIPTION, object_of_item
from tests.memory.conftest import ADA
from tests.patience import PATIENCE

# What differs by nature: names of changes, times, and places in the log.
OWN = (
    "tenant_id",
    "world_id",
    "change_id",
    "determinism_hash",
    "sequence",
    "since",
    "until",
    "link_id",
    "edge_id",
    "graph",
)


@pytest.fixture
async def database(own_database: Database) -> Database:
    """The follower goes over every tenant that there is, and the shared database has those of all tests."""
    return own_database


async def items(memory: Memory, tenant: UUID, *events: tuple[str, dict[str, Any]]) -> None:
    made = [NewEvent(type=f"memory.item.{kind}", data=data, actor=ADA.actor) for kind, data in events]
    for event in made:
        await memory.log.append(tenant, [event])
    await memory.translator.catch_up(tenant)


async def rows(memory: Memory, tenant: UUID) -> dict[str, list[dict[str, Any]]]:
    found = {}
    async with memory.log.database.transaction(tenant) as connection:
        for table in ("emo_current", "emo_history", "emo_links", "emo_texts", "emo_graph_nodes", "emo_graph_edges"):
            got = await (await connection.execute(f"SELECT * FROM mnemon.{table}")).fetchall()
            plain = [
                {name: value for name, value in row.items() if name not in OWN and not name.endswith("_at")}
                for row in got
            ]
            for row in plain:
                row.pop("target", None)
            found[table] = sorted(plain, key=str)
    return found


async def test_items_give_the_same_tables_as_direct_changes(memory: Memory, tenant: UUID, other_tenant: UUID) -> None:
    emo_id = "7b6c1f0e-6d1b-4d0c-9a66-1c6b7a0c5e04"
    await items(
        memory, tenant,
        ("upserted", {"item_id": emo_id, "content": "one\n", "tags": ["a"], "source": {"kind": "ingest", "uri": "x"}}),
        ("upserted", {"item_id": emo_id, "content": "one\ntwo\n", "tags": ["a", "b"], "reason": "more"}),
        ("upserted", {"item_id": emo_id, "content": "one\ntwo\n", "tags": ["a", "b"]}),
        ("deleted", {"item_id": emo_id, "reason": "old"}),
        ("upserted", {"item_id": emo_id, "content": "three\n", "tags": ["a"]}),
    )  # fmt: skip
    changes, key = memory.changes, UUID(emo_id)
    place = Memory.place(other_tenant)
    await changes.create(
        other_tenant, place, ADA, emo_id=key, content="one\n", tags=["a"], source_kind="ingest", source_uri="x"
    )
    await changes.update(other_tenant, place, ADA, key, content="one\ntwo\n", tags=["a", "b"], rationale="more")
    await changes.delete(other_tenant, place, ADA, key, reason="old")
    await changes.restore(other_tenant, place, ADA, key)
    await changes.update(other_tenant, place, ADA, key, content="three\n", tags=["a"])
    assert await rows(memory, tenant) == await rows(memory, other_tenant)


async def test_an_item_that_is_delivered_again_changes_nothing(memory: Memory, tenant: UUID, place: Place) -> None:
    await items(
        memory, tenant,
        ("upserted", {"item_id": "note-1", "content": "one"}),
        ("upserted", {"item_id": "note-1", "content": "two"}),
        ("deleted", {"item_id": "note-1"}),
        ("upserted", {"item_id": "note-1", "content": "three"}),
    )  # fmt: skip
    before = await memory.reading.history(tenant, place, object_of_item(place, "note-1"))
    assert [one.operation for one in before] == ["created", "updated", "deleted", "restored", "updated"]
    await memory.log.subscriptions.reset(tenant, SUBSCRIPTION)
    await memory.translator.catch_up(tenant)
    after = await memory.reading.history(tenant, place, object_of_item(place, "note-1"))
    assert after == before


async def test_what_was_changed_after_an_item_is_not_undone_by_it(memory: Memory, tenant: UUID, place: Place) -> None:
    await items(memory, tenant, ("upserted", {"item_id": "n", "content": "one"}))
    late = NewEvent(type="memory.item.upserted", data={"item_id": "n", "content": "two"}, actor=ADA.actor)
    await memory.log.append(tenant, [late])
    emo_id = object_of_item(place, "n")
    await memory.changes.update(tenant, place, ADA, emo_id, content="by hand")
    await memory.translator.catch_up(tenant)
    assert (await memory.reading.get(tenant, place, emo_id)).object.content == "by hand"


async def test_a_translation_names_its_cause(memory: Memory, tenant: UUID, place: Place) -> None:
    await items(memory, tenant, ("upserted", {"item_id": "note-1", "content": "one"}))
    [item, *_] = (await memory.log.read_page(tenant)).events
    [created] = [one for one in (await memory.log.read_page(tenant)).events if one.type == "emo.created"]
    assert created.caused_by == item.id
    assert created.actor_id == ADA.actor.id


async def test_the_follower_translates_by_itself(memory: Memory, tenant: UUID, place: Place) -> None:
    async with memory.follower():
        event = NewEvent(type="memory.item.upserted", data={"item_id": "note-1", "content": "one"}, actor=ADA.actor)
        await memory.log.append(tenant, [event])
        async with asyncio.timeout(PATIENCE):
            with memory.log.arrivals.watch() as signal:
                while not await memory.reading.count(tenant, place):
                    await signal.wait(0.05)
