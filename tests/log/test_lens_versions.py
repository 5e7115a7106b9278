"""The rows of an inline lens come to its present version by themselves, and no more often than they must."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import pytest

from mnemon.db.database import Connection, Database
from mnemon.log.events import Event, Scope
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.project.lens_states import others_in
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.log.types.registry import Registry
from tests.conftest import make_tenant
from tests.log.conftest import SHOP, noted, order_placed
from tests.log.following import QUICK
from tests.log.shop_lenses import count_orders, fold_of, lens_tables, rows_of, totals
from tests.patience import PATIENCE

FIRST = totals(lifecycle="inline")


async def dearer(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    await count_orders(connection, events, tables)
    await connection.execute(f"UPDATE {tables['test_totals']} SET amount = orders * 100")


SECOND = totals(lifecycle="inline", apply=dearer, version=2)


@pytest.fixture
async def ours(own_database: Database) -> AsyncIterator[Database]:
    """A database of its own, as a running projector works for every tenant there is."""
    async with lens_tables(own_database):
        yield own_database


def open_log(database: Database) -> EventLog:
    """A log that remembers nothing, as another process would have."""
    return EventLog(database, registry=Registry(database, SHOP))


async def start(database: Database, lens: Lens) -> None:
    """A program starts, brings all tenants to its version, and stops."""
    async with open_log(database) as log:
        projector = Projector(log, QUICK)
        projector.add(lens)
        async with projector, asyncio.timeout(PATIENCE), database.session() as session:
            with log.arrivals.watch() as signal:
                while await others_in(session, [lens]):
                    await signal.wait(0.02)


async def append(database: Database, lens: Lens, tenant: UUID, *numbers: str, place: str = "main") -> None:
    async with open_log(database) as log:
        Projector(log).add(lens)
        for number in numbers:
            await log.append(tenant, [order_placed(number, scope=Scope(place))])


async def rebuilt_at(database: Database, tenant: UUID) -> object:
    """None while no rebuild ever began."""
    async with database.transaction(tenant) as tx:
        row = await (await tx.execute("SELECT started_at FROM mnemon.lens_states")).fetchone()
        return row and row["started_at"]


async def test_a_running_projector_brings_every_tenant_to_a_raised_version(ours: Database) -> None:
    tenants = [await make_tenant(ours) for _ in range(2)]
    for tenant in tenants:
        await append(ours, FIRST, tenant, "1", "2", "3")
    await start(ours, SECOND)
    async with open_log(ours) as log:
        assert [(await rows_of(log, tenant))["main"][:2] for tenant in tenants] == [(3, 300), (3, 300)]


async def test_a_tenant_begun_under_the_present_version_is_never_made_anew(ours: Database) -> None:
    tenant = await make_tenant(ours)
    async with open_log(ours) as log:
        await log.append(tenant, [noted()])
    await append(ours, FIRST, tenant, "1", "2")
    await append(ours, FIRST, tenant, "3", place="berlin")
    await start(ours, FIRST)
    assert await rebuilt_at(ours, tenant) is None


async def test_a_tenant_without_events_of_the_lens_is_not_replayed(ours: Database) -> None:
    tenant = await make_tenant(ours)
    async with open_log(ours) as log:
        await log.append(tenant, [noted()])
    await start(ours, FIRST)
    await start(ours, SECOND)
    assert await rebuilt_at(ours, tenant) is None


async def test_a_version_is_made_anew_once(ours: Database) -> None:
    tenant = await make_tenant(ours)
    await append(ours, FIRST, tenant, "1")
    await start(ours, SECOND)
    once = await rebuilt_at(ours, tenant)
    await start(ours, SECOND)
    assert once is not None
    assert await rebuilt_at(ours, tenant) == once


async def test_a_new_lens_is_filled_even_if_an_append_comes_before_the_projector(ours: Database) -> None:
    tenant = await make_tenant(ours)
    async with open_log(ours) as log:
        await log.append(tenant, [order_placed("1")])
    await append(ours, FIRST, tenant, "2", place="berlin")
    await start(ours, FIRST)
    async with open_log(ours) as log:
        assert await rows_of(log, tenant) == await fold_of(log, tenant)


async def test_a_first_append_that_is_undone_begins_nothing(ours: Database) -> None:
    tenant = await make_tenant(ours)
    async with open_log(ours) as log:
        Projector(log).add(FIRST)
        with pytest.raises(ZeroDivisionError):
            async with log.transaction(tenant) as transaction:
                await transaction.append([order_placed("1")])
                raise ZeroDivisionError
        await log.append(tenant, [order_placed("1")])
    await start(ours, FIRST)
    assert await rebuilt_at(ours, tenant) is None


async def test_an_append_asks_for_the_version_once_in_a_process(
    ours: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await make_tenant(ours)
    await append(ours, FIRST, tenant, "1")
    asked = []

    async def count(*given: object) -> int:
        asked.append(given)
        return 1

    monkeypatch.setattr("mnemon.log.project.inline_projection.version_in", count)
    await append(ours, FIRST, tenant, "2", "3", "4")
    assert len(asked) == 1
