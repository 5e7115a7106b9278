"""Tasks that end although a cancellation was lost, and work for many of which none holds up the others."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

AGAIN_SECONDS = 1.0

One = TypeVar("One")


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


async def for_each(many: Iterable[One], work: Callable[[One], Awaitable[object]]) -> None:
    """Do it for one after the other. What goes wrong with one is raised when all have had their turn."""
    first: Exception | None = None
    for one in many:
        try:
            await work(one)
        except Exception as failure:
            first = first or failure
    if first is not None:
        raise first
