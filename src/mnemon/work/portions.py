"""Clean-up in portions: short transactions, so that nothing waits for the broom."""

from typing import Any, LiteralString

from mnemon.db.database import Database

AT_ONCE = 1_000


async def in_portions(database: Database, statement: LiteralString, *values: Any) -> int:
    """Run a statement, which takes the size of a portion last and answers its `count`, until one is not full."""
    total = 0
    while True:
        async with database.session() as session:
            row = await (await session.execute(statement, (*values, AT_ONCE))).fetchone()
        assert row is not None
        count: int = row["count"]
        total += count
        if count < AT_ONCE:
            return total
