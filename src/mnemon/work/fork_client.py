"""Fork servers as their user sees them: started when first needed, shared by all calls, gone with this process."""

import asyncio
import atexit
import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from mnemon.work.fork_server import CALL

# The server only has to kill and reap: longer means that it is gone or stuck.
END_SECONDS = 30.0
Words = tuple[str, ...]


@dataclass(frozen=True)
class Preparation:
    """What a fork server does before its first call, so that no call has to: import modules, load tables."""

    function: Callable[..., object]
    argument: BaseModel


def name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


class Call:
    """One child of a fork server, and three lines to it: to talk, for what it prints, and to hear of its end."""

    def __init__(self, talk: socket.socket, words: socket.socket, end: socket.socket) -> None:
        self._sockets = (talk, words, end)
        self._writers: list[asyncio.StreamWriter] = []
        self._status: bytes | None = None

    async def open(self) -> None:
        readers = []
        for one in self._sockets:
            reader, writer = await asyncio.open_connection(sock=one)
            readers.append(reader)
            self._writers.append(writer)
        self.talk, self.words, self._end = readers

    async def ask(self, request: bytes) -> None:
        talk = self._writers[0]
        with contextlib.suppress(ConnectionError):
            talk.write(request)
            await talk.drain()
            talk.write_eof()

    async def ended(self) -> int | None:
        """How it ended: its exit status, a signal as a negative number, or None if the fork server died with it."""
        if self._status is None:
            self._status = await self._end.read()
        return int(self._status) if self._status else None

    async def end(self) -> None:
        """Have it killed, if it lives, and wait until it is gone."""
        if len(self._writers) == len(self._sockets):
            with contextlib.suppress(OSError):
                self._writers[2].write_eof()
            with contextlib.suppress(TimeoutError, ConnectionError):
                async with asyncio.timeout(END_SECONDS):
                    await self.ended()
        for writer in self._writers:
            writer.close()
        for one in self._sockets[len(self._writers) :]:
            one.close()


class _Server:
    """A fork server that was started here."""

    def __init__(self, words: Words, environment: dict[str, str]) -> None:
        # -P: what lies in the current folder is no module of ours.
        command = [sys.executable, "-P", "-m", "mnemon.work.fork_server", *words]
        self._calls, theirs = socket.socketpair()
        nowhere = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, stdin=theirs.fileno(), stdout=nowhere, stderr=nowhere, start_new_session=True, env=environment
        )
        theirs.close()

    def begin(self) -> Call:
        ours, theirs = zip(*(socket.socketpair() for _ in range(3)), strict=True)
        try:
            socket.send_fds(self._calls, [CALL], [one.fileno() for one in theirs])
        except OSError:
            for one in ours:
                one.close()
            raise
        finally:
            for one in theirs:
                one.close()
        return Call(*ours)

    def close(self) -> None:
        """It ends when we hang up, and kills what it has forked."""
        self._calls.close()
        self._process.wait()


_servers: dict[Words, _Server] = {}
_turn = threading.Lock()


def begin_call(prepared: Preparation | None, environment: dict[str, str]) -> Call:
    """A child of the server that is so prepared. A server that has died is replaced."""
    words = (name_of(prepared.function), prepared.argument.model_dump_json()) if prepared else ()
    with _turn:
        if server := _servers.get(words):
            try:
                return server.begin()
            except OSError:
                _servers.pop(words).close()
        _servers[words] = server = _Server(words, environment)
        return server.begin()


@atexit.register
def close_servers() -> None:
    with _turn:
        while _servers:
            _servers.popitem()[1].close()
