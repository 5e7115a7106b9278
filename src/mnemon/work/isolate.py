"""Isolation: run a function in a process of its own that may crash, hang or leak without harm to the worker.

The function takes and returns values that pydantic can write as JSON, by its annotations. Nothing that comes back
is ever unpickled: a process that a hostile file has taken over can return wrong data, but no code.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from mnemon.errors import MnemonError, error_types
from mnemon.work.child import types_of
from mnemon.work.errors import (
    MemoryLimitExceeded,
    ProcessDied,
    ProcessorTimeExceeded,
    SubprocessFailed,
    TimeLimitExceeded,
)
from mnemon.work.fork_client import Call, Preparation, begin_call, name_of
from mnemon.work.reply import ERROR, RESULT

Returned = TypeVar("Returned")

MEMORY_MB = 1024
SECONDS = 120.0
LARGEST_REPLY = 256 << 20
LAST_WORDS = 400
# All that the subprocess gets of our environment. Keys of models, stores and brokers have names of every kind, so what
# is safe is listed, not what is secret.
SAFE_VARIABLES = frozenset({"HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "PATH", "TEMP", "TMP", "TMPDIR", "TZ"})
SAFE_PREFIXES = ("LC_", "PYTHON", "OMP_", "COV_", "COVERAGE_")
SETTINGS = {
    # To look for plugins of pydantic is to read the files of every installed package.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
    # Threads do not survive a fork.
    "TOKENIZERS_PARALLELISM": "false",
}


class ToldError(BaseModel):
    """An error as the subprocess tells it. It may be lying, so it is checked like any other foreign data."""

    code: str
    message: str = ""
    details: dict[str, Any] = {}


async def run_isolated(
    function: Callable[..., Returned],
    *arguments: BaseModel,
    memory_mb: int = MEMORY_MB,
    seconds: float = SECONDS,
    cpu_seconds: float | None = None,
    database_access: bool = False,
    prepared: Preparation | None = None,
) -> Returned:
    """Call a module-level function in a process with limits on memory (address space), wall-clock and processor time.

    Errors of Mnemon's family come back as themselves; a crash, a hang and a leak come back as errors of their own.
    Of our environment it sees a few harmless variables, and no network; `database_access` allows it, with libpq's
    variables (PGPASSWORD …). The process is the fork of one that is `prepared`, and serves this call only.
    """
    name = name_of(function)
    request = {
        "function": name,
        "arguments": [one.model_dump_json() for one in arguments],
        "memory_mb": memory_mb,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "network": database_access,
        "environment": _environment(database_access),
        "path": [path for path in sys.path if path],
    }
    call = begin_call(prepared, _environment(False))
    reply = await _converse(call, orjson.dumps(request), name, seconds)
    try:
        if reply[:1] == ERROR:
            raise _error_in(ToldError.model_validate_json(reply[1:]), memory_mb)
        returned: Returned = types_of(function)[1].validate_json(reply[1:])
        return returned
    except ValidationError:
        raise ProcessDied(f"The subprocess of {name} gave an answer of the wrong form.", function=name) from None


async def _converse(call: Call, request: bytes, name: str, seconds: float) -> bytes:
    """Send the request, await the reply. However this ends, the process and all it started are gone after."""
    try:
        async with asyncio.timeout(seconds):
            await call.open()
            await call.ask(request)
            reply, said = await asyncio.gather(_read(call.talk, LARGEST_REPLY), _read_tail(call.words))
            status = await call.ended()
    except TimeoutError:
        raise TimeLimitExceeded(f"{name} was stopped after {seconds:g} s.", function=name) from None
    finally:
        # Shielded: a cancelled job must not leave a process behind.
        await asyncio.shield(call.end())
    if status == -signal.SIGXCPU:
        raise ProcessorTimeExceeded(f"{name} used up its processor time.", function=name)
    if reply[:1] not in (RESULT, ERROR) or status != 0:
        raise ProcessDied(f"The subprocess of {name} {_cause_of_death(status, said)}.", function=name)
    return reply


async def _read(stream: asyncio.StreamReader, most: int) -> bytes:
    parts, size = [], 0
    while part := await _part(stream):
        size += len(part)
        if size > most:
            raise MemoryLimitExceeded(f"The subprocess answered with more than {most} bytes.", limit=most)
        parts.append(part)
    return b"".join(parts)


async def _read_tail(stream: asyncio.StreamReader) -> bytes:
    tail = b""
    while part := await _part(stream):
        tail = (tail + part)[-LAST_WORDS:]
    return tail


async def _part(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.read(1 << 16)
    except ConnectionError:
        # It died before it had read all that we said.
        return b""


def _environment(database_access: bool) -> dict[str, str]:
    """The same import path as ours, and nothing that could hold a secret."""
    prefixes = (*SAFE_PREFIXES, "PG") if database_access else SAFE_PREFIXES
    plain = {name: value for name, value in os.environ.items() if name in SAFE_VARIABLES or name.startswith(prefixes)}
    return plain | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} | SETTINGS


def _cause_of_death(status: int | None, said: bytes) -> str:
    words = said.decode(errors="replace").strip().rsplit("\n", 1)[-1]
    if status is not None and status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with status {status} and no answer{': ' + words if words else ''}"


def _error_in(told: ToldError, memory_mb: int) -> MnemonError:
    """The error that the subprocess raised: of the same class where it is one of ours."""
    if told.code == MemoryLimitExceeded.code:
        return MemoryLimitExceeded(f"The subprocess needed more than {memory_mb} MB of memory.", limit=memory_mb)
    for family in error_types():
        if family.code == told.code and family is not MnemonError:
            found = family.__new__(family)
            MnemonError.__init__(found, told.message)
            found.details = told.details
            return found
    return SubprocessFailed(told.message)
