"""Compaction loses nothing: the state, the hash and the version stay, and old versions are read from the log."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest
from mnemon.memory.errors import BranchNotFound, CompactionRefused
from mnemon.memory.gateway import Memory
from mnemon.memory.objects import MemoryObject, Place
from tests.memory.conftest import ADA, BOT


async def edited(memory: Memory, tenant: UUID, place: Place, times: int = 4) -> UUID:
    emo_id = (await memory.changes.create(tenant, place, ADA, content="1")).object.emo_id
    for number in range(2, times + 1):
        await memory.changes.update(tenant, place, ADA, emo_id, content=str(number), rationale=f"step {number}")
    return emo_id


async def contents(memory: Memory, tenant: UUID, place: Place) -> list[str | None]:
    async with memory.log.database.transaction(tenant) as connection:
        rows = await connection.execute(
            "SELECT content FROM mnemon.emo_history WHERE world_id = %s AND branch = %s ORDER BY since",
            (place.world_id, place.branch),
        )
        return [row["content"] for row in await rows.fetchall()]


async def test_state_hash_and_version_stay_and_history_stays_readable(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    emo_id = await edited(memory, tenant, place)
    before = await memory.reading.get(tenant, place, emo_id)
    hashes = await memory.replay.branch_hashes(tenant)
    done = await memory.compaction.compact(tenant, place, emo_id, ADA)
    assert (done.emo_version, list(done.compacted_versions)) == (4, [1, 2, 3])
    assert await contents(memory, tenant, place) == [None, None, None, "4"]
    assert await memory.reading.get(tenant, place, emo_id) == before
    assert await memory.replay.branch_hashes(tenant) == hashes
    assert [(await memory.reading.get(tenant, place, emo_id, f"v{n}")).object.content for n in (1, 2, 3, 4)] == list(
        "1234"
    )
    history = await memory.reading.history(tenant, place, emo_id, contents=True)
    assert [one.object.content for one in history] == list("1234")
    report = await memory.replay.verify(tenant)
    assert report.same, report.differences


async def test_work_goes_on_after_a_compaction(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = await edited(memory, tenant, place)
    await memory.compaction.compact(tenant, place, emo_id, ADA)
    with pytest.raises(CompactionRefused):
        await memory.compaction.compact(tenant, place, emo_id, ADA)
    await memory.changes.update(tenant, place, ADA, emo_id, content="5", expected_version=4)
    done = await memory.compaction.compact(tenant, place, emo_id, ADA)
    assert list(done.compacted_versions) == [4]
    assert (await memory.replay.verify(tenant)).same


async def test_any_drift_refuses_the_compaction(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = await edited(memory, tenant, place)
    async with memory.log.database.owner() as owner:
        await owner.execute("UPDATE mnemon.emo_current SET tags = '{forged}' WHERE emo_id = %s", (emo_id,))
    [before] = await memory.log.list_partitions(tenant)
    with pytest.raises(CompactionRefused) as refused:
        await memory.compaction.compact(tenant, place, emo_id, ADA)
    assert refused.value.details["differs"] == ["tags"]
    assert await contents(memory, tenant, place) == list("1234")
    [after] = await memory.log.list_partitions(tenant)
    assert after.sequence == before.sequence


async def test_what_a_branch_looks_at_is_kept(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = (await memory.changes.create(tenant, place, ADA, content="1")).object.emo_id
    second = (await memory.changes.update(tenant, place, ADA, emo_id, content="2")).object
    away = Place(place.world_id, "away")
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.update(tenant, place, ADA, emo_id, content="3")
    await memory.changes.update(tenant, place, ADA, emo_id, content="4")
    await memory.compaction.compact(tenant, place, emo_id, ADA)
    assert await contents(memory, tenant, place) == [None, "2", None, "4"]
    assert (await memory.reading.get(tenant, away, emo_id)).object.content == "2"
    await memory.changes.update(tenant, away, BOT, emo_id, content="2b")
    with pytest.raises(InvalidRequest, match="compacted"):
        await memory.branches.create(tenant, Place(place.world_id, "past"), BOT, at=second.sequence - 1)
    assert (await memory.replay.verify(tenant)).same


async def test_all_objects_with_a_long_history_are_compacted(memory: Memory, tenant: UUID, place: Place) -> None:
    long, short = await edited(memory, tenant, place, 6), await edited(memory, tenant, place, 2)
    done = await memory.compaction.compact_all(tenant, place, ADA, versions=5)
    assert [one.emo_id for one in done] == [long]
    assert (await memory.reading.get(tenant, place, short, "v1")).object.content == "1"


async def test_a_change_during_a_compaction_refuses_it(
    memory: Memory, tenant: UUID, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    emo_id = (await memory.changes.create(tenant, place, ADA, content="a")).object.emo_id
    await memory.changes.update(tenant, place, ADA, emo_id, content="b")
    replayed = memory.compaction._replayed

    async def before_a_late_change(tenant: UUID, place: Place, emo_id: UUID) -> MemoryObject:
        full = await replayed(tenant, place, emo_id)
        await memory.changes.update(tenant, place, ADA, emo_id, content="c")
        return full

    monkeypatch.setattr(memory.compaction, "_replayed", before_a_late_change)
    with pytest.raises(CompactionRefused):
        await memory.compaction.compact(tenant, place, emo_id, ADA)
    assert (await memory.reading.get(tenant, place, emo_id)).object.content == "c"
    assert not any(one.compacted for one in await memory.reading.history(tenant, place, emo_id))


async def test_a_branch_that_begins_during_a_compaction_keeps_what_it_looks_at(
    memory: Memory, tenant: UUID, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await memory.changes.create(tenant, place, ADA, content="a")
    emo_id, past = made.object.emo_id, Place(place.world_id, "past")
    await memory.changes.update(tenant, place, ADA, emo_id, content="b")
    replayed = memory.compaction._replayed

    async def before_a_branch(tenant: UUID, place: Place, emo_id: UUID) -> MemoryObject:
        full = await replayed(tenant, place, emo_id)
        await memory.branches.create(tenant, past, BOT, at=made.object.sequence)
        return full

    monkeypatch.setattr(memory.compaction, "_replayed", before_a_branch)
    with pytest.raises(CompactionRefused):
        await memory.compaction.compact(tenant, place, emo_id, ADA)
    assert (await memory.reading.find(tenant, past, emo_id))[1] is not None
    changed = await memory.changes.update(tenant, past, BOT, emo_id, content="c")
    assert changed.object.emo_version == 2
    assert (await memory.replay.verify(tenant)).same


async def test_a_compaction_that_comes_just_before_a_branch_of_the_past_refuses_the_branch(
    memory: Memory, tenant: UUID, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await memory.changes.create(tenant, place, ADA, content="a")
    await memory.changes.update(tenant, place, ADA, made.object.emo_id, content="b")
    past, transaction = Place(place.world_id, "past"), memory.reading.transaction

    @asynccontextmanager
    async def followed_by_a_compaction(tenant: UUID) -> AsyncIterator[Connection]:
        async with transaction(tenant) as connection:
            yield connection
        monkeypatch.undo()
        await memory.compaction.compact(tenant, place, made.object.emo_id, ADA)

    monkeypatch.setattr(memory.reading, "transaction", followed_by_a_compaction)
    with pytest.raises(InvalidRequest, match="compacted"):
        await memory.branches.create(tenant, past, BOT, at=made.object.sequence)
    with pytest.raises(BranchNotFound):
        await memory.branches.get(tenant, past)
    assert (await memory.replay.verify(tenant)).same


async def test_words_of_compacted_versions_are_counted_no_more(memory: Memory, tenant: UUID, place: Place) -> None:
    async def counted(word: str) -> int:
        async with memory.log.database.transaction(tenant) as connection:
            asked = "SELECT texts FROM mnemon.question_terms(%s, 'memory')"
            row = await (await connection.execute(asked, (word,))).fetchone()
        assert row is not None
        return int(row["texts"])

    made = await memory.changes.create(tenant, place, ADA, content="We meet in Zanzibar.")
    await memory.changes.update(tenant, place, ADA, made.object.emo_id, content="We meet in Lisbon.")
    await memory.changes.update(tenant, place, ADA, made.object.emo_id, content="We meet in Lisbon at noon.")
    assert (await counted("Zanzibar"), await counted("meet")) == (1, 3)
    await memory.compaction.compact_all(tenant, place, ADA, versions=1)
    assert (await counted("Zanzibar"), await counted("meet")) == (0, 1)
