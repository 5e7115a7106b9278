"""Connections that nobody holds for nothing: limits on their number, and on how long a request may take to come."""

import asyncio
import contextlib
import resource
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from mnemon.settings import Settings
from mnemon.telemetry import counter

# Files that are needed for other things than connections: the database, uploads, models, subprocesses.
OTHER_FILES = 200
MOST_FILES = 65_536
STALLED_SECONDS = 30
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s"
)
FULL = b'{"error":"There are too many connections: try again later.","error_code":"TOO_MANY_REQUESTS","details":{}}'
LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

ENDED = counter("mnemon_http_connections_ended", "Connections that were refused or ended, by reason.", ["reason"])


@dataclass(frozen=True)
class ConnectionLimits:
    """What a server allows its clients, and who has how many connections."""

    most: int
    per_address: int
    header_seconds: float
    idle_seconds: float
    exempt: Collection[str] = ()
    by_address: Counter[str] = field(default_factory=Counter)

    @property
    def taken(self) -> int:
        return self.by_address.total()


def connection_limits(settings: Settings) -> ConnectionLimits:
    """Below what the process may open: a full server refuses in words, and its other work has files left."""
    return ConnectionLimits(
        min(settings.connections, max(_files() - OTHER_FILES, 16)),
        settings.connections_per_address,
        settings.header_seconds,
        # An upload that stalls is answered by its route, in words, before this.
        settings.upload_idle_seconds + STALLED_SECONDS,
        settings.trusted_proxies,
    )


def guarded_protocol(limits: ConnectionLimits) -> type[H11Protocol]:
    return type("GuardedConnection", (Guarded,), {"limits": limits})


class Guarded(H11Protocol):
    """The web server's own protocol, with an end to each wait for the client."""

    limits: ConnectionLimits
    _address: str | None = None
    _refused = False
    _head: asyncio.TimerHandle | None = None
    _idle: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else "unknown"
        limits = self.limits
        crowd = limits.by_address[address] >= limits.per_address and address not in limits.exempt
        if limits.taken >= limits.most or crowd:
            self._refused = True
            ENDED.labels("too_many").inc()
            transport.write(REFUSAL % (len(FULL), FULL))
            transport.close()
            return
        self._address = address
        limits.by_address[address] += 1
        self._head = self.loop.call_later(limits.header_seconds, self._end, "slow_header", LATE)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head, self._idle, self._unread):
            _cancel(timer)
        if self._address is not None:
            self.limits.by_address[self._address] -= 1
            if not self.limits.by_address[self._address]:
                del self.limits.by_address[self._address]
            self._address = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        state = self.conn.their_state
        _cancel(self._idle)
        self._idle = None
        if state is h11.IDLE and self.timeout_keep_alive_task is None:
            # Part of a head has come, or the rest of one: the wait counts from its first byte.
            self._head = self._head or self.loop.call_later(self.limits.header_seconds, self._end, "slow_header", LATE)
            return
        _cancel(self._head)
        self._head = None
        if state is h11.SEND_BODY:
            self._idle = self.loop.call_later(self.limits.idle_seconds, self._still_idle)

    def pause_writing(self) -> None:
        """The client does not read. Whoever never will would keep the answer, and its connection, for ever."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.limits.idle_seconds, self._end, "slow_reader", b"")

    def resume_writing(self) -> None:
        _cancel(self._unread)
        self._unread = None
        super().resume_writing()

    def _unsupported_upgrade_warning(self) -> None:
        """Not a line in the log for each request that asks for what is not offered."""

    def _still_idle(self) -> None:
        if self.flow.read_paused:
            # It is we who let the client wait.
            self._idle = self.loop.call_later(self.limits.idle_seconds, self._still_idle)
        else:
            self._end("slow_body", LATE)

    def _end(self, reason: str, words: bytes) -> None:
        if self.transport.is_closing():
            return
        ENDED.labels(reason).inc()
        if words and self.conn.our_state is h11.IDLE:
            self.transport.write(words)
            self.transport.close()
        else:
            self.transport.abort()


def _files() -> int:
    """How many files this process may open, after it has asked for as many as it can get."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
