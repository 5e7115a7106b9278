"""Arrivals: tells whoever waits in this process that a partition has grown, here or in another process."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import orjson
import psycopg

from mnemon.db.database import Database, connect
from mnemon.errors import MnemonError
from mnemon.log.append.wake import CHANNEL, Waker
from mnemon.tasks import end
from mnemon.telemetry import counter, logger

LISTEN = f"LISTEN {CHANNEL}"
RECONNECT_SECONDS = (0.05, 0.2, 1.0, 5.0)

RECONNECTS = counter("mnemon_log_listen_reconnects_total", "Times the connection that hears of new events was lost.")

log = logger(__name__)


class Signal:
    """What one waiter waits on. Clear it, look, then wait: what comes in between is not missed."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def clear(self) -> None:
        self._event.clear()

    def set(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> bool:
        """True if something arrived; False after so many seconds, when it is time to look anyway."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        return True


class Arrivals:
    """One listening connection per process, opened when someone first waits.

    It listens, then wakes everyone to catch up, then waits; after a loss it does the same again. Until it is back,
    waiters hear of commits of their own process and otherwise poll.
    """

    def __init__(self, database: Database, waker: Waker) -> None:
        self._database = database
        self._signals: set[Signal] = set()
        self._known: dict[int, int] = {}
        self._listening = asyncio.Event()
        self._listener: asyncio.Task[None] | None = None
        self._stop_hearing = waker.listen(self._arrived)

    @contextmanager
    def watch(self) -> Iterator[Signal]:
        signal = Signal()
        self._signals.add(signal)
        if self._listener is None:
            self._listener = asyncio.create_task(self._listen_for_ever())
        try:
            yield signal
        finally:
            self._signals.discard(signal)

    async def listening(self, seconds: float) -> bool:
        """True once notifications are heard; False if that takes longer than so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._listening.wait()
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        self._stop_hearing()
        if self._listener is not None:
            await end(self._listener)
            self._listener = None

    def _arrived(self, partition_id: int, sequence: int) -> None:
        # A commit of this process is heard of twice: at once, and through the database.
        if sequence > self._known.get(partition_id, 0):
            self._known[partition_id] = sequence
            self._wake_all()

    def _wake_all(self) -> None:
        for signal in tuple(self._signals):
            signal.set()

    async def _listen_for_ever(self) -> None:
        losses = 0
        while True:
            try:
                await self._listen()
            except (psycopg.Error, MnemonError, OSError) as failure:
                losses = 0 if self._listening.is_set() else losses + 1
                log.warning("log.listen_lost", error=str(failure))
            self._listening.clear()
            RECONNECTS.inc()
            await asyncio.sleep(RECONNECT_SECONDS[min(losses, len(RECONNECT_SECONDS) - 1)])

    async def _listen(self) -> None:
        async with await connect(self._database.server, self._database.server.app_conninfo) as connection:
            await connection.execute(LISTEN)
            self._listening.set()
            self._wake_all()
            async for notification in connection.notifies():
                self._heard(notification.payload)

    def _heard(self, payload: str) -> None:
        try:
            message = orjson.loads(payload)
            self._arrived(int(message["partition"]), int(message["sequence"]))
        except (ValueError, TypeError, KeyError):
            # Anyone may notify on any channel; what is not ours means "look", at worst once too often.
            self._wake_all()
