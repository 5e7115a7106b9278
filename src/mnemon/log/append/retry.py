"""Retrying after a conflict: read again, decide again, append again, a few times."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from mnemon.log.errors import TransactionConflict, VersionConflict

WAITS = (0.05, 0.2, 0.8)

Result = TypeVar("Result")


async def retry_on_conflict(attempt: Callable[[], Awaitable[Result]], waits: Sequence[float] = WAITS) -> Result:
    """Run `attempt`, which must read what it decides on; the last conflict is the caller's."""
    for wait in waits:
        try:
            return await attempt()
        except (VersionConflict, TransactionConflict):
            await asyncio.sleep(wait)
    return await attempt()
