"""First keys of a shared home: gateways that start at the same time make them in turn.

The bucket itself refuses to overwrite what is there; this is for stores that do not.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from mnemon.db.database import Database
from mnemon.shared_home import Home, SharedHome

ONE_MAKES_KEYS = "SELECT pg_advisory_lock(hashtextextended('mnemon first keys', 0))"
LET_GO = "SELECT pg_advisory_unlock(hashtextextended('mnemon first keys', 0))"

Made = TypeVar("Made")


async def made_in_turn(database: Database, home: Home, make: Callable[[], Made]) -> Made:
    """What `make` reads from the home, or makes there if it is the first."""
    if not isinstance(home, SharedHome):
        return await asyncio.to_thread(make)
    async with database.owner() as owner:
        # Let go with the connection, should this process be killed.
        await owner.execute(ONE_MAKES_KEYS)
        try:
            return await asyncio.to_thread(make)
        finally:
            await owner.execute(LET_GO)
