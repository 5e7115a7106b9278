"""Single statements that are their own transaction: one round trip in place of three."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mnemon.db.database import Connection


@asynccontextmanager
async def autocommitting(connection: Connection) -> AsyncIterator[None]:
    """Within, each statement commits by itself; afterwards the connection is as the pool lent it."""
    await connection.set_autocommit(True)
    try:
        yield
    finally:
        if not connection.closed:
            await connection.set_autocommit(False)
