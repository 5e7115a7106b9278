"""Hearing of new events: one connection, which comes back after a loss and then catches up."""

import asyncio
from collections.abc import Callable
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.append.wake import CHANNEL
from mnemon.log.store import EventLog
from tests.log.conftest import order_placed
from tests.patience import PATIENCE

LISTENERS = "SELECT pid FROM pg_stat_activity WHERE query = %s AND datname = current_database()"


async def listeners(database: Database) -> set[int]:
    async with database.owner() as owner:
        rows = await (await owner.execute(LISTENERS, (f"LISTEN {CHANNEL}",))).fetchall()
    return {row["pid"] for row in rows}


async def test_a_process_has_one_listening_connection_however_many_wait(
    own_database: Database,
) -> None:
    async with EventLog(own_database) as log:
        with log.arrivals.watch(), log.arrivals.watch(), log.arrivals.watch():
            assert await log.arrivals.listening(PATIENCE)
            assert len(await listeners(own_database)) == 1
    async with asyncio.timeout(PATIENCE):
        while await listeners(own_database):
            pass


async def test_a_lost_connection_comes_back_and_wakes_everyone_to_catch_up(
    own_database: Database,
) -> None:
    async with EventLog(own_database) as log:
        with log.arrivals.watch() as signal:
            assert await log.arrivals.listening(PATIENCE)
            [lost] = await listeners(own_database)
            signal.clear()
            async with own_database.owner() as owner:
                await owner.execute("SELECT pg_terminate_backend(%s)", (lost,))
            assert await signal.wait(PATIENCE)
            assert await log.arrivals.listening(PATIENCE)
            assert lost not in await listeners(own_database)


async def test_what_others_say_on_the_channel_wakes_at_worst_once_too_often(log: EventLog, database: Database) -> None:
    with log.arrivals.watch() as signal:
        assert await log.arrivals.listening(PATIENCE)
        for text in ("", "{}", "nonsense", '{"partition": "x"}'):
            signal.clear()
            async with database.session() as connection:
                await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, text))
            assert await signal.wait(PATIENCE)


async def test_a_notification_says_where_and_never_what(
    log: EventLog, fresh_log: Callable[[], EventLog], database: Database, tenant: UUID
) -> None:
    async with database.owner() as listener:
        await listener.execute(f"LISTEN {CHANNEL}")
        [appended] = await log.append(tenant, [order_placed("secret-number")])
        [partition] = await log.list_partitions(tenant)
        async for notification in listener.notifies(timeout=PATIENCE):
            if notification.payload == f'{{"partition":{partition.partition_id},"sequence":"{appended.sequence}"}}':
                return
    raise AssertionError("no notification came")
