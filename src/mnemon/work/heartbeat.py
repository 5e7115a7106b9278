"""Heartbeats: a thread with a connection of its own says which leases are still wanted.

Neither a job that burns CPU on the event loop, nor an exhausted pool, nor a locked row keeps it from beating.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg

from mnemon.db.database import Server
from mnemon.work.outage import OUTAGE, Outage

BEAT = "SELECT mnemon.beat(%s, %s::uuid[], %s)::text[] AS held"
BEATS_PER_LEASE = 3
RETRY_SECONDS = 0.3
# A silent network or a stuck server may not hold the thread for long.
CONNECT_SECONDS = 5


class Heartbeat(threading.Thread):
    """Beats until closed. `on_lost` and `on_stuck` are called from this thread."""

    def __init__(
        self,
        server: Server,
        worker: str,
        lease: timedelta,
        on_lost: Callable[[str], None],
        on_stuck: Callable[[str], None],
    ) -> None:
        super().__init__(name="mnemon-heartbeat", daemon=True)
        self._server = server
        self._worker = worker
        self._lease = lease
        self._on_lost = on_lost
        self._on_stuck = on_stuck
        self._watched: dict[str, float] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._connection: psycopg.Connection[Any] | None = None
        self._outage = Outage("heartbeat")

    def watch(self, token: str, overdue_at: float) -> None:
        """Extend this lease from now on. By `overdue_at`, of the monotonic clock, its job should have been stopped."""
        with self._lock:
            self._watched[token] = overdue_at

    def forget(self, token: str) -> None:
        with self._lock:
            self._watched.pop(token, None)

    def close(self) -> None:
        self._closing.set()
        self.join(timeout=2 * CONNECT_SECONDS)

    def run(self) -> None:
        interval = self._lease.total_seconds() / BEATS_PER_LEASE
        pause = 0.0
        while not self._closing.wait(pause):
            pause = interval if self._try_to_beat() else min(RETRY_SECONDS, interval)
            self._report_stuck()
        self._hang_up()

    def _try_to_beat(self) -> bool:
        with self._lock:
            asked = list(self._watched)
        try:
            held = self._beat(asked)
        except OUTAGE as failure:
            # A full disk raises OSError where the server is looked for: a thread that ended would lose every lease.
            self._outage.seen(failure)
            self._hang_up()
            return False
        self._outage.over()
        for token in set(asked) - held:
            self._on_lost(token)
        return True

    def _beat(self, tokens: list[str]) -> set[str]:
        if self._connection is None:
            self._server.ensure_running()
            self._connection = psycopg.connect(
                self._server.app_conninfo,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                application_name="mnemon heartbeat",
            )
            self._connection.execute("SELECT set_config('statement_timeout', '5s', false)")
        row = self._connection.execute(BEAT, (self._worker, tokens, self._lease)).fetchone()
        assert row is not None
        return set(row[0])

    def _report_stuck(self) -> None:
        """A job that is watched this long after its time limit blocks the event loop that should have stopped it."""
        now = time.monotonic()
        with self._lock:
            overdue = [token for token, overdue_at in self._watched.items() if overdue_at < now]
        for token in overdue:
            self._on_stuck(token)

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()
