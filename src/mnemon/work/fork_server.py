"""The fork server: a process that is ready to read files and forks one child for each, which ends with its file.

It never sees a foreign byte, so no file can spoil it for the next one; all that children share with it are the modules
and the tables that they would each have had to load. It ends with the process that started it.
"""

import contextlib
import gc
import os
import selectors
import signal
import socket
import sys

from mnemon.work.child import answer_call, call_with_json, function_named

CALL = b"c"


def main() -> None:
    """`python -m mnemon.work.fork_server [PREPARATION ARGUMENT]`, with the line to the caller as standard input."""
    prepare(*sys.argv[1:])
    ForkServer(socket.socket(fileno=0)).serve()


def prepare(function: str = "", argument: str = "") -> None:
    # Whatever fails here fails in the child too, where it has somebody to be told to.
    with contextlib.suppress(Exception):
        if function:
            call_with_json(function_named(function), [argument])
    # Children that never look through what we loaded share it instead of copying it.
    gc.collect()
    gc.freeze()


class ForkServer:
    """Forks, reaps, and tells each caller how its child ended. A caller that hangs up has its child killed."""

    def __init__(self, calls: socket.socket) -> None:
        self._calls = calls
        self._children: dict[int, socket.socket] = {}
        self._ended, waker = socket.socketpair()
        self._ended.setblocking(False)
        waker.setblocking(False)
        self._waker = waker
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(calls, selectors.EVENT_READ)
        self._selector.register(self._ended, selectors.EVENT_READ)

    def serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._calls:
                    if not self._take_call():
                        return self._end()
                elif key.fileobj is self._ended:
                    with contextlib.suppress(BlockingIOError):
                        self._ended.recv(1 << 12)
                else:
                    self._selector.unregister(key.fileobj)
                    _kill(key.data)
            self._reap()

    def _take_call(self) -> bool:
        word, (*places,), _, _ = socket.recv_fds(self._calls, len(CALL), 3)
        if word != CALL:
            return False
        talk, words, line = places
        parent, child = os.getpid(), os.fork()
        if child == 0:
            _become_child(talk, words, parent)
        os.close(talk)
        os.close(words)
        self._children[child] = caller = socket.socket(fileno=line)
        self._selector.register(caller, selectors.EVENT_READ, child)
        return True

    def _reap(self) -> None:
        for child in list(self._children):
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                # What it started goes with it. Its own number may be another's by now, its group's cannot.
                _kill_group(child)
                caller = self._children.pop(child)
                with contextlib.suppress(KeyError):
                    self._selector.unregister(caller)
                with contextlib.suppress(OSError):
                    caller.sendall(str(os.waitstatus_to_exitcode(status)).encode())
                caller.close()

    def _end(self) -> None:
        for child in self._children:
            _kill(child)


def _become_child(talk: int, words: int, parent: int) -> None:
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        answer_call(talk, words, parent)
    finally:
        os._exit(1)


def _kill(child: int) -> None:
    """Before it is reaped: the child may have made no group yet."""
    _kill_group(child)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)


def _kill_group(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
