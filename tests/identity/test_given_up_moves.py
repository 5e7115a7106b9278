"""A move that is given up: what was copied is removed from the database that the tenant never came to."""

from typing import Any

import pytest

from mnemon.db.tenant_copy import MoveRefused, TenantCopy
from mnemon.errors import NotFound
from mnemon.identity.given_up_moves import discard_copy
from mnemon.identity.tenant_moves import _Move, moves
from tests.identity.two_installations import URL, Sides, dies, rows_of, sides

__all__ = ["sides"]
PARTITIONS = "SELECT count(*) AS n FROM pg_inherits WHERE inhparent = 'mnemon.events'::regclass"


async def differs(self: TenantCopy, tables: Any) -> list[str]:
    return ["documents"]


async def partitions(sides: Sides) -> int:
    async with sides.there.mnemon.database.owner() as owner:
        row = await (await owner.execute(PARTITIONS)).fetchone()
    return int(row["n"]) if row else 0


async def test_what_was_copied_is_removed_where_the_tenant_never_came(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, before = await sides.written_decisions("D-1"), await partitions(sides)
    monkeypatch.setattr(TenantCopy, "differing", differs)
    with pytest.raises(MoveRefused, match="documents"):
        await sides.move()
    monkeypatch.undo()
    there = sides.there.mnemon.database
    assert "events" in await rows_of(sides.there, sides.tenant) and await partitions(sides) > before
    discarded = await discard_copy(there, sides.slug)
    assert discarded.tenant_id == sides.tenant
    assert await rows_of(sides.there, sides.tenant) == {} and await partitions(sides) == before
    assert await moves(there) == []
    assert await sides.read(sides.here) == known
    with pytest.raises(NotFound, match=sides.slug):
        await discard_copy(there, sides.slug)
    await sides.move()
    assert await sides.read(sides.there) == known
    with pytest.raises(NotFound):
        await discard_copy(there, sides.slug)
    assert await sides.read(sides.there) == known


async def test_a_copy_that_was_half_removed_is_removed_by_the_next(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = await sides.written_decisions("D-1")
    monkeypatch.setattr(TenantCopy, "differing", differs)
    with pytest.raises(MoveRefused, match="documents"):
        await sides.move()
    monkeypatch.undo()

    async def gone_when_detached(here: Any, tenant: Any, tables: Any, numbers: Any) -> None:
        for number in numbers:
            await here.execute(f"ALTER TABLE mnemon.events DETACH PARTITION mnemon.events_{number} CONCURRENTLY")
            await dies()

    monkeypatch.setattr("mnemon.identity.given_up_moves.clear_rows", gone_when_detached)
    there = sides.there.mnemon.database
    with pytest.raises(KeyboardInterrupt):
        await discard_copy(there, sides.slug)
    monkeypatch.undo()
    await discard_copy(there, sides.slug)
    assert await rows_of(sides.there, sides.tenant) == {}
    await sides.move()
    assert await sides.read(sides.there) == known


async def test_a_tenant_that_was_on_its_way_back_is_where_it_went_to(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = await sides.written_decisions("D-1")
    await sides.move()
    monkeypatch.setattr(TenantCopy, "differing", differs)
    with pytest.raises(MoveRefused, match="documents"):
        await sides.move_back()
    monkeypatch.undo()
    assert await rows_of(sides.here, sides.tenant) != {}
    await discard_copy(sides.here.mnemon.database, sides.slug)
    assert await rows_of(sides.here, sides.tenant) == {}
    told = await sides.here.client.get("/v1/events", headers={"Authorization": f"Bearer {sides.token}"})
    assert (told.status_code, told.json()["details"]["url"]) == (421, URL)
    await sides.move_back()
    assert await sides.read(sides.here) == known


async def test_who_does_not_know_whether_it_opened_there_is_still_told_that_it_did_not(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be open nowhere, for ever."""
    known = await sides.written_decisions("D-1")
    say = _Move._say

    async def gone_at_the_opening(self: _Move, state: str) -> None:
        await say(self, state)
        if state == "opening":
            await dies()

    monkeypatch.setattr(_Move, "_say", gone_at_the_opening)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    monkeypatch.undo()
    closed = await sides.here.client.get("/v1/events", headers=sides.admin.headers)
    assert (closed.status_code, closed.json()["error_code"]) == (503, "TENANT_MOVING")
    await discard_copy(sides.there.mnemon.database, sides.slug)
    await sides.move()
    assert await sides.read(sides.there) == known


async def test_a_copy_is_not_removed_while_it_is_made(sides: Sides) -> None:
    async with sides.there.mnemon.database.owner() as mover:
        await mover.execute("SELECT pg_advisory_lock(hashtextextended('mnemon move', 0))")
        with pytest.raises(MoveRefused, match="under way"):
            await discard_copy(sides.there.mnemon.database, sides.slug)
