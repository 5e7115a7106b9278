"""Partitions that are made while others read and write: nobody overlooks one, or sees its events without their data."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Database
from mnemon.ids import new_uuid
from mnemon.log.events import NewEvent, Scope
from mnemon.log.store import EventLog
from mnemon.log.types.registry import Registry
from tests.log.conftest import CLERK, ORDER_NOTED
from tests.patience import PATIENCE

ENTITIES = ("North", "South", "East", "West")
WRITERS = READERS = 3
WITHOUT_TABLES = """
INSERT INTO mnemon.partitions (tenant_id, legal_entity, hash) VALUES (%s, 'Nowhere', sha256('')) RETURNING partition_id
"""
KNOWN = "SELECT current_setting('mnemon.known_partitions')::integer AS known"
TAKE_BACK = "DELETE FROM mnemon.partitions WHERE tenant_id = %s"


async def test_a_partition_without_a_table_is_an_error_and_not_empty(database: Database) -> None:
    tenant, log = new_uuid(), EventLog(database, registry=Registry(database, [ORDER_NOTED]))
    async with database.owner() as owner:
        await owner.execute(WITHOUT_TABLES, (tenant,))
        try:
            with pytest.raises(psycopg.errors.UndefinedTable, match="has no table of event_payloads"):
                await log.read_page(tenant, legal_entity="Nowhere")
        finally:
            await owner.execute(TAKE_BACK, (tenant,))


@pytest.mark.parametrize("seen_by_another", [False, True])
async def test_a_partition_that_is_made_while_a_reading_goes_on_is_known_before_it_is_read(
    database: Database, seen_by_another: bool
) -> None:
    tenant, log = new_uuid(), EventLog(database, registry=Registry(database, [ORDER_NOTED]))
    await write(log, [tenant])
    async with log.reader.transaction(tenant) as connection:
        [made] = await log.append(
            tenant, [NewEvent(type=ORDER_NOTED.type, data={"by": "Late"}, actor=CLERK, scope=Scope("Late"))]
        )
        if seen_by_another:
            assert (await log.read_page(tenant, legal_entity="Late")).events
        [event] = await log.reader.page_in(connection, tenant, legal_entity="Late")
        row = await (await connection.execute(KNOWN)).fetchone()
    assert event.id == made.id
    assert row is not None and row["known"] >= event.partition_id


async def test_events_of_new_partitions_are_seen_with_their_data(own_database: Database) -> None:
    assert await overlooked(own_database, 8) == 0


@pytest.mark.slow
async def test_the_same_on_a_crowded_machine(own_database: Database) -> None:
    with crowd(2 * (os.cpu_count() or 1)):
        assert await overlooked(own_database, 150) == 0


async def overlooked(database: Database, tenants: int) -> int:
    """How often an event was read without its data, while several write to the same partitions first."""
    made = [new_uuid() for _ in range(tenants)]
    async with (
        asyncio.timeout(PATIENCE),
        asyncio.TaskGroup() as tasks,
    ):
        for _ in range(WRITERS):
            # Each knows partitions by itself, as a process does.
            tasks.create_task(write(EventLog(database, registry=Registry(database, [ORDER_NOTED])), made))
        readers = [
            tasks.create_task(read(EventLog(database, registry=Registry(database, [ORDER_NOTED])), made))
            for _ in range(READERS)
        ]
    return sum(one.result() for one in readers)


async def write(log: EventLog, tenants: list[UUID]) -> None:
    for tenant in tenants:
        for entity in ENTITIES:
            await log.append(
                tenant, [NewEvent(type=ORDER_NOTED.type, data={"by": entity}, actor=CLERK, scope=Scope(entity))]
            )


async def read(log: EventLog, tenants: list[UUID]) -> int:
    found = 0
    for tenant in tenants:
        for entity in ENTITIES:
            seen = []
            while not seen:
                seen = [event async for event in log.scan(tenant, legal_entity=entity)]
            found += any("by" not in event.data for event in seen)
    return found


@contextmanager
def crowd(count: int) -> Iterator[None]:
    """Others who want the processors too."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
        for one in busy:
            one.wait()
