"""Whatever is done to memory, it shows what a plain model of it shows, and a replay gives the same rows and hashes.

The model copies a whole world for each branch, merges field by field, and knows nothing of events or lenses.
"""

import copy
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import make_tenant
from tests.memory.conftest import ADA

from mnemon.db.database import Database
from mnemon.log.events import MAIN
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.memory.changing.changes import Changed
from mnemon.memory.errors import CompactionRefused, MemoryDeleted
from mnemon.memory.gateway import Memory
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Link, Parent, Place

WORDS = st.sampled_from(["ant", "bee", "cat", "dog", "elk"])
NUMBERS = st.integers(0, 5)
STEPS = st.one_of(
    st.tuples(st.just("create"), NUMBERS, WORDS, WORDS),
    st.tuples(st.just("update"), NUMBERS, NUMBERS, WORDS),
    st.tuples(st.just("tag"), NUMBERS, NUMBERS, WORDS),
    st.tuples(st.just("link"), NUMBERS, NUMBERS, NUMBERS),
    st.tuples(st.just("unlink"), NUMBERS, NUMBERS, NUMBERS),
    st.tuples(st.just("facet"), NUMBERS, NUMBERS, WORDS),
    st.tuples(st.just("no_facet"), NUMBERS, NUMBERS, WORDS),
    st.tuples(st.just("delete"), NUMBERS, NUMBERS, WORDS),
    st.tuples(st.just("restore"), NUMBERS, NUMBERS, WORDS),
    st.tuples(st.just("branch"), NUMBERS, WORDS, WORDS),
    st.tuples(st.just("merge"), NUMBERS, WORDS, WORDS),
    st.tuples(st.just("abandon"), NUMBERS, WORDS, WORDS),
    st.tuples(st.just("compact"), NUMBERS, NUMBERS, WORDS),
)
FIELDS = ("content", "tags", "facets", "parents", "links")


class Model:
    """Each branch with a copy of everything it shows, deleted objects included."""

    def __init__(self) -> None:
        self.branches: dict[str, dict[UUID, dict[str, Any]]] = {MAIN: {}}
        self.forks: dict[str, tuple[str, dict[UUID, dict[str, Any]]]] = {}
        self.touched: dict[str, set[UUID]] = {}
        self.open = [MAIN]

    def fork(self, parent: str, name: str) -> None:
        self.branches[name] = copy.deepcopy(self.branches[parent])
        self.forks[name] = parent, copy.deepcopy(self.branches[parent])
        self.touched[name] = set()
        self.open.append(name)

    def change(self, branch: str, emo_id: UUID, **fields: Any) -> None:
        one = self.branches[branch].setdefault(emo_id, {"version": 0, "deleted": False})
        one |= fields
        one["version"] += 1
        self.touched.get(branch, set()).add(emo_id)

    def merge(self, name: str) -> None:
        parent, base = self.forks[name]
        for emo_id in self.touched[name]:
            ours, theirs = self.branches[parent].get(emo_id), self.branches[name][emo_id]
            made = self.branches[parent][emo_id] = merged(base.get(emo_id), ours, theirs)
            if ours is None or any(made[name] != ours[name] for name in (*FIELDS, "deleted")):
                self.touched.get(parent, set()).add(emo_id)
        self.open.remove(name)

    def shown(self, branch: str) -> dict[UUID, dict[str, Any]]:
        return {
            emo_id: {name: one[name] for name in FIELDS}
            for emo_id, one in self.branches[branch].items()
            if not one["deleted"]
        }


def merged(base: dict[str, Any] | None, ours: dict[str, Any] | None, theirs: dict[str, Any]) -> dict[str, Any]:
    """Field by field; where both sides differ, theirs wins, and who kept an object wins over who deleted it."""
    if ours is None:
        return copy.deepcopy(theirs)
    assert base is not None

    def changed(side: dict[str, Any]) -> bool:
        return any(side[name] != base[name] for name in FIELDS)

    def pick(old: Any, left: Any, right: Any) -> Any:
        return left if right == old else right

    if ours["deleted"] and theirs["deleted"]:
        return copy.deepcopy(ours)
    if ours["deleted"] and not base["deleted"]:
        return copy.deepcopy(theirs if changed(theirs) else ours)
    if theirs["deleted"] and not base["deleted"] and changed(ours):
        return copy.deepcopy(ours)
    result = {"version": 0, "deleted": pick(base["deleted"], ours["deleted"], theirs["deleted"])}
    result["content"] = pick(base["content"], ours["content"], theirs["content"])
    for name in ("tags", "parents", "links"):
        gone = {one for one in base[name] if one not in ours[name] or one not in theirs[name]}
        result[name] = (ours[name] | theirs[name]) - gone
    result["facets"] = {
        name: value
        for name in {*base["facets"], *ours["facets"], *theirs["facets"]}
        if (value := pick(base["facets"].get(name), ours["facets"].get(name), theirs["facets"].get(name))) is not None
    }
    return result


class Run:
    """Does each step to both."""

    def __init__(self, memory: Memory, tenant: UUID) -> None:
        self.memory, self.tenant, self.model = memory, tenant, Model()
        self.world = tenant
        self.past: list[tuple[int, dict[UUID, dict[str, Any]]]] = []

    def place(self, branch: str) -> Place:
        return Place(self.world, branch)

    def target(self, branch_number: int, number: int, deleted: bool = False) -> tuple[str, UUID | None]:
        branch = self.model.open[branch_number % len(self.model.open)]
        ids = sorted(key for key, one in self.model.branches[branch].items() if one["deleted"] == deleted)
        return branch, ids[number % len(ids)] if ids else None

    def changed(self, done: Changed, branch: str, emo_id: UUID, **fields: Any) -> None:
        """What changes nothing is no version, and makes no object the branch's own."""
        if done.appended:
            self.model.change(branch, emo_id, **fields)

    async def step(self, step: tuple[str, int, Any, Any]) -> None:
        kind, where, which, what = step
        await getattr(self, kind)(where, which, what)

    async def create(self, where: int, word: str, tag: str) -> None:
        branch = self.model.open[where % len(self.model.open)]
        made = await self.memory.changes.create(self.tenant, self.place(branch), ADA, content=word, tags=[tag])
        blank = {"content": word, "tags": {tag}, "facets": {}, "parents": set(), "links": set()}
        self.model.change(branch, made.object.emo_id, **blank)
        if branch == MAIN:
            self.past.append((made.object.sequence, copy.deepcopy(self.model.shown(MAIN))))

    async def update(self, where: int, which: int, word: str) -> None:
        branch, emo_id = self.target(where, which)
        if emo_id is not None:
            done = await self.memory.changes.update(
                self.tenant, self.place(branch), ADA, emo_id, content=word, rationale=word
            )
            if done.appended:
                self.model.change(branch, emo_id, content=word)

    async def tag(self, where: int, which: int, word: str) -> None:
        branch, emo_id = self.target(where, which)
        if emo_id is not None:
            tags = sorted(self.model.branches[branch][emo_id]["tags"] | {word})
            done = await self.memory.changes.update(self.tenant, self.place(branch), ADA, emo_id, tags=tags)
            self.changed(done, branch, emo_id, tags=set(tags))

    async def link(self, where: int, which: int, other: int) -> None:
        (branch, emo_id), (_, target) = self.target(where, which), self.target(where, other)
        if emo_id is not None and target is not None and target != emo_id:
            done = await self.memory.changes.link(
                self.tenant, self.place(branch), ADA, emo_id,
                parents=[Parent(target, "derived")], links=[Link("uri", f"x:{other}")],
            )  # fmt: skip
            one = self.model.branches[branch][emo_id]
            parents, links = one["parents"] | {(target, "derived")}, one["links"] | {("uri", f"x:{other}")}
            self.changed(done, branch, emo_id, parents=parents, links=links)

    async def unlink(self, where: int, which: int, other: int) -> None:
        branch, emo_id = self.target(where, which)
        if emo_id is not None:
            done = await self.memory.changes.link(
                self.tenant, self.place(branch), ADA, emo_id, removed_links=[Link("uri", f"x:{other}")]
            )
            links = self.model.branches[branch][emo_id]["links"] - {("uri", f"x:{other}")}
            self.changed(done, branch, emo_id, links=links)

    async def facet(self, where: int, which: int, word: str) -> None:
        branch, emo_id = self.target(where, which)
        if emo_id is not None:
            done = await self.memory.changes.set_facet(
                self.tenant, self.place(branch), ADA, emo_id, word, word + branch
            )
            facets = self.model.branches[branch][emo_id]["facets"] | {word: word + branch}
            self.changed(done, branch, emo_id, facets=facets)

    async def no_facet(self, where: int, which: int, word: str) -> None:
        branch, emo_id = self.target(where, which)
        if emo_id is not None:
            done = await self.memory.changes.remove_facet(self.tenant, self.place(branch), ADA, emo_id, word)
            facets = {
                name: value for name, value in self.model.branches[branch][emo_id]["facets"].items() if name != word
            }
            self.changed(done, branch, emo_id, facets=facets)

    async def delete(self, where: int, which: int, _: str) -> None:
        branch, emo_id = self.target(where, which)
        if emo_id is not None:
            await self.memory.changes.delete(self.tenant, self.place(branch), ADA, emo_id)
            self.model.change(branch, emo_id, deleted=True)
            with pytest.raises(MemoryDeleted):
                await self.memory.changes.update(self.tenant, self.place(branch), ADA, emo_id, content="no")

    async def restore(self, where: int, which: int, _: str) -> None:
        branch, emo_id = self.target(where, which, deleted=True)
        if emo_id is not None:
            await self.memory.changes.restore(self.tenant, self.place(branch), ADA, emo_id)
            self.model.change(branch, emo_id, deleted=False)

    async def branch(self, where: int, *_: str) -> None:
        parent = self.model.open[where % len(self.model.open)]
        name = f"b{len(self.model.branches)}"
        await self.memory.branches.create(self.tenant, self.place(name), ADA, parent=parent)
        self.model.fork(parent, name)

    async def merge(self, where: int, *_: str) -> None:
        names = [name for name in self.model.open if name != MAIN and self.model.forks[name][0] in self.model.open]
        if names:
            name = names[where % len(names)]
            compared = await self.memory.merging.compare(self.tenant, self.place(name))
            resolutions = {
                one.emo_id: {"deleted": False} | {clash.field: clash.theirs for clash in one.outcome.clashes}
                if one.outcome.clashes[0].field != "deleted" else kept(one)
                for one in compared if one.outcome.clashes
            }  # fmt: skip
            await self.memory.merging.merge(self.tenant, self.place(name), ADA, resolutions=resolutions)
            self.model.merge(name)

    async def abandon(self, where: int, *_: str) -> None:
        names = [name for name in self.model.open if name != MAIN]
        if names:
            name = names[where % len(names)]
            await self.memory.branches.abandon(self.tenant, self.place(name), ADA)
            self.model.open.remove(name)

    async def compact(self, where: int, which: int, _: str) -> None:
        branch, emo_id = self.target(where, which)
        if emo_id is not None and (branch == MAIN or emo_id in self.model.touched[branch]):
            try:
                await self.memory.compaction.compact(self.tenant, self.place(branch), emo_id, ADA)
            except CompactionRefused as refusal:
                assert "differs" not in refusal.details

    async def check(self) -> None:
        for branch in self.model.branches:
            assert await self.seen(branch) == self.model.shown(branch), branch
        for sequence, shown in self.past:
            assert await self.seen(MAIN, sequence) == shown, sequence
        report = await self.memory.replay.verify(self.tenant)
        assert report.same, report.differences

    async def seen(self, branch: str, as_of: int | None = None) -> dict[UUID, dict[str, Any]]:
        page = await self.memory.reading.page(self.tenant, self.place(branch), as_of=as_of, limit=1000)
        return {
            one.object.emo_id: {
                "content": one.object.content,
                "tags": set(one.object.tags),
                "facets": dict(one.object.facets),
                "parents": {(parent.emo_id, parent.rel) for parent in one.object.parents},
                "links": {(link.kind, link.ref) for link in one.object.links},
            }
            for one in page
        }


def kept(one: Any) -> str:
    """Who kept the object wins."""
    return "ours" if one.theirs.deleted else "theirs"


async def run_steps(database: Database, steps: list[tuple[str, int, Any, Any]]) -> None:
    tenant = await make_tenant(database)
    async with EventLog(database) as log:
        projector = Projector(log)
        projector.add(LENS)
        run = Run(Memory(log, projector), tenant)
        for step in steps:
            await run.step(step)
        await run.check()


@given(steps=st.lists(STEPS, min_size=4, max_size=18))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
async def test_memory_shows_what_a_plain_model_shows(
    database: Database, steps: list[tuple[str, int, Any, Any]]
) -> None:
    await run_steps(database, [("create", 0, "ant", "bee"), ("create", 0, "cat", "dog"), *steps])


@pytest.mark.slow
@given(steps=st.lists(STEPS, min_size=20, max_size=60))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
async def test_memory_shows_what_a_plain_model_shows_over_long_histories(
    database: Database, steps: list[tuple[str, int, Any, Any]]
) -> None:
    await run_steps(database, [("create", 0, "ant", "bee"), ("create", 0, "cat", "dog"), ("branch", 0, "", ""), *steps])
