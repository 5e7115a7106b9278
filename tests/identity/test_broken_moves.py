"""A move that breaks off, at whatever moment: the tenant is open in one place, and the next attempt ends it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from mnemon.db.tenant_copy import MoveRefused, TenantCopy
from mnemon.identity.tenant_moves import HAS_ARRIVED, _Move, move_tenant
from tests.api.test_events import decision
from tests.identity.two_installations import THIRD, URL, Sides, dies, end_sessions, rows_of, sides, third
from tests.patience import PATIENCE

__all__ = ["sides", "third"]

PENDING = "SELECT FROM pg_inherits WHERE inhdetachpending"
END_OF_DETACHING = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
 WHERE datname = current_database() AND query LIKE 'ALTER TABLE%DETACH%' AND pid <> pg_backend_pid()
"""


async def test_a_copy_that_is_not_the_same_moves_nothing(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    async def differs(self: TenantCopy, tables: Any) -> list[str]:
        return ["documents"]

    monkeypatch.setattr(TenantCopy, "differing", differs)
    with pytest.raises(MoveRefused, match="documents"):
        await sides.move()
    monkeypatch.undo()
    headers = sides.admin.headers
    assert (await sides.here.client.get("/v1/events", headers=headers)).status_code == 200
    assert (await sides.there.client.get("/v1/events", headers=headers)).status_code != 200
    assert (await sides.move()).url == URL
    assert (await sides.there.client.get("/v1/events", headers=headers)).status_code == 200


async def test_a_move_that_broke_off_after_the_opening_is_ended_by_the_next(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemon.identity.tenant_moves._Move.leave", dies)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    headers = sides.admin.headers
    closed = await sides.here.client.get("/v1/events", headers=headers)
    assert (closed.status_code, closed.json()["error_code"]) == (503, "TENANT_MOVING"), "never open in both"
    assert (await sides.there.client.get("/v1/events", headers=headers)).status_code == 200
    monkeypatch.undo()
    await sides.move()
    assert (await sides.here.client.get("/v1/events", headers=headers)).status_code == 421


async def test_a_move_that_broke_off_after_the_opening_goes_to_no_third_place(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemon.identity.tenant_moves._Move.leave", dies)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    monkeypatch.undo()
    database, slug = sides.here.mnemon.database, sides.slug
    with pytest.raises(MoveRefused, match=re.escape(URL)):
        await move_tenant(database, slug, sides.to, "https://third.example", lambda words: None)
    closed = await sides.here.client.get("/v1/events", headers=sides.admin.headers)
    assert closed.status_code == 503, "it is open elsewhere already"
    await sides.move()


async def test_a_move_that_broke_off_after_the_opening_is_not_ended_in_another_database(
    sides: Sides, third: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in an empty one, where it would be open a second time, nor in one with an old copy of the tenant."""
    known = await sides.written_decisions("D-1")
    monkeypatch.setattr("mnemon.identity.tenant_moves._Move.leave", dies)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    monkeypatch.undo()
    for _ in range(2):
        with pytest.raises(MoveRefused, match="another database than this one"):
            await third.move()
        async with third.there.mnemon.database.owner() as owner:
            await owner.execute(
                "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, %s, 'Old') ON CONFLICT DO NOTHING",
                (sides.tenant, sides.slug),
            )
    closed = await sides.here.client.get("/v1/events", headers=sides.admin.headers)
    assert (closed.status_code, closed.json()["error_code"]) == (503, "TENANT_MOVING")
    await sides.move()
    assert await sides.read(sides.there) == known
    assert await rows_of(sides.here, sides.tenant) == {}
    for one in (sides.here, sides.there):
        async with one.mnemon.database.owner() as owner:
            left = await owner.execute("SELECT FROM mnemon.tenant_arrivals")
            assert await left.fetchone() is None


async def test_a_move_that_broke_off_before_the_opening_is_not_ended_by_an_old_copy_elsewhere(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rehearsal's database, say: what is here would be cleared away for it."""
    known = await sides.written_decisions("D-1")
    async with sides.there.mnemon.database.owner() as owner:
        insert = "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, %s, 'Old')"
        await owner.execute(insert, (sides.tenant, sides.slug))
    async with sides.here.mnemon.database.owner() as owner:
        closed = "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, %s, 'closed', %s)"
        await owner.execute(closed, (sides.tenant, sides.slug, URL))
    with pytest.raises(MoveRefused, match="already"):
        await sides.move()
    assert await sides.read(sides.here) == known


async def test_a_move_that_broke_off_after_the_opening_is_ended_though_the_tenant_has_gone_on_from_there(
    sides: Sides, third: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = await sides.written_decisions("D-1")
    monkeypatch.setattr("mnemon.identity.tenant_moves._Move.leave", dies)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    monkeypatch.undo()
    await move_tenant(sides.there.mnemon.database, sides.slug, third.to, THIRD, lambda words: None)
    await sides.move()
    assert await rows_of(sides.here, sides.tenant) == {}
    told = await sides.there.client.get("/v1/events", headers=sides.admin.headers)
    assert (told.status_code, told.json()["details"]["url"]) == (421, THIRD)
    assert await third.read(third.there) == known


async def test_a_move_that_broke_off_while_it_was_cleared_here_is_ended_by_the_next(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is forgotten there must not be found here for ever."""

    monkeypatch.setattr("mnemon.identity.tenant_moves.clear_rows", dies)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    assert await rows_of(sides.here, sides.tenant) != {}
    monkeypatch.undo()
    await sides.move()
    assert await rows_of(sides.here, sides.tenant) == {}
    assert (await sides.there.client.get("/v1/events", headers=sides.admin.headers)).status_code == 200


@pytest.mark.parametrize(
    ("place", "nth"),
    [("bring_over", 1), ("bring_over", 2), ("bring_over", 3), ("differing", 1)],
    ids=["first round", "last round", "last part", "comparison"],
)
async def test_whoever_moves_a_tenant_may_be_gone_at_any_moment_and_it_is_open_again(
    sides: Sides, monkeypatch: pytest.MonkeyPatch, place: str, nth: int
) -> None:
    """No word of theirs opens it: their machine is gone, and with it their sessions in both databases."""
    headers, calls, step = sides.admin.headers, 0, getattr(TenantCopy, place)

    async def cut_off(self: TenantCopy, *given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == nth:
            await end_sessions(sides, self.here, self.there)
        return await step(self, *given)

    await sides.knows_decisions()
    monkeypatch.setattr(TenantCopy, place, cut_off)
    with pytest.raises(psycopg.OperationalError):
        await sides.move()
    monkeypatch.undo()
    written = await sides.written(sides.here, decision("D-1"))
    assert (await sides.there.client.get("/v1/events", headers=headers)).status_code != 200, "not open there"
    await sides.move()
    assert await sides.read(sides.there) == written
    assert await rows_of(sides.here, sides.tenant) == {}


async def test_while_nobody_knows_whether_it_opened_there_it_is_open_nowhere_else(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line broke when the other database was told to commit: it may have done so."""
    headers, opened = sides.admin.headers, _Move._open_there

    async def breaks(self: _Move, tables: Any) -> int:
        begun = self._there.transaction

        @asynccontextmanager
        async def answer_lost() -> AsyncIterator[None]:
            async with begun():
                yield
            if await (await self._there.execute(HAS_ARRIVED, (sides.tenant,))).fetchone() is not None:
                raise psycopg.OperationalError("the line broke, and the answer was lost")

        monkeypatch.setattr(self._there, "transaction", answer_lost)
        return await opened(self, tables)

    monkeypatch.setattr(_Move, "_open_there", breaks)
    with pytest.raises(psycopg.OperationalError):
        await sides.move()
    monkeypatch.undo()
    closed = await sides.here.client.get("/v1/events", headers=headers)
    assert (closed.status_code, closed.json()["error_code"]) == (503, "TENANT_MOVING"), closed.text
    assert (await sides.there.client.get("/v1/events", headers=headers)).status_code == 200
    await sides.move()
    assert (await sides.here.client.get("/v1/events", headers=headers)).status_code == 421


async def test_a_partition_that_was_half_taken_away_is_taken_away_by_the_next(sides: Sides) -> None:
    """Somebody who reads the log holds up the clearing, and its session ends meanwhile."""
    headers = sides.admin.headers
    await sides.knows_decisions()
    async with sides.here.mnemon.database.owner() as reader, sides.here.mnemon.database.owner() as watcher:
        await reader.execute("BEGIN")
        await reader.execute("SELECT FROM mnemon.events LIMIT 1")
        moving = asyncio.create_task(sides.move())

        async def half_detached() -> bool:
            return await (await watcher.execute(PENDING)).fetchone() is not None

        async with asyncio.timeout(PATIENCE):
            while not await half_detached():
                assert not moving.done(), moving
                await asyncio.sleep(0.01)
        await watcher.execute(END_OF_DETACHING)
        with pytest.raises(psycopg.OperationalError):
            await moving
        await reader.execute("ROLLBACK")
    await sides.move()
    assert await rows_of(sides.here, sides.tenant) == {}
    assert (await sides.here.client.get("/v1/events", headers=headers)).status_code == 421


async def test_whoever_clears_a_tenant_away_may_be_gone_when_a_partition_is_detached(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its table stands by itself then, and is not dropped yet. Else the tenant's events would be here for ever."""
    known = await sides.written_decisions("D-1")
    detached: list[str] = []

    async def gone_when_detached(here: Any, tenant: Any, tables: Any, numbers: Any) -> None:
        for number in numbers:
            detached.append(f"events_{number}")
            await here.execute(f"ALTER TABLE mnemon.events DETACH PARTITION mnemon.{detached[-1]} CONCURRENTLY")
            await dies()

    monkeypatch.setattr("mnemon.identity.tenant_moves.clear_rows", gone_when_detached)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    monkeypatch.undo()
    await sides.move()
    assert await sides.read(sides.there) == known
    assert await rows_of(sides.here, sides.tenant) == {}
    async with sides.here.mnemon.database.owner() as owner:
        [left] = await (await owner.execute(f"SELECT to_regclass('mnemon.{detached[0]}') AS name")).fetchall()
    assert left["name"] is None


async def test_a_way_back_that_breaks_off_leaves_the_tenant_where_it_went_to(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def differs(self: TenantCopy, tables: Any) -> list[str]:
        return ["documents"]

    await sides.knows_decisions()
    known = await sides.written(sides.here, decision("D-1"))
    await sides.move()
    monkeypatch.setattr(TenantCopy, "differing", differs)
    with pytest.raises(MoveRefused, match="documents"):
        await sides.move_back()
    monkeypatch.undo()
    for credential in (sides.admin.session, sides.token):
        told = await sides.here.client.get("/v1/events", headers={"Authorization": f"Bearer {credential}"})
        assert (told.status_code, told.json()["details"]["url"]) == (421, URL), told.text
    assert await sides.read(sides.there) == known
    await sides.move_back()
    assert await sides.read(sides.here) == known


async def test_two_moves_take_turns(sides: Sides) -> None:
    """The second is told so, and not that the two databases are one."""
    async with sides.there.mnemon.database.owner() as other:
        await other.execute("SELECT pg_advisory_lock(hashtextextended('mnemon move', 0))")
        with pytest.raises(MoveRefused, match="Another move"):
            await sides.move()
    assert (await sides.move()).url == URL


async def test_what_must_be_ready_is_asked_while_the_tenant_is_open_and_not_once_it_is_there(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    async def ready(tenant: Any) -> None:
        nonlocal asked
        asked += 1
        async with sides.here.mnemon.database.transaction(tenant.tenant_id):
            pass

    async def move() -> None:
        here = sides.here.mnemon.database
        await move_tenant(here, sides.slug, sides.to, URL, lambda words: None, ready)

    async with sides.here.mnemon.database.owner() as owner:
        closed = (
            "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, %s, 'closed', 'https://two')"
        )
        await owner.execute(closed, (sides.tenant, sides.slug))
    monkeypatch.setattr("mnemon.identity.tenant_moves._Move.leave", dies)
    with pytest.raises(KeyboardInterrupt):
        await move()
    monkeypatch.undo()
    await move()
    assert asked == 1
