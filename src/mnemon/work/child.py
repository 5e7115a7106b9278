"""The process of one call of `run_isolated`: takes limits upon itself, calls one function, answers, and ends."""

import importlib
import os
import socket
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

import orjson
from pydantic import TypeAdapter

from mnemon.errors import MnemonError
from mnemon.work.confinement import confine
from mnemon.work.errors import MemoryLimitExceeded
from mnemon.work.reply import ERROR, RESULT

TALK = 3


def answer_call(talk: int, words: int, parent: int) -> None:
    """After the fork: of all that the fork server has open, only the line to the caller and to its log stay."""
    os.setsid()
    # Whatever a library prints must not end up in the answer.
    os.dup2(words, 1)
    os.dup2(words, 2)
    os.dup2(talk, TALK)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    os.closerange(TALK + 1, os.sysconf("SC_OPEN_MAX"))
    line = socket.socket(fileno=TALK)
    request = orjson.loads(_read(line))
    confine(request["memory_mb"], request["seconds"], request["network"], request["cpu_seconds"])
    if os.getppid() != parent:
        return
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[:] = request["path"]
    try:
        reply = RESULT + call_with_json(function_named(request["function"]), request["arguments"])
    except Exception as error:
        reply = ERROR + orjson.dumps(_told(error), default=str)
    line.sendall(reply)
    # No exit handlers of foreign libraries: the answer is given.
    os._exit(0)


def _read(line: socket.socket) -> bytes:
    parts = []
    while part := line.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def function_named(name: str) -> Callable[..., Any]:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function


@cache
def types_of(function: Callable[..., Any]) -> tuple[list[TypeAdapter[Any]], TypeAdapter[Any]]:
    """What it takes and what it returns, by its annotations."""
    hints = get_type_hints(function)
    returns: TypeAdapter[Any] = TypeAdapter(hints.pop("return", Any))
    return [TypeAdapter(hint) for hint in hints.values()], returns


def call_with_json(function: Callable[..., Any], texts: list[str]) -> bytes:
    takes, returns = types_of(function)
    given = [taken.validate_json(text) for taken, text in zip(takes, texts, strict=True)]
    return returns.dump_json(function(*given))


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
