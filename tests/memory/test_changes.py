"""Objects begin, change, are linked, deleted and restored; each change is one version."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from mnemon.errors import InvalidRequest
from mnemon.ids import new_uuid
from mnemon.memory.changing.change_events import Author
from mnemon.memory.changing.drafts import MOST_FACETS
from mnemon.memory.errors import DuplicateChange, MemoryConflict, MemoryDeleted, MemoryNotFound
from mnemon.memory.gateway import Memory
from mnemon.memory.objects import Link, Parent, Place
from tests.memory.conftest import ADA


async def test_an_object_is_read_back_as_it_was_created(memory: Memory, tenant: UUID, place: Place) -> None:
    made = await memory.changes.create(
        tenant, place, ADA, content="# Plan\nShip it.\n", emo_type="doc", tags=["plan"], facets={"summary": "Ship"}
    )
    found = await memory.reading.get(tenant, place, made.object.emo_id)
    assert found.object == made.object
    assert found.object.emo_version == 1
    assert found.idempotency_key == f"{made.object.emo_id}:1:created"
    assert found.object.source_kind == "user"


async def test_every_change_is_one_version(memory: Memory, tenant: UUID, place: Place) -> None:
    changes = memory.changes
    parent = (await changes.create(tenant, place, ADA, content="parent")).object
    one = (await changes.create(tenant, place, ADA, content="a\n")).object
    key = one.emo_id
    steps = [
        await changes.update(tenant, place, ADA, key, content="a\nb\n", rationale="more"),
        await changes.link(
            tenant,
            place,
            ADA,
            key,
            parents=[Parent(parent.emo_id, "derived")],
            links=[Link("uri", "https://example.org")],
        ),
        await changes.set_facet(tenant, place, ADA, key, "summary", "first"),
        await changes.set_facet(tenant, place, ADA, key, "summary", "second"),
        await changes.remove_facet(tenant, place, ADA, key, "summary"),
        await changes.delete(tenant, place, ADA, key, reason="old"),
        await changes.restore(tenant, place, ADA, key, rationale="not old"),
    ]
    assert [step.object.emo_version for step in steps] == [2, 3, 4, 5, 6, 7, 8]
    history = await memory.reading.history(tenant, place, key, contents=True)
    assert [one.operation for one in history] == [
        "created", "updated", "linked", "facet.added", "facet.replaced", "facet.removed", "deleted", "restored",
    ]  # fmt: skip
    assert [one.object for one in history[1:]] == [step.object for step in steps]
    assert (await memory.reading.get(tenant, place, key)).object == steps[-1].object


async def test_the_same_content_again_adds_no_version(memory: Memory, tenant: UUID, place: Place) -> None:
    one = (await memory.changes.create(tenant, place, ADA, content="a")).object
    again = await memory.changes.update(tenant, place, ADA, one.emo_id, content="a")
    assert again.appended is None
    assert again.object == one


async def test_a_deleted_object_is_gone_and_takes_no_change(memory: Memory, tenant: UUID, place: Place) -> None:
    one = (await memory.changes.create(tenant, place, ADA, content="a")).object
    await memory.changes.delete(tenant, place, ADA, one.emo_id)
    with pytest.raises(MemoryNotFound):
        await memory.reading.get(tenant, place, one.emo_id)
    for change in (
        memory.changes.update(tenant, place, ADA, one.emo_id, content="b"),
        memory.changes.delete(tenant, place, ADA, one.emo_id),
        memory.changes.set_facet(tenant, place, ADA, one.emo_id, "x", "y"),
    ):
        with pytest.raises(MemoryDeleted):
            await change
    assert len(await memory.reading.history(tenant, place, one.emo_id)) == 2


async def test_an_old_expected_version_is_refused_with_the_current_one(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    one = (await memory.changes.create(tenant, place, ADA, content="a")).object
    await memory.changes.update(tenant, place, ADA, one.emo_id, content="b", expected_version=1)
    with pytest.raises(MemoryConflict) as refused:
        await memory.changes.update(tenant, place, ADA, one.emo_id, content="c", expected_version=1)
    assert refused.value.details["current_version"] == 2
    assert (await memory.reading.get(tenant, place, one.emo_id)).object.content == "b"


async def test_an_id_or_a_key_creates_one_object(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = new_uuid()
    await memory.changes.create(tenant, place, ADA, content="a", emo_id=emo_id)
    with pytest.raises(DuplicateChange):
        await memory.changes.create(tenant, place, ADA, content="a", emo_id=emo_id)
    keyed = Author(ADA.actor, key="import-7")
    made = await memory.changes.create(tenant, place, keyed, content="b")
    with pytest.raises(DuplicateChange) as refused:
        await memory.changes.create(tenant, place, keyed, content="b")
    assert refused.value.details["emo_id"] == str(made.object.emo_id)
    assert await memory.reading.count(tenant, place) == 2


async def test_a_caller_s_key_takes_no_version_of_another_object(memory: Memory, tenant: UUID, place: Place) -> None:
    victim = (await memory.changes.create(tenant, place, ADA, content="a")).object.emo_id
    await memory.changes.create(tenant, place, replace(ADA, key=f"{victim}:2:updated"), content="b")
    changed = await memory.changes.update(tenant, place, ADA, victim, content="c")
    assert changed.object.emo_version == 2


async def test_a_key_in_the_form_of_the_log_s_own_is_known_as_a_repeat(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    emo_id = (await memory.changes.create(tenant, place, ADA, content="a")).object.emo_id
    await memory.changes.update(tenant, place, ADA, emo_id, content="b")
    with pytest.raises(DuplicateChange):
        await memory.changes.update(tenant, place, replace(ADA, key=f"{emo_id}:2:updated"), emo_id, content="c")


async def test_of_calls_with_one_key_for_many_objects_one_is_done(memory: Memory, tenant: UUID, place: Place) -> None:
    author = replace(ADA, key="once")
    calls = [memory.changes.create(tenant, place, author, emo_id=uuid4(), content="a") for _ in range(6)]
    done = await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(type(one).__name__ for one in done) == ["Changed"] + ["DuplicateChange"] * 5
    assert await memory.reading.count(tenant, place) == 1


async def test_an_object_is_linked_once_however_its_id_is_spelt(memory: Memory, tenant: UUID, place: Place) -> None:
    target = (await memory.changes.create(tenant, place, ADA, content="a")).object.emo_id
    spelt = [Link("emo", str(target).upper()), Link("emo", str(target))]
    made = await memory.changes.create(tenant, place, ADA, content="b", links=spelt)
    assert made.object.links == (Link("emo", str(target)),)
    again = await memory.changes.link(tenant, place, ADA, made.object.emo_id, links=spelt[:1])
    assert again.appended is None


@pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b"])
async def test_text_that_cannot_be_stored_is_refused_wherever_it_stands(
    memory: Memory, tenant: UUID, place: Place, bad: str
) -> None:
    create = partial(memory.changes.create, tenant, place, ADA)
    fields: list[dict[str, Any]] = [
        {"content": bad}, {"content": "x", "tags": [bad]}, {"content": "x", "rationale": bad},
        {"content": "x", "facets": {bad: "v"}}, {"content": "x", "facets": {"v": bad}},
        {"content": "x", "mime_type": bad}, {"content": "x", "source_uri": bad},
        {"content": "x", "links": [Link("uri", bad)]},
    ]  # fmt: skip
    for given in fields:
        with pytest.raises(InvalidRequest):
            await create(**given)
    assert await memory.reading.count(tenant, place) == 0


async def test_facets_are_bounded_also_when_they_come_one_by_one(memory: Memory, tenant: UUID, place: Place) -> None:
    full = {f"f{number}": "x" for number in range(MOST_FACETS)}
    with pytest.raises(InvalidRequest, match=f"{MOST_FACETS + 1} facets"):
        await memory.changes.create(tenant, place, ADA, content="a", facets=full | {"more": "x"})
    emo_id = (await memory.changes.create(tenant, place, ADA, content="a", facets=full)).object.emo_id
    with pytest.raises(InvalidRequest, match=f"{MOST_FACETS + 1} facets"):
        await memory.changes.set_facet(tenant, place, ADA, emo_id, "more", "x")
    replaced = await memory.changes.set_facet(tenant, place, ADA, emo_id, "f0", "y")
    assert replaced.object.facets == full | {"f0": "y"}
    await memory.changes.remove_facet(tenant, place, ADA, emo_id, "f0")
    assert len((await memory.changes.set_facet(tenant, place, ADA, emo_id, "more", "x")).object.facets) == MOST_FACETS
