"""A tenant moves to another database while it is written to: nothing is lost, and nobody is told something wrong."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from mnemon.db.external import ExternalServer
from mnemon.db.tenant_copy import MoveRefused, TenantCopy
from mnemon.errors import NotFound
from mnemon.identity.tenant_moves import move_tenant, moves
from mnemon.identity.tenants import tenant_by_slug
from tests.api.test_events import DECISION_TYPE, decision
from tests.identity.two_installations import BACK, URL, Sides, rows_of, sides
from tests.patience import PATIENCE

__all__ = ["sides"]
OBJECTS = "/v1/memory/objects"


@dataclass
class Writer:
    """Somebody who writes and reads all the time, goes where they are told, and notes what was acknowledged."""

    sides: Sides
    name: str
    noted: list[str] = field(default_factory=list)
    told_to_wait: int = 0
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    wrong: list[str] = field(default_factory=list)

    async def run(self, stop: asyncio.Event) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            made = await self._ask("POST", "/v1/events", {"events": [decision(f"{self.name}-{number}")]}, 201)
            self.noted.append(made["events"][0]["id"])
            await self._ask("GET", f"/v1/events/{self.noted[-1]}", None, 200)
            note = {"content": f"{self.name} saw number {number}."}
            await self._ask("POST", OBJECTS, note, 201)

    async def _ask(self, method: str, path: str, body: Any, expected: int) -> Any:
        while True:
            side = self.sides.there if self.moved.is_set() else self.sides.here
            answer = await side.client.request(method, path, json=body, headers=self.sides.admin.headers)
            if answer.status_code == expected:
                return answer.json()
            code = answer.json().get("error_code")
            if code == "TENANT_MOVING":
                assert answer.status_code == 503
                self.told_to_wait += 1
                await asyncio.sleep(0.01)
            elif code == "TENANT_MOVED":
                assert answer.status_code == 421 and answer.json()["details"]["url"] == URL
                self.moved.set()
            else:
                self.wrong.append(answer.text)
                raise AssertionError(answer.text)


async def test_a_tenant_moves_while_it_is_written_to(sides: Sides) -> None:
    await sides.knows_decisions()
    stop, writers = asyncio.Event(), [Writer(sides, name) for name in ("ana", "ben", "cy")]
    tasks = [asyncio.create_task(one.run(stop)) for one in writers]
    await _until(lambda: all(len(one.noted) >= 5 for one in writers), tasks)
    moved = await sides.move()
    assert moved.rounds >= 2 and moved.rows > 0
    before = [len(one.noted) for one in writers]
    await _until(lambda: all(len(one.noted) > count + 3 for one, count in zip(writers, before, strict=True)), tasks)
    stop.set()
    await asyncio.gather(*tasks)

    acknowledged = [event for one in writers for event in one.noted]
    events = sides.there.mnemon.log
    kept = [one async for one in _every(events, sides.tenant)]
    assert [one.sequence for one in kept] == list(range(1, len(kept) + 1)), "no gap"
    assert set(acknowledged) <= {str(one.id) for one in kept} and len(set(acknowledged)) == len(acknowledged)
    assert (await sides.there.mnemon.integrity.verify(sides.tenant)).faults == []

    assert await rows_of(sides.here, sides.tenant) == {}, "nothing is kept here"
    assert [(one["slug"], one["state"]) for one in await moves(sides.here.mnemon.database)] == [(sides.slug, "moved")]
    assert await moves(sides.there.mnemon.database) == []
    for credential in (sides.admin.session, sides.token):
        answer = await sides.here.client.get("/v1/events", headers={"Authorization": f"Bearer {credential}"})
        assert (answer.status_code, answer.json()["error_code"]) == (421, "TENANT_MOVED"), answer.text
        there = await sides.there.client.get("/v1/events", headers={"Authorization": f"Bearer {credential}"})
        assert there.status_code == 200, there.text
    with pytest.raises(MoveRefused, match=URL):
        await sides.move()
    with pytest.raises(NotFound, match=URL):
        await tenant_by_slug(sides.here.mnemon.database, sides.slug)


async def test_a_tenant_comes_back_to_gateways_that_went_on_meanwhile(sides: Sides) -> None:
    """They remember the numbers of partitions, types and keys of people."""
    await sides.knows_decisions()
    elsewhere = {"scope": {"legal_entity": "de"}}
    known = await sides.written(sides.here, decision("D-1"), decision("D-2", **elsewhere))
    assert len(await sides.read(sides.here)) == 2
    await sides.move()
    known += await sides.written(sides.there, decision("D-3"), decision("D-4", **elsewhere))
    newer = DECISION_TYPE | {"type": "board.note.made"}
    told = await sides.there.client.post("/v1/event-types", json=newer, headers=sides.admin.headers)
    assert told.status_code == 201, told.text
    await sides.move_back()
    assert sorted(await sides.read(sides.here)) == sorted(known)
    await sides.written(sides.here, decision("D-5", type="board.note.made"))
    known += await sides.written(sides.here, decision("D-6"), decision("D-7", **elsewhere))
    assert sorted(await sides.read(sides.here)) == sorted(known)
    assert (await sides.here.mnemon.integrity.verify(sides.tenant)).faults == []
    assert await rows_of(sides.there, sides.tenant) == {}
    told = await sides.there.client.get("/v1/events", headers=sides.admin.headers)
    assert (told.status_code, told.json()["details"]["url"]) == (421, BACK), told.text
    assert (await sides.move()).url == URL, "and leaves once more"
    assert sorted(await sides.read(sides.there)) == sorted(known)


async def test_another_tenant_of_the_name_of_one_that_has_moved_is_not_cleared_away(sides: Sides) -> None:
    await sides.move()
    async with sides.here.mnemon.database.owner() as owner:
        await owner.execute(
            "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (gen_random_uuid(), %s, 'New')", (sides.slug,)
        )
    with pytest.raises(MoveRefused, match="has moved to"):
        await sides.move()
    async with sides.here.mnemon.database.owner() as owner:
        rows = await owner.execute("SELECT FROM mnemon.tenants WHERE slug = %s", (sides.slug,))
        assert await rows.fetchone() is not None


async def test_what_nobody_there_names_any_more_wraps_nothing_that_arrives(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other side rotates its keys while rows are copied, and retires the one that people here are wrapped with."""
    headers = sides.admin.headers
    for path, body in (("/v1/event-types", DECISION_TYPE), ("/v1/events", {"events": [decision("D-2")]})):
        assert (await sides.here.client.post(path, json=body, headers=headers)).status_code == 201
    bring_over, rounds = TenantCopy.bring_over, 0

    async def rotates_there(self: TenantCopy, tables: Any) -> int:
        nonlocal rounds
        rounds += 1
        if rounds == 2:
            await sides.there.mnemon.privacy.rotate()
        return await bring_over(self, tables)

    monkeypatch.setattr(TenantCopy, "bring_over", rotates_there)
    with pytest.raises(MoveRefused, match="never used"):
        await sides.move()
    monkeypatch.undo()
    assert (await sides.here.client.get("/v1/events", headers=headers)).status_code == 200, "it is open here again"


async def test_whoever_may_not_copy_is_told_what_to_grant(sides: Sides, second_server: ExternalServer) -> None:
    with pytest.raises(MoveRefused, match="GRANT SET ON PARAMETER session_replication_role TO mnemon_owner"):
        await move_tenant(sides.here.mnemon.database, sides.slug, second_server, URL, lambda words: None)
    with pytest.raises(MoveRefused, match="the database that the tenant is in"):
        here = sides.here.mnemon.database
        await move_tenant(here, sides.slug, here.server, URL, lambda words: None)  # type: ignore[arg-type]


async def _until(condition: Any, tasks: list[asyncio.Task[None]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.01)


async def _every(events: Any, tenant: UUID) -> AsyncIterator[Any]:
    cursor = None
    while True:
        page = await events.read_page(tenant, limit=200, cursor=cursor)
        for one in page.events:
            yield one
        if page.next_cursor is None:
            return
        cursor = page.next_cursor
