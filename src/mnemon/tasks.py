"""Ending tasks: a cancellation that was lost is said again."""

import asyncio
from typing import Any

AGAIN_SECONDS = 1.0


async def end(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it is over; raise what it failed with.

    Until Python 3.12, `asyncio.wait_for` drops a cancellation that comes together with the result it waits for, and
    database calls wait by it: a task that loops would go on for ever, and so would whoever waits for its end.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=AGAIN_SECONDS)
    if not task.cancelled():
        task.result()
