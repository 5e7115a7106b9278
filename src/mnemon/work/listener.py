"""Wake-ups: a connection that listens for new and cancelled jobs. Polling covers whatever it misses."""

import asyncio
from collections.abc import Callable
from uuid import UUID

import psycopg

from mnemon.db.database import Server, connect
from mnemon.errors import MnemonError
from mnemon.work.enqueue import CHANNEL
from mnemon.work.outage import Outage

CANCELLED_CHANNEL = "mnemon_jobs_cancelled"
ANY_KIND = "*"
RECONNECT_SECONDS = 0.5


async def listen(
    server: Server, kinds: frozenset[str], on_work: Callable[[], None], on_cancelled: Callable[[UUID], None]
) -> None:
    """Call back for each notification, for ever. After a lost connection: listen first, then look, then wait."""
    outage = Outage("listener")
    while True:
        try:
            async with await connect(server, server.app_conninfo) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                await connection.execute(f"LISTEN {CANCELLED_CHANNEL}")
                outage.over()
                on_work()
                async for notification in connection.notifies():
                    if notification.channel == CANCELLED_CHANNEL:
                        on_cancelled(UUID(notification.payload))
                    elif notification.payload in kinds or notification.payload == ANY_KIND:
                        on_work()
        except (psycopg.Error, MnemonError, OSError) as failure:
            outage.seen(failure)
            await asyncio.sleep(RECONNECT_SECONDS)
