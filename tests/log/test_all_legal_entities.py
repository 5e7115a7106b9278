"""What a tenant's legal entities share: one merged stream, ids and idempotency keys of the tenant, lineage that says
where it ends."""

import asyncio
from asyncio import FIRST_COMPLETED as FIRST
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Connection, Database
from mnemon.errors import Conflict
from mnemon.ids import new_ulid
from mnemon.log.errors import BadCursor, KeyConflict
from mnemon.log.events import Scope
from mnemon.log.partitions import Partitions
from mnemon.log.read.merged import ALL_LEGAL_ENTITIES
from mnemon.log.store import EventLog
from tests.patience import PATIENCE

from .conftest import noted

NAMES = ("DE", "FR", "main")
WAITING = """
SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%given ids of%' AND pid <> pg_backend_pid()
"""


async def fill(log: EventLog, tenant: UUID, rounds: int = 5) -> list[str]:
    made = [
        (await log.append(tenant, [noted(f"{name} {number}", scope=Scope(name))]))[0]
        for number in range(rounds)
        for name in NAMES
    ]
    return [one.id for one in made]


@pytest.mark.parametrize("direction", ["forward", "backward"])
async def test_their_streams_are_read_as_one_in_the_order_of_recording(
    log: EventLog, tenant: UUID, direction: str
) -> None:
    recorded = await fill(log, tenant)
    read, cursor = [], None
    while True:
        page = await log.read_page(
            tenant,
            legal_entity=ALL_LEGAL_ENTITIES,
            direction=direction,
            cursor=cursor,
            limit=4,  # type: ignore[arg-type]
        )
        read += [event.id for event in page.events]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert read == (recorded if direction == "forward" else recorded[::-1])


async def test_what_is_recorded_between_two_pages_is_not_skipped(log: EventLog, tenant: UUID) -> None:
    recorded = await fill(log, tenant, 2)
    first = await log.read_page(tenant, legal_entity=ALL_LEGAL_ENTITIES, limit=4)
    [late] = await log.append(tenant, [noted("late", scope=Scope("DE"))])
    rest = await log.read_page(tenant, legal_entity=ALL_LEGAL_ENTITIES, cursor=first.next_cursor, limit=100)
    assert [event.id for event in (*first.events, *rest.events)] == [*recorded, late.id]
    for wrong in ("x", first.next_cursor or ""):
        with pytest.raises(BadCursor):
            await log.read_page(tenant, legal_entity="DE", cursor=wrong)


async def test_an_id_is_taken_once_in_a_tenant(log: EventLog, tenant: UUID, other_tenant: UUID) -> None:
    event_id = new_ulid()
    await log.append(tenant, [noted(id=event_id, scope=Scope("DE"))])
    with pytest.raises(Conflict, match=event_id):
        await log.append(tenant, [noted(id=event_id, scope=Scope("FR"))])
    with pytest.raises(Conflict, match=event_id):
        async with log.transaction(tenant) as transaction:
            await transaction.append([noted(id=event_id, scope=Scope("FR"))])
    await log.append(other_tenant, [noted(id=event_id)])
    at_once = new_ulid()
    tries = [log.append(tenant, [noted(id=at_once, scope=Scope(name))]) for name in NAMES]
    done = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(one, list) for one in done) == 1


async def test_an_id_is_taken_once_though_the_other_legal_entity_is_made_meanwhile(
    log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever made it came first, while the second had looked which there are and waited for its turn."""
    await log.append(tenant, [noted(scope=Scope("FR"))])
    event_id, names_in, others = new_ulid(), Partitions.names_in, list[asyncio.Task[object]]()

    async def overtaken(self: Partitions, connection: Connection, *given: Any) -> dict[int, str]:
        found = await names_in(self, connection, *given)
        if not others:
            others.append(asyncio.create_task(made_elsewhere()))
            await asyncio.wait([others[0], asyncio.create_task(_is_waited_for(log.database))], return_when=FIRST)
        return found

    async def made_elsewhere() -> None:
        async with fresh_log() as other:
            await other.append(tenant, [noted(id=event_id, scope=Scope("DE"))])

    monkeypatch.setattr(Partitions, "names_in", overtaken)
    [here] = await asyncio.gather(log.append(tenant, [noted(id=event_id, scope=Scope("FR"))]), return_exceptions=True)
    [there] = await asyncio.gather(*others, return_exceptions=True)
    assert sorted(isinstance(one, Conflict) for one in (here, there)) == [False, True], (here, there)


async def _is_waited_for(database: Database) -> None:
    async with asyncio.timeout(PATIENCE), database.session() as session:
        while not await (await session.execute(WAITING)).fetchone():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)


async def test_a_key_stands_for_one_content_in_a_tenant(log: EventLog, tenant: UUID) -> None:
    await fill(log, tenant, 1)
    await log.append(tenant, [noted("a", idempotency_key="k", scope=Scope("DE"))])
    with pytest.raises(KeyConflict, match="'k'"):
        await log.append(tenant, [noted("a", idempotency_key="k", scope=Scope("FR"))])
