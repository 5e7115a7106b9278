"""How a process that serves or works settles down, ends, or starts over."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from mnemon.telemetry import logger

log = logger(__name__)

# The 700 of Python are looked through several times for each message, and 10,000 still cost a thirtieth of an import.
# What refers to itself waits a little longer for its end: some megabytes at most.
OBJECTS_BETWEEN_COLLECTIONS = 50_000


def settle_memory() -> None:
    """What is loaded by now stays to the end: the garbage collector need not look through it again and again.

    A sixth of the time that it takes to import mail went there.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])


def stop_on_signals(stop: Callable[[], object]) -> None:
    """The first Ctrl-C or SIGTERM stops gently. The second ends the process at once, which harms nothing: leases give
    its jobs to other workers, and the database keeps what was committed."""
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if seen:
            # Past all buffers, since what is stuck may hold their locks.
            os.write(2, b"Stopped at once, at the second signal.\n")
            os._exit(128 + number)
        seen.append(number)
        loop.call_soon_threadsafe(gently, number)

    def gently(number: int) -> None:
        log.info("process_stops", signal=signal.Signals(number).name)
        stop()

    # Not the loop's own handlers: those wait for the loop, which may be what is stuck.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


def start_over() -> None:
    """Replace this process by a fresh one: a job blocks it past its time limit and cannot be stopped otherwise."""
    log.critical("process_starts_over")
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  our own command again
