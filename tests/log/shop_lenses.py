"""Lenses over the little shop that the suites project with, and the tables that they write."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.log.events import Event
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern
from mnemon.log.store import EventLog
from tests.patience import PATIENCE

PLACED = Pattern(types=["shop.order.placed"])

MAKE = """
CREATE TABLE IF NOT EXISTS mnemon.test_totals (
    tenant_id uuid NOT NULL, legal_entity text NOT NULL, orders bigint NOT NULL, amount numeric NOT NULL,
    doubled numeric GENERATED ALWAYS AS (amount * 2) STORED,
    PRIMARY KEY (tenant_id, legal_entity));
CREATE TABLE IF NOT EXISTS mnemon.test_orders (
    tenant_id uuid NOT NULL, legal_entity text NOT NULL, sequence bigint NOT NULL, number text NOT NULL,
    clerk text, recorded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, legal_entity, sequence));
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_policies WHERE tablename = 'test_totals') THEN
        CALL mnemon.isolate_by_tenant('mnemon.test_totals');
        CALL mnemon.isolate_by_tenant('mnemon.test_orders');
    END IF;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.test_totals, mnemon.test_orders TO mnemon_app;
"""
DROP = "DROP TABLE IF EXISTS mnemon.test_totals, mnemon.test_orders"


async def count_orders(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    """Adds, so that an event that is applied twice or not at all shows."""
    for event in events:
        await connection.execute(
            f"INSERT INTO {tables['test_totals']} AS t (tenant_id, legal_entity, orders, amount) "
            "VALUES (%s, %s, 1, %s) ON CONFLICT (tenant_id, legal_entity) DO UPDATE "
            "SET orders = t.orders + 1, amount = t.amount + excluded.amount",
            (event.tenant_id, event.legal_entity, event.data["amount"]),
        )
        await connection.execute(
            f"INSERT INTO {tables['test_orders']} (tenant_id, legal_entity, sequence, number, clerk, recorded_at) "
            "VALUES (%s, %s, %s, %s, %s, %s)",
            (
                event.tenant_id, event.legal_entity, event.sequence, event.data["number"],
                event.payload.get("actor", {}).get("name"), event.recorded_at,
            ),
        )  # fmt: skip


def totals(**overrides: Any) -> Lens:
    given: dict[str, Any] = {
        "name": "totals",
        "tables": ("mnemon.test_totals", "mnemon.test_orders"),
        "apply": count_orders,
        "pattern": PLACED,
    }
    return Lens(**given | overrides)


@asynccontextmanager
async def lens_tables(database: Database) -> AsyncIterator[None]:
    async with database.owner() as owner:
        await owner.execute(MAKE)
    try:
        yield
    finally:
        async with database.owner() as owner:
            await owner.execute(DROP)


async def rows_of(log: EventLog, tenant: UUID) -> dict[str, tuple[int, int, list[int]]]:
    """Orders, amount and the sequences that were counted, by legal entity."""
    async with log.database.transaction(tenant) as connection:
        found = await (await connection.execute("SELECT * FROM mnemon.test_totals")).fetchall()
        orders = await (
            await connection.execute("SELECT legal_entity, sequence FROM mnemon.test_orders ORDER BY sequence")
        ).fetchall()
    return {
        row["legal_entity"]: (
            row["orders"],
            int(row["amount"]),
            [one["sequence"] for one in orders if one["legal_entity"] == row["legal_entity"]],
        )
        for row in found
    }


async def until_equal(log: EventLog, tenant: UUID) -> None:
    """Return once the rows are the fold of the log."""
    async with asyncio.timeout(PATIENCE):
        with log.arrivals.watch() as signal:
            while await rows_of(log, tenant) != await fold_of(log, tenant):
                await signal.wait(0.02)


async def fold_of(log: EventLog, tenant: UUID) -> dict[str, tuple[int, int, list[int]]]:
    """What the rows should be, straight from the log."""
    folded: dict[str, tuple[int, int, list[int]]] = {}
    for partition in await log.list_partitions(tenant):
        async for event in log.scan(tenant, legal_entity=partition.legal_entity):
            if event.type == "shop.order.placed":
                orders, amount, sequences = folded.get(event.legal_entity, (0, 0, []))
                folded[event.legal_entity] = (
                    orders + 1, amount + event.data["amount"], [*sequences, event.sequence],
                )  # fmt: skip
    return folded
