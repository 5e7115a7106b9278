"""Waiting for the server: nothing is lost, and nobody else is kept waiting."""

import asyncio

from mnemon.db.database import Database

LARGE = "SELECT repeat('x', 2000) AS text FROM generate_series(1, 5000)"


async def test_a_result_of_many_pieces_arrives_whole_while_others_get_their_turn(own_database: Database) -> None:
    # A new connection: one that has read something large before takes more at a time.
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    others = asyncio.create_task(count())
    async with own_database.session() as connection:
        rows = await (await connection.execute(LARGE)).fetchall()
    others.cancel()
    assert len(rows) == 5000
    assert {row["text"] for row in rows} == {"x" * 2000}
    assert turns > 10


async def test_a_wait_can_be_cut_short(database: Database) -> None:
    async with database.session() as connection:
        try:
            async with asyncio.timeout(0.2):
                await connection.execute("SELECT pg_sleep(30)")
        except TimeoutError:
            pass
        await connection.rollback()
        assert (await (await connection.execute("SELECT 1 AS one")).fetchone()) == {"one": 1}
