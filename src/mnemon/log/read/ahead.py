"""Reading ahead: each page is fetched while the one before it is used."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

Item = TypeVar("Item")

# A reader that never waits would keep the event loop to itself, and the next page from arriving: it sleeps for no time
# before every so many items.
ITEMS_PER_TURN = 32


async def pages_ahead(
    page_after: Callable[[int], Awaitable[list[Item]]], place_of: Callable[[Item], int], after: int, full: int
) -> AsyncGenerator[list[Item], None]:
    """Page after page, up to the first with less than `full` items. `page_after` gets the place of the last item.

    A page is its reader's to take apart.
    """
    ahead = asyncio.ensure_future(page_after(after))
    try:
        while True:
            page = await ahead
            more = len(page) == full
            if more:
                ahead = asyncio.ensure_future(page_after(place_of(page[-1])))
            if page:
                yield page
            if not more:
                return
    finally:
        ahead.cancel()
        await asyncio.gather(ahead, return_exceptions=True)
