"""A branch costs nothing, keeps to itself, and comes back whole or with its conflicts named."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest

from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.events import MAIN, NewEvent
from mnemon.memory.changing.drafts import MOST_FACETS
from mnemon.memory.errors import (
    BranchClosed,
    BranchNotFound,
    MemoryConflict,
    MemoryNotFound,
    MergeConflicts,
    PersonNeeded,
)
from mnemon.memory.gateway import Memory
from mnemon.memory.objects import Link, Parent, Place
from tests.memory.conftest import ADA, BOT


def branch(place: Place, name: str = "try") -> Place:
    return Place(place.world_id, name)


async def new(memory: Memory, tenant: UUID, place: Place, content: str = "one\ntwo\nthree\n") -> UUID:
    return (await memory.changes.create(tenant, place, ADA, content=content)).object.emo_id


async def content_of(memory: Memory, tenant: UUID, place: Place, emo_id: UUID) -> str:
    return (await memory.reading.get(tenant, place, emo_id)).object.content


async def test_a_branch_shows_its_parent_as_it_was_at_the_fork(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = await new(memory, tenant, place, "a")
    await memory.branches.create(tenant, branch(place), BOT)
    await memory.changes.update(tenant, place, ADA, emo_id, content="b")
    later = await new(memory, tenant, place, "later")
    assert await content_of(memory, tenant, branch(place), emo_id) == "a"
    with pytest.raises(MemoryNotFound):
        await memory.reading.get(tenant, branch(place), later)
    assert [one.object.content for one in await memory.reading.page(tenant, branch(place))] == ["a"]


async def test_a_branch_is_one_event_and_one_row(memory: Memory, tenant: UUID, place: Place) -> None:
    for _ in range(5):
        await new(memory, tenant, place)
    [before] = await memory.log.list_partitions(tenant)
    made = await memory.branches.create(tenant, branch(place), BOT)
    [after] = await memory.log.list_partitions(tenant)
    assert after.sequence == before.sequence + 1
    assert made.objects == 0
    assert await memory.reading.count(tenant, branch(place)) == 5


async def test_work_on_a_branch_does_not_show_elsewhere(memory: Memory, tenant: UUID, place: Place) -> None:
    changed, deleted = await new(memory, tenant, place, "a"), await new(memory, tenant, place, "b")
    away = branch(place)
    await memory.branches.create(tenant, away, BOT)
    edit = await memory.changes.update(tenant, away, BOT, changed, content="changed", expected_version=1)
    assert (edit.object.emo_version, edit.object.base_version) == (2, 1)
    again = await memory.changes.update(tenant, away, BOT, changed, content="again", expected_version=2)
    assert again.object.emo_version == 3
    await memory.changes.delete(tenant, away, BOT, deleted)
    added = await new(memory, tenant, away, "new")
    assert {one.object.content for one in await memory.reading.page(tenant, place)} == {"a", "b"}
    assert {one.object.content for one in await memory.reading.page(tenant, away)} == {"again", "new"}
    with pytest.raises(MemoryNotFound):
        await memory.reading.get(tenant, place, added)
    with pytest.raises(MemoryConflict):
        await memory.changes.update(tenant, away, BOT, changed, content="x", expected_version=2)
    history = await memory.reading.history(tenant, away, changed)
    assert [(one.object.emo_version, one.object.place.branch) for one in history] == [(1, MAIN), (2, "try"), (3, "try")]
    assert (await memory.replay.verify(tenant)).same


async def test_a_branch_of_a_branch_and_one_from_the_past(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = await new(memory, tenant, place, "1")
    first = (await memory.reading.get(tenant, place, emo_id)).object.sequence
    await memory.changes.update(tenant, place, ADA, emo_id, content="2")
    await memory.branches.create(tenant, branch(place, "past"), BOT, at=first)
    await memory.branches.create(tenant, branch(place, "outer"), BOT)
    await memory.changes.update(tenant, branch(place, "outer"), BOT, emo_id, content="3")
    await memory.branches.create(tenant, branch(place, "inner"), BOT, parent="outer")
    await memory.changes.update(tenant, branch(place, "outer"), BOT, emo_id, content="4")
    shown = [await content_of(memory, tenant, branch(place, name), emo_id) for name in (MAIN, "past", "outer", "inner")]
    assert shown == ["2", "1", "4", "3"]
    assert (await memory.replay.verify(tenant)).same


async def test_a_merge_takes_every_kind_of_change(memory: Memory, tenant: UUID, place: Place) -> None:
    kept, gone = await new(memory, tenant, place), await new(memory, tenant, place)
    back = await new(memory, tenant, place, "back")
    await memory.changes.delete(tenant, place, ADA, back)
    await memory.changes.set_facet(tenant, place, ADA, kept, "old", "x")
    away = branch(place)
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.update(tenant, away, BOT, kept, content="one\ntwo\nTHREE\n", tags=["new"])
    await memory.changes.set_facet(tenant, away, BOT, kept, "summary", "s")
    await memory.changes.remove_facet(tenant, away, BOT, kept, "old")
    added = await new(memory, tenant, away, "added")
    await memory.changes.link(
        tenant, away, BOT, kept, parents=[Parent(added, "derived")], links=[Link("uri", "https://example.org")]
    )
    await memory.changes.delete(tenant, away, BOT, gone)
    await memory.changes.restore(tenant, away, BOT, back)
    # Meanwhile the parent changes another line.
    await memory.changes.update(tenant, place, ADA, kept, content="ONE\ntwo\nthree\n")
    assert {(one.change, len(one.outcome.clashes)) for one in await memory.merging.compare(tenant, away)} == {
        ("changed", 0), ("added", 0), ("deleted", 0), ("restored", 0),
    }  # fmt: skip
    merged = await memory.merging.merge(tenant, away, ADA)
    assert merged.branch.status == "merged"
    one = (await memory.reading.get(tenant, place, kept)).object
    assert (one.content, one.tags, one.facets) == ("ONE\ntwo\nTHREE\n", ("new",), {"summary": "s"})
    assert one.parents == (Parent(added, "derived"),) and one.links == (Link("uri", "https://example.org"),)
    assert await content_of(memory, tenant, place, added) == "added"
    assert await content_of(memory, tenant, place, back) == "back"
    with pytest.raises(MemoryNotFound):
        await memory.reading.get(tenant, place, gone)
    with pytest.raises(BranchClosed):
        await memory.changes.update(tenant, away, BOT, kept, content="x")
    assert (await memory.replay.verify(tenant)).same


async def test_clashes_are_reported_and_nothing_is_merged_until_they_are_settled(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    text, facet, lost = [await new(memory, tenant, place) for _ in range(3)]
    away = branch(place)
    await memory.branches.create(tenant, away, BOT)
    for where, author, word in ((place, ADA, "ours"), (away, BOT, "theirs")):
        await memory.changes.update(tenant, where, author, text, content=f"one\n{word}\nthree\n")
        await memory.changes.set_facet(tenant, where, author, facet, "mood", word)
    await memory.changes.delete(tenant, place, ADA, lost)
    await memory.changes.update(tenant, away, BOT, lost, content="went on")
    [before] = await memory.log.list_partitions(tenant)
    with pytest.raises(MergeConflicts) as refused:
        await memory.merging.merge(tenant, away, ADA, resolutions={text: "ours"})
    named = {
        one["emo_id"]: [clash["field"] for clash in one["conflicts"]] for one in refused.value.details["conflicts"]
    }
    assert named == {str(facet): ["facets.mood"], str(lost): ["deleted"]}
    [after] = await memory.log.list_partitions(tenant)
    assert after.sequence == before.sequence
    resolutions = {text: {"content": "one\nboth\nthree\n"}, facet: "theirs", lost: "theirs"}
    await memory.merging.merge(tenant, away, ADA, resolutions=resolutions)
    assert await content_of(memory, tenant, place, text) == "one\nboth\nthree\n"
    assert (await memory.reading.get(tenant, place, facet)).object.facets == {"mood": "theirs"}
    assert await content_of(memory, tenant, place, lost) == "went on"


async def test_an_agent_tries_and_a_person_accepts(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = await new(memory, tenant, place, "a")
    away = branch(place)
    await memory.branches.create(tenant, away, BOT, needs_person=True, purpose="tidy up")
    await memory.changes.update(tenant, away, BOT, emo_id, content="tidy")
    with pytest.raises(PersonNeeded):
        await memory.merging.merge(tenant, away, BOT)
    await memory.merging.merge(tenant, away, ADA)
    assert await content_of(memory, tenant, place, emo_id) == "tidy"
    assert (await memory.reading.get(tenant, place, emo_id)).object.updated_by == "u-1"


async def test_an_abandoned_branch_leaves_no_trace_in_its_parent(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = await new(memory, tenant, place, "a")
    away = branch(place)
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.update(tenant, away, BOT, emo_id, content="b")
    assert (await memory.branches.abandon(tenant, away, ADA, reason="no")).status == "abandoned"
    assert await content_of(memory, tenant, place, emo_id) == "a"
    assert await content_of(memory, tenant, away, emo_id) == "b"
    for late in (memory.branches.abandon(tenant, away, ADA), memory.merging.merge(tenant, away, ADA)):
        with pytest.raises(BranchClosed):
            await late


async def test_names_are_taken_once_and_unknown_ones_refused(memory: Memory, tenant: UUID, place: Place) -> None:
    await memory.branches.create(tenant, branch(place), BOT)
    with pytest.raises(Conflict):
        await memory.branches.create(tenant, branch(place), BOT)
    with pytest.raises(BranchNotFound):
        await memory.branches.create(tenant, branch(place, "x"), BOT, parent="nowhere")
    with pytest.raises(BranchNotFound):
        await memory.changes.create(tenant, branch(place, "nowhere"), ADA, content="x")
    with pytest.raises(BranchNotFound):
        await memory.merging.merge(tenant, place, ADA)
    assert [one.branch for one in await memory.branches.list(tenant, place.world_id)] == ["try"]


async def test_the_graph_of_a_branch_is_its_own(memory: Memory, tenant: UUID, place: Place) -> None:
    first, second = await new(memory, tenant, place, "a"), await new(memory, tenant, place, "b")
    away = branch(place)
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.link(tenant, away, BOT, second, parents=[Parent(first, "derived")])
    assert len((await memory.graph.lineage(tenant, away, first)).nodes) == 2
    assert len((await memory.graph.lineage(tenant, place, first)).nodes) == 1
    await memory.changes.delete(tenant, away, BOT, second)
    assert len((await memory.graph.lineage(tenant, away, first)).nodes) == 1


async def test_a_branch_cannot_begin_where_the_log_has_not_come_to(memory: Memory, tenant: UUID, place: Place) -> None:
    await new(memory, tenant, place)
    [log] = await memory.log.list_partitions(tenant)
    with pytest.raises(InvalidRequest):
        await memory.branches.create(tenant, branch(place), BOT, at=log.sequence + 1)
    await memory.branches.create(tenant, branch(place), BOT, at=log.sequence)
    later = await new(memory, tenant, place)
    with pytest.raises(MemoryNotFound):
        await memory.reading.get(tenant, branch(place), later)


async def test_a_merged_deletion_keeps_its_reason(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id, changed = await new(memory, tenant, place), await new(memory, tenant, place)
    away = branch(place)
    await memory.branches.create(tenant, away, BOT)
    for one in (emo_id, changed):
        await memory.changes.delete(tenant, away, BOT, one, reason="twice there")
    await memory.changes.update(tenant, place, ADA, changed, content="went on")
    await memory.merging.merge(tenant, away, ADA, resolutions={changed: "theirs"})
    for one in (emo_id, changed):
        last = (await memory.reading.history(tenant, place, one))[-1].object
        assert (last.deleted, last.deletion_reason) == (True, "twice there")


async def test_what_both_began_and_one_deleted_is_a_conflict(memory: Memory, tenant: UUID, place: Place) -> None:
    away, emo_id = branch(place), uuid4()
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.create(tenant, place, ADA, emo_id=emo_id, content="here")
    await memory.changes.delete(tenant, place, ADA, emo_id)
    await memory.changes.create(tenant, away, BOT, emo_id=emo_id, content="there")
    with pytest.raises(MergeConflicts):
        await memory.merging.merge(tenant, away, ADA)
    await memory.merging.merge(tenant, away, ADA, resolutions={emo_id: {"deleted": False}})
    assert await content_of(memory, tenant, place, emo_id) == "there"


async def test_keeping_what_the_parent_changed_and_deleted_keeps_the_branch_s_text(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    emo_id, away = await new(memory, tenant, place, "a"), branch(place)
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.update(tenant, place, ADA, emo_id, content="ours")
    await memory.changes.delete(tenant, place, ADA, emo_id)
    await memory.changes.update(tenant, away, BOT, emo_id, content="theirs")
    await memory.merging.merge(tenant, away, ADA, resolutions={emo_id: {"deleted": False}})
    assert await content_of(memory, tenant, place, emo_id) == "theirs"


async def test_objects_about_two_people_are_never_merged_into_one(memory: Memory, tenant: UUID, place: Place) -> None:
    away, emo_id = branch(place), uuid4()
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.create(tenant, place, ADA, emo_id=emo_id, content="of one", subject_id="person-1")
    await memory.changes.create(tenant, away, BOT, emo_id=emo_id, content="of nobody")
    with pytest.raises(MergeConflicts):
        await memory.merging.merge(tenant, away, ADA)
    with pytest.raises(InvalidRequest):
        await memory.merging.merge(tenant, away, ADA, resolutions={emo_id: "theirs"})
    await memory.merging.merge(tenant, away, ADA, resolutions={emo_id: "ours"})
    assert await content_of(memory, tenant, place, emo_id) == "of one"


async def test_a_conflict_is_settled_by_text_alone(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id, away = await new(memory, tenant, place), branch(place)
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.set_facet(tenant, place, ADA, emo_id, "colour", "red")
    await memory.changes.set_facet(tenant, away, BOT, emo_id, "colour", "blue")
    for value in (7, {"a": 1}, "x\x00"):
        with pytest.raises(InvalidRequest):
            await memory.merging.merge(tenant, away, ADA, resolutions={emo_id: {"facets.colour": value}})


async def test_a_change_of_the_branch_during_its_merge_is_not_lost(
    memory: Memory, tenant: UUID, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    emo_id, away = await new(memory, tenant, place, "a"), branch(place)
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.update(tenant, away, BOT, emo_id, content="b")
    append = memory.merging._append

    async def after_a_late_change(tenant: UUID, events: Sequence[NewEvent]) -> None:
        monkeypatch.undo()
        await memory.changes.update(tenant, away, BOT, emo_id, content="c")
        await append(tenant, events)

    monkeypatch.setattr(memory.merging, "_append", after_a_late_change)
    with pytest.raises(Conflict):
        await memory.merging.merge(tenant, away, ADA)
    assert await content_of(memory, tenant, place, emo_id) == "a"
    await memory.merging.merge(tenant, away, ADA)
    assert await content_of(memory, tenant, place, emo_id) == "c"


async def test_a_merge_does_not_go_past_the_bound_of_facets(memory: Memory, tenant: UUID, place: Place) -> None:
    most = {f"f{number}": "x" for number in range(MOST_FACETS - 1)}
    emo_id = (await memory.changes.create(tenant, place, ADA, content="a", facets=most)).object.emo_id
    away = Place(place.world_id, "away")
    await memory.branches.create(tenant, away, ADA)
    await memory.changes.set_facet(tenant, place, ADA, emo_id, "ours", "x")
    await memory.changes.set_facet(tenant, away, ADA, emo_id, "theirs", "x")
    with pytest.raises(InvalidRequest, match="facets"):
        await memory.merging.merge(tenant, away, ADA)
    await memory.changes.remove_facet(tenant, away, ADA, emo_id, "f0")
    await memory.merging.merge(tenant, away, ADA)
    merged = (await memory.reading.get(tenant, place, emo_id)).object
    assert len(merged.facets) == MOST_FACETS and {"ours", "theirs"} < merged.facets.keys()
