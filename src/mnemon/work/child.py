"""The subprocess of `run_isolated`: takes limits upon itself, calls one function, answers on its standard output."""

import contextlib
import ctypes
import importlib
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any, get_type_hints

import orjson
from pydantic import TypeAdapter

from mnemon.errors import MnemonError
from mnemon.work.errors import MemoryLimitExceeded
from mnemon.work.reply import ERROR, RESULT

DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
# The parent's own limit comes first; this one is the kernel's, for a child whose parent is gone.
GRACE_SECONDS = 5.0
# As bulk embedding: whoever waits for an answer of the server comes first.
NICENESS = 10


def main() -> None:
    # Whatever a library prints must not end up in the answer.
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    request = orjson.loads(sys.stdin.buffer.read())
    _limit(request["memory_mb"], request["seconds"])
    if os.getppid() != request["parent"]:
        os._exit(1)
    try:
        reply = RESULT + _call(request["function"], request["arguments"])
    except Exception as error:
        reply = ERROR + orjson.dumps(_told(error), default=str)
    answer.write(reply)
    answer.flush()
    # No exit handlers of foreign libraries: the answer is given.
    os._exit(0)


def _told(error: BaseException) -> dict[str, Any]:
    cause: BaseException | None = error
    while cause is not None:
        # Clean-up after a MemoryError tends to fail in its own way; the first error is the one that counts.
        if isinstance(cause, MemoryError):
            return {"code": MemoryLimitExceeded.code}
        cause = cause.__context__
    if isinstance(error, MnemonError):
        return {"code": error.code, "message": error.message, "details": error.details}
    return {"code": "", "message": f"{type(error).__name__}: {error}"[:1000], "details": {}}


def _limit(memory_mb: int, seconds: float) -> None:
    """Limits that the kernel enforces, even on code that never returns to Python."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    most = memory_mb << 20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
    os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


def _call(name: str, arguments: list[str]) -> bytes:
    module, _, path = name.partition(":")
    function: Callable[..., Any] = importlib.import_module(module)  # type: ignore[assignment]
    for part in path.split("."):
        function = getattr(function, part)
    hints = get_type_hints(function)
    returns: TypeAdapter[Any] = TypeAdapter(hints.pop("return", Any))
    takes = [hint for parameter, hint in hints.items()]
    values = [TypeAdapter(hint).validate_json(text) for hint, text in zip(takes, arguments, strict=True)]
    return returns.dump_json(function(*values))


if __name__ == "__main__":
    main()
